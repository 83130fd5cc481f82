package pipeline

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"dlbench/bench"
)

// busy is threads that do nothing but work, as a training script's launching thread
// does that waits for the GPU by spinning (claim A16).
type busy struct {
	stop atomic.Bool
	all  sync.WaitGroup
	used atomic.Int64 // CPU time of those that ended, ns
}

// keepBusy starts n such threads, on cpus unless nil.
func keepBusy(n int, cpus []int) *busy {
	b := &busy{}
	for range n {
		b.all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if restore, err := bench.Pin(cpus); err == nil {
				defer restore()
			}
			before := bench.ThreadCPU()
			x := uint64(1)
			for !b.stop.Load() {
				for range 1000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
			}
			b.used.Add(int64(bench.ThreadCPU()-before) | int64(x&0)) // x is not optimised away
		})
	}
	return b
}

// end stops them and returns the CPU time that they used.
func (b *busy) end() time.Duration {
	b.stop.Store(true)
	b.all.Wait()
	return time.Duration(b.used.Load())
}
