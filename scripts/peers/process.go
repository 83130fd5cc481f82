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
	"strings"
	"sync"
	"time"
)

// startTimeout is for importing torch from a slow disk.
const startTimeout = 5 * time.Minute

// process is a peer's worker that runs.
type process struct {
	peer
	hello hello
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *json.Decoder
	errs  tail
	late  bool
	mutex sync.Mutex
}

// start starts a worker on the first CPUs of cpus, as many as the peer has cores, and
// waits until it is ready. It is killed, with what it started, when ctx ends.
func start(ctx context.Context, p peer, cpus []int) (*process, error) {
	w := &process{peer: p, cmd: exec.CommandContext(ctx, p.command[0], p.command[1:]...)}
	w.cmd.Env = append(os.Environ(), p.env...)
	w.cmd.Stderr = &w.errs
	w.cmd.WaitDelay = 5 * time.Second
	group(w.cmd)
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
		w.kill()
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
	alarm := time.AfterFunc(timeout, func() {
		w.mutex.Lock()
		w.late = true
		w.mutex.Unlock()
		w.cmd.Cancel()
	})
	defer alarm.Stop()
	err := w.out.Decode(v)
	if err == nil {
		return nil
	}
	w.mutex.Lock()
	late := w.late
	w.mutex.Unlock()
	if late {
		return fmt.Errorf("no answer in %v", timeout)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed) {
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
	if last := w.errs.last(); last != "" {
		return fmt.Errorf("the worker died (%s): %s", state, last)
	}
	return fmt.Errorf("the worker died (%s): %w", state, err)
}

// close lets the worker end by itself, and kills it when it does not.
func (w *process) close() {
	w.in.Close()
	alarm := time.AfterFunc(10*time.Second, func() { w.cmd.Cancel() })
	defer alarm.Stop()
	w.cmd.Wait()
}

func (w *process) kill() {
	w.in.Close()
	w.cmd.Cancel()
	w.cmd.Wait()
}

// tail keeps the end of what is written to it.
type tail struct {
	mutex sync.Mutex
	text  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - 4096; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// last is the last line that is not empty: of a Python traceback, the error.
func (t *tail) last() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return strings.TrimSpace(string(lines[len(lines)-1]))
}
