package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep waits about d by clock_nanosleep. The deadline is absolute, so that a
// signal, which Go sends to preempt, does not lengthen the wait.
func sleep(d time.Duration) {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // which is always there
	at := unix.NsecToTimespec(ts.Nano() + int64(d))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
	}
}

// Sharpen asks the kernel to wake the calling OS thread as close to its deadlines
// as it can: timer slack, 50 us by default, becomes 1 ns, and where the process
// may, the thread gets the highest ordinary priority, since the hardware that it
// stands in for does not wait for other programs. The goroutine must be locked to
// its thread. restore undoes it.
//
// With three busy programs on two cores, p95 of the lateness of 1.5 ms waits was
// 3 to 7.5 ms without the priority and 0.5 us to 2.3 ms with it.
func Sharpen() (restore func()) {
	undo := []func(){}
	if old, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil &&
		unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) == nil {
		undo = append(undo, func() { unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(old), 0, 0, 0) })
	}
	self := unix.Gettid()
	if old, err := unix.Getpriority(unix.PRIO_PROCESS, self); err == nil &&
		unix.Setpriority(unix.PRIO_PROCESS, self, -20) == nil {
		// the system call gives 20 - nice
		undo = append(undo, func() { unix.Setpriority(unix.PRIO_PROCESS, self, 20-old) })
	}
	return func() {
		for _, f := range undo {
			f()
		}
	}
}
