//go:build !linux

package pagecache

import (
	"context"
	"math"
)

func Evict(context.Context, []File) error { return ErrNotSupported }

func EvictAll() error { return ErrNotSupported }

func Load(context.Context, []File) (int64, error) { return 0, ErrNotSupported }

func Residency(context.Context, []File) (share float64, method string, err error) {
	return math.NaN(), "", ErrNotSupported
}

func AllocationOf(context.Context, []File) (fileAllocation, error) {
	return fileAllocation{}, ErrNotSupported
}
