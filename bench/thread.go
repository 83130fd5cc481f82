package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrStuck says that work did not end in time and was left behind: it may stand still or be
// very slow, which cannot be told apart.
var ErrStuck = errors.New("gave up waiting")

// grace is how long what was interrupted may take to notice.
const grace = 2 * time.Second

// thread is an OS thread of its own that does the measuring, so that a driver call that never
// returns cannot take the program with it.
type thread chan func()

func newThread() thread {
	t := make(thread)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, whatever was set on it
		for f := range t {
			f()
		}
	}()
	return t
}

// origin is where a panic came from: the first line of our own below it in its stack.
func origin(stack []byte) string {
	_, below, _ := strings.Cut(string(stack), "panic(")
	for line := range strings.Lines(below) {
		if at, ok := strings.CutPrefix(line, "\t"); ok && !strings.Contains(at, "/runtime/") {
			at, _, _ = strings.Cut(at, " ")
			return filepath.Base(strings.TrimSpace(at))
		}
	}
	return "an unknown place"
}

// do runs f and waits for it. When ctx ends or limit passes, the context that f has
// ends too, and f has grace to notice; then it is given up on and the thread is lost.
func (t thread) do(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("took longer than %v (--timeout)", limit))
	defer cancel()
	done := make(chan error, 1)
	t <- func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v at %s", p, origin(debug.Stack()))
			}
		}()
		done <- f(ctx)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		if errors.Is(err, context.DeadlineExceeded) {
			return context.Cause(ctx)
		}
		return err
	case <-time.After(grace):
		return fmt.Errorf("%w: %v, and did not end within %v of that", ErrStuck, context.Cause(ctx), grace)
	}
}

// KeepBusy has n threads on cpus do nothing but work, as a training script's launching
// thread does that waits for the GPU by spinning (claim A16), until stop, which returns the
// CPU time that they used.
func KeepBusy(n int, cpus []int) (stop func() time.Duration) {
	var over atomic.Bool
	var threads sync.WaitGroup
	var spent atomic.Int64 // ns
	for range n {
		threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if restore, err := Pin(cpus); err == nil {
				defer restore()
			}
			before := ThreadCPU()
			x := uint64(1)
			for !over.Load() {
				for range 1000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
			}
			spent.Add(int64(ThreadCPU()-before) | int64(x&0)) // x is not optimised away
		})
	}
	return func() time.Duration {
		over.Store(true)
		threads.Wait()
		return time.Duration(spent.Load())
	}
}
