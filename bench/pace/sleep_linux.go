package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep waits about d by clock_nanosleep. The deadline is absolute, so that a
// signal, which Go sends to preempt, does not lengthen the wait.
func sleep(d time.Duration) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		time.Sleep(d)
		return
	}
	at := unix.NsecToTimespec(ts.Nano() + int64(d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
	}
}

// Sharpen asks the kernel to wake the calling OS thread as close to its deadlines
// as it can: timer slack, 50 us by default, becomes 1 ns. The goroutine must be
// locked to its thread. restore undoes it.
func Sharpen() (restore func()) {
	old, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) != nil {
		return func() {}
	}
	return func() { unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(old), 0, 0, 0) }
}
