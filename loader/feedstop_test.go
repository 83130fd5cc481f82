package loader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever a feed is at, ending its context ends it, and Close leaves no goroutine.
// synctest fails on goroutines that stay.
func TestFeedIsCancelled(t *testing.T) {
	s := store(t, Files, 40, 10)
	p := s.Plan(Order{}, 4)
	reason := errors.New("the user has had enough")
	for _, o := range shapes {
		for after := range 3 {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				o.Work = func(_ int, at Place, _ []byte) error {
					if at.Batch == after {
						<-ctx.Done() // a reader is in the middle of a batch
						return context.Cause(ctx)
					}
					return nil
				}
				f := feed(t, ctx, s, p, o)
				go func() {
					time.Sleep(time.Second) // until everything else waits
					cancel(reason)
				}()
				for b := 0; ; b++ {
					if _, err := f.Next(); err != nil {
						if b != after || !errors.Is(err, reason) {
							t.Errorf("depth %d: after %d batches: %v", o.Depth, b, err)
						}
						break
					}
					f.Release()
				}
				closeFeed(t, f)
				if _, err := f.Next(); !errors.Is(err, reason) {
					t.Errorf("after Close: %v", err)
				}
			})
		}
	}
}

func TestFeedClosedEarly(t *testing.T) {
	s := store(t, Tar, 40, 10)
	p := s.Plan(Order{}, 4)
	for _, o := range shapes {
		for batches := range 4 {
			synctest.Test(t, func(t *testing.T) { // fails on goroutines that stay
				f := feed(t, context.Background(), s, p, o)
				for range batches {
					if _, err := f.Next(); err != nil {
						t.Fatal(err)
					}
					f.Release()
				}
				closeFeed(t, f)
				closeFeed(t, f)
				if _, err := f.Next(); err == nil {
					t.Error("a closed feed goes on")
				}
				f.Release()
			})
		}
	}
}
