//go:build !linux

package bench

import "time"

// threadCPU is unknown here.
func threadCPU() time.Duration { return 0 }
