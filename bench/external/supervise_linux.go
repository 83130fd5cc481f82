package external

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// leashFD is the descriptor whose end tells the supervisor to end the loader: dlbench has closed
// it, or was killed.
const leashFD = recordsFD + 1

// Supervise runs the command of a loader, and ends with it everything that it started. As a
// subreaper (prctl(2)) it becomes the parent of all processes below it whose own parent ended, so
// that none can get away, neither by a session of its own nor by another environment. It returns
// the exit code of the command, which is 128 and its number for a signal, as a shell has it.
func Supervise(argv []string) (code int, err error) {
	if _, err := unix.FcntlInt(leashFD, unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return 0, fmt.Errorf("supervise is started by dlbench run --loader, which holds descriptor %d", leashFD)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("become a subreaper: %w", err)
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP) // the loader ends first
	records := os.NewFile(recordsFD, "records")
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{records}
	c.SysProcAttr = ownGroup()
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return cannotRun, nil
	}
	records.Close() // it ends with the last process that can write to it
	killAll := sync.OnceFunc(killDescendants)
	go func() {
		os.NewFile(leashFD, "leash").Read(make([]byte, 1))
		killAll()
	}()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return code, nil // there are no processes left
		case pid == c.Process.Pid:
			code = status.ExitStatus()
			if status.Signaled() {
				code = bySignal + int(status.Signal())
			}
			go killAll()
		}
	}
}

// killLimit is how long processes may take to end that were killed: one that waits for a disk or a
// server can take for ever.
const killLimit = 10 * time.Second

// killDescendants ends every process below this one. They may start others meanwhile.
func killDescendants() {
	for late := time.Now().Add(killLimit); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		for _, pid := range descendants(os.Getpid()) {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	os.Exit(cannotRun)
}
