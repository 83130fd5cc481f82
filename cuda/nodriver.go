//go:build !linux || !(amd64 || arm64) || nocuda

package cuda

import "fmt"

func cudaDevices() ([]Device, error) {
	return nil, fmt.Errorf("%w: built without CUDA", ErrUnavailable)
}
