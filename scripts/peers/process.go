//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startTimeout is for importing torch from a slow disk, endTimeout for ending.
const (
	startTimeout = 5 * time.Minute
	endTimeout   = 10 * time.Second
)

// A worker writes one line of JSON when it is ready, and one after each pass; it makes
// a pass for each line that it reads, and ends when there are no more.

// hello is a worker's first line.
type hello struct {
	Files    int               `json:"files"`  // that it found
	Bytes    int64             `json:"bytes"`  // of them
	Images   int               `json:"images"` // in a pass
	Does     string            `json:"does"`   // how it preprocesses
	Software map[string]string `json:"software"`
	Skip     string            `json:"skip,omitempty"` // why it cannot take part
	Error    string            `json:"error,omitempty"`
}

// pass is a worker's line after a pass.
type pass struct {
	Images int     `json:"images"`
	Wall   float64 `json:"wall"` // s
	CPU    float64 `json:"cpu"`  // s, of the process and of those that it started
	Error  string  `json:"error,omitempty"`
}

func (p pass) check(want hello) error {
	switch {
	case p.Error != "":
		return fmt.Errorf("%s", p.Error)
	case p.Images != want.Images:
		return fmt.Errorf("a pass of %d images: want %d", p.Images, want.Images)
	case !(p.Wall > 0) || !(p.CPU > 0):
		return fmt.Errorf("a pass that took %g s and %g s of CPU time", p.Wall, p.CPU)
	}
	return nil
}

// process is a peer's worker that runs.
type process struct {
	peer
	hello hello
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *json.Decoder
	errs  bytes.Buffer // to be read when it has ended
}

// start starts a worker on the first CPUs of cpus, as many as the peer has cores, and
// waits until it is ready. It is killed, with what it started, when ctx ends.
func start(ctx context.Context, p peer, cpus []int) (*process, error) {
	w := &process{peer: p, cmd: exec.CommandContext(ctx, p.command[0], p.command[1:]...)}
	w.cmd.Env = append(os.Environ(), p.env...)
	w.cmd.Stderr = &w.errs
	w.cmd.WaitDelay = 5 * time.Second
	// A process group ends as a whole: Ctrl-C reaches this process alone, and a killed
	// Python leaves no loader workers behind.
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.cmd.Cancel = func() error { return syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) }
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = json.NewDecoder(out)
	if err := startOn(w.cmd, cpus[:p.cores]); err != nil {
		return nil, fmt.Errorf("%v: %w", p, err)
	}
	err = w.receive(&w.hello, startTimeout)
	if err == nil && w.hello.Error != "" {
		err = errors.New(w.hello.Error)
	}
	if err != nil {
		w.close(0)
		return nil, fmt.Errorf("%v: start: %w", p, err)
	}
	return w, nil
}

// pass has the worker make one pass.
func (w *process) pass(timeout time.Duration) (pass, error) {
	var p pass
	_, err := io.WriteString(w.in, "pass\n")
	if err == nil {
		err = w.receive(&p, timeout)
	} else {
		err = w.died(err)
	}
	if err == nil {
		err = p.check(w.hello)
	}
	if err != nil {
		return p, fmt.Errorf("%v: %w", w.peer, err)
	}
	return p, nil
}

// receive reads a line of the worker's.
func (w *process) receive(v any, timeout time.Duration) error {
	var late atomic.Bool
	alarm := time.AfterFunc(timeout, func() {
		late.Store(true)
		w.cmd.Cancel()
	})
	defer alarm.Stop()
	err := w.out.Decode(v)
	switch {
	case err == nil:
		return nil
	case late.Load():
		return fmt.Errorf("no answer in %v", timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrClosed):
		return w.died(err)
	}
	w.cmd.Cancel()
	return fmt.Errorf("its answer is not JSON: %w", err)
}

// died says how a worker ended that should not have.
func (w *process) died(err error) error {
	w.in.Close()
	state := "ended"
	if waited := w.cmd.Wait(); waited != nil {
		if errors.Is(waited, context.Canceled) {
			return waited
		}
		state = waited.Error()
	}
	lines := strings.Split(strings.TrimSpace(w.errs.String()), "\n") // of a traceback, the last is the error
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("the worker died (%s): %s", state, last)
	}
	return fmt.Errorf("the worker died (%s): %w", state, err)
}

// close lets the worker end by itself, and kills it when it does not in that time.
func (w *process) close(after time.Duration) {
	w.in.Close()
	alarm := time.AfterFunc(after, func() { w.cmd.Cancel() })
	defer alarm.Stop()
	w.cmd.Wait()
}

// mostCPUs is how many CPUs the kernel can be built for.
const mostCPUs = 8192

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
