package pagecache

import (
	"context"
	"time"

	"dlbench/bench/host"
)

// Bounds of Settle: the time between two looks at what is in flight, how long it is
// waited for at most (others' may never end), and how long where it cannot be seen.
const (
	settleEvery  = 2 * time.Millisecond
	settleAgain  = 20 * time.Millisecond // after which it is looked again: what is in flight may be others'
	settleMost   = 10 * time.Second
	settleUnseen = time.Second
	settleLooks  = 3 // with nothing in flight: nothing will change any more
)

// InFlight returns what counts the requests that devices, those of results.Disk, have not
// done yet; ok is false where that cannot be seen.
func InFlight(root string, devices []string) func() (requests int64, ok bool) {
	return func() (int64, bool) {
		s, ok := host.DiskStats(root, devices)
		return s.InFlight, ok
	}
}

// Settle calls done until it says so or fails. In between it waits for what is in flight,
// such as read-ahead, whose pages cannot be evicted before they are there, however long the
// disk takes for them. Where nothing is in flight it looks a few times more and gives up,
// which is no error.
func Settle(ctx context.Context, inFlight func() (int64, bool), done func() (bool, error)) error {
	start, idle := time.Now(), 0
	for {
		before, seen := inFlight()
		ok, err := done()
		if err != nil || ok {
			return err
		}
		if idle++; before > 0 {
			idle = 0
		}
		waited := time.Since(start)
		if seen && idle >= settleLooks || !seen && waited >= settleUnseen || waited >= settleMost {
			return nil
		}
		for n, wait := int64(1), time.Duration(0); n > 0 && wait < settleAgain; wait += settleEvery {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(settleEvery):
			}
			n, _ = inFlight()
		}
	}
}
