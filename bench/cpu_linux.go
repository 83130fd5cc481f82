package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadCPU is the CPU time that the calling OS thread has used, 0 if unknown.
func ThreadCPU() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
