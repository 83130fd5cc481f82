package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// errStuck says that work did not end in time and was left behind.
var errStuck = errors.New("stands still")

// hand is a goroutine on an OS thread of its own that does the measuring, so that
// a driver call that never returns cannot take the program with it.
type hand struct {
	work chan func()
}

func newHand() *hand {
	h := &hand{work: make(chan func())}
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, whatever was set on it
		for f := range h.work {
			f()
		}
	}()
	return h
}

func (h *hand) close() { close(h.work) }

// do runs f and waits for it. When ctx ends or limit passes it gives f a grace to
// notice and then gives up on it; the hand is lost then.
func (h *hand) do(ctx context.Context, limit, grace time.Duration, f func() error) error {
	done := make(chan error, 1)
	h.work <- func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- f()
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("%w: no end after %v", errStuck, limit)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("%w: did not end within %v of the interrupt", errStuck, grace)
	}
}
