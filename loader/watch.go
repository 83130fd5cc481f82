package loader

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// What the consumer of a pipeline is at.
const (
	stageIdle   = iota // with its caller
	stageLoad          // waits for a batch to be read and made
	stageSubmit        // hands it to the device
	stageStep          // waits for the device's work
	stageCopy          // waits for a copy to end
)

var stageNames = [...]string{"idle", "load", "submit", "step", "copy"}

// Watch is how far each stage of a pipeline is, for whoever asks from another goroutine:
// what stands still can be named instead of waited for.
type Watch struct {
	moves    atomic.Int64 // of any stage
	consumer atomic.Int64 // stage
	batch    atomic.Int64 // that it is at
	since    atomic.Int64 // ns after start
	workers  []watched
	start    time.Time
}

// watched is a worker's state, on a cache line of its own.
type watched struct {
	busy   atomic.Bool
	batch  atomic.Int64
	sample atomic.Int64
	done   atomic.Int64 // samples
	_      [32]byte
}

func newWatch(workers int) *Watch {
	return &Watch{workers: make([]watched, workers), start: time.Now()}
}

func (w *Watch) stage(stage, batch int) {
	w.consumer.Store(int64(stage))
	w.batch.Store(int64(batch))
	w.since.Store(int64(time.Since(w.start)))
	w.moves.Add(1)
}

func (w *Watch) begin(worker int, at Place) {
	x := &w.workers[worker]
	x.batch.Store(int64(at.Batch))
	x.sample.Store(int64(at.Sample))
	x.busy.Store(true)
}

func (w *Watch) end(worker int) {
	x := &w.workers[worker]
	x.busy.Store(false)
	x.done.Add(1)
}

// Moves grows as long as any stage gets on.
func (w *Watch) Moves() int64 {
	n := w.moves.Load()
	for i := range w.workers {
		n += w.workers[i].done.Load()
	}
	return n
}

// String names the stage at which the pipeline is, and what each worker is at.
func (w *Watch) String() string {
	stage := w.consumer.Load()
	var b strings.Builder
	name := stageNames[stage]
	if stage == stageLoad { // whose fault is it?
		name = "read"
		for i := range w.workers {
			if w.workers[i].busy.Load() {
				name = "preprocess"
			}
		}
	}
	fmt.Fprintf(&b, "%s of batch %d for %v", name, w.batch.Load(), (time.Since(w.start) - time.Duration(w.since.Load())).Round(time.Millisecond))
	for i := range w.workers {
		x := &w.workers[i]
		fmt.Fprintf(&b, "; worker %d ", i)
		if x.busy.Load() {
			fmt.Fprintf(&b, "works on sample %d of batch %d", x.sample.Load(), x.batch.Load())
		} else {
			fmt.Fprintf(&b, "reads or waits after %d samples", x.done.Load())
		}
	}
	return b.String()
}
