package bench

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"dlbench/bench/theory"
)

// Step is what a training step asks for.
type Step struct {
	Time  time.Duration // that the GPU works on a batch
	CPU   int           // threads that the step keeps busy meanwhile
	Given bool          // Time was named by the user; otherwise it is the article's
	Set   bool          // CPU was named
}

// DefaultStep is the article's: ResNet-152 forward and backward of 32 images (claim
// A2), by a script whose launching thread keeps one core busy.
var DefaultStep = Step{Time: time.Duration(theory.Demands[0].Step * 1e9), CPU: 1}

// orDefault is s, or the default step where nothing was given.
func (s Step) orDefault() Step {
	if !s.Given {
		s.Time = DefaultStep.Time
	}
	if !s.Set {
		s.CPU = DefaultStep.CPU
	}
	return s
}

// mostStep bounds a step.
const mostStep = time.Hour

// Check says what is wrong with a step.
func (s Step) Check() error {
	if s.Time < 0 || s.Time > mostStep {
		return &UsageError{"--step", s.Time.String(), fmt.Sprintf("want a time from 0 to %v", mostStep)}
	}
	if s.CPU < 0 || s.CPU > mostThreads {
		return &UsageError{"--step-cpu", fmt.Sprint(s.CPU), fmt.Sprintf("want from 0 to %d threads", mostThreads)}
	}
	return nil
}

// busy is threads that do nothing but work, as a training script's launching thread
// does that waits for the GPU by spinning (claim A16).
type busy struct {
	stop atomic.Bool
	all  sync.WaitGroup
	used atomic.Int64 // CPU time of those that ended, ns
}

// keepBusy starts n of them, on cpus unless nil.
func keepBusy(n int, cpus []int) *busy {
	b := &busy{}
	for range n {
		b.all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if restore, err := pin(cpus); err == nil {
				defer restore()
			}
			before := threadCPU()
			x := uint64(1)
			for !b.stop.Load() {
				for range 1000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
			}
			b.used.Add(int64(threadCPU()-before) | int64(x&0)) // x is not optimised away
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
