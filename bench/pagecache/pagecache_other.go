//go:build !linux

package pagecache

import (
	"context"
	"fmt"
	"math"
)

func Evict(context.Context, []File) error { return ErrNotSupported }

func EvictAll() error { return ErrNotSupported }

func Load(context.Context, []File) (int64, error) { return 0, ErrNotSupported }

func Residency(context.Context, []File) (float64, error) {
	return math.NaN(), fmt.Errorf("%w: %w", ErrUnverifiable, ErrNotSupported)
}

func onDisk(context.Context, []File) (float64, error) { return 1, ErrNotSupported }
