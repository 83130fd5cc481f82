//go:build !linux

package bench

import "time"

// ThreadCPU is unknown here.
func ThreadCPU() time.Duration { return 0 }

// Pin leaves the thread where it is: this system has no affinity that we set.
func Pin([]int) (restore func(), err error) { return func() {}, nil }
