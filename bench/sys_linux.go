package bench

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ThreadCPU is the CPU time that the calling OS thread has used, 0 if unknown.
func ThreadCPU() time.Duration {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

// Pin keeps the calling thread on cpus until restore is called; nil leaves it.
func Pin(cpus []int) (restore func(), err error) {
	if cpus == nil {
		return func() {}, nil
	}
	var old, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		return nil, fmt.Errorf("read the thread's affinity: %w", err)
	}
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("move the thread to CPUs %v: %w", cpus, err)
	}
	return func() { unix.SchedSetaffinity(0, &old) }, nil
}
