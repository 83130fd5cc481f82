//go:build !unix

package bench

import "time"

// ProcessCPU is unknown here.
func ProcessCPU() time.Duration { return 0 }
