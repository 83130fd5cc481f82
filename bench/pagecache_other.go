//go:build !linux

package bench

import (
	"context"
	"math"
)

func evictFiles(context.Context, []cacheFile) error { return errCacheNotSupported }

func evictAll() error { return errCacheNotSupported }

func warmFiles(context.Context, []cacheFile) (int64, error) { return 0, errCacheNotSupported }

func cacheResidency(context.Context, []cacheFile) (share float64, method string, err error) {
	return math.NaN(), "", errCacheNotSupported
}

func fileAllocationOf(context.Context, []cacheFile) (fileAllocation, error) {
	return fileAllocation{}, errCacheNotSupported
}
