//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessCPU is the CPU time that this process has used, 0 if unknown.
func ProcessCPU() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
