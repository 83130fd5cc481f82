//go:build !linux

package bench

import "time"

// threadCPU is unknown here.
func ThreadCPU() time.Duration { return 0 }
