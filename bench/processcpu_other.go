//go:build !unix

package bench

import "time"

// processCPU is unknown here.
func ProcessCPU() time.Duration { return 0 }
