package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// mostCPUs is how many CPUs the kernel can be built for.
const mostCPUs = 8192

// group puts what the command starts into a process group, which ends with it: Ctrl-C
// reaches this process alone, and a killed Python leaves no loader workers behind.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// startOn starts the command so that it, and all that it starts, runs on cpus alone:
// a process has the affinity of the thread that forked it.
func startOn(c *exec.Cmd, cpus []int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, set := unix.NewCPUSet(mostCPUs), unix.NewCPUSet(mostCPUs)
	if err := unix.SchedGetaffinityDynamic(0, before); err != nil {
		return fmt.Errorf("affinity: %w", err)
	}
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinityDynamic(0, set); err != nil {
		return fmt.Errorf("affinity to CPUs %v: %w", cpus, err)
	}
	defer unix.SchedSetaffinityDynamic(0, before)
	return c.Start()
}

// cpuTime is the CPU time of this process so far.
func cpuTime() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}
