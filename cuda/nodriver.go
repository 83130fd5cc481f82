//go:build !linux || !(amd64 || arm64) || nocuda

package cuda

import "fmt"

// Backend names how this program calls the CUDA driver.
const Backend = "none"

func cudaDevices() ([]Device, error) {
	return nil, fmt.Errorf("%w: built without CUDA", ErrUnavailable)
}
