package loader

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"dlbench/bench/pace"
)

// Sink is where a pipeline's batches go: memory for them and, behind it, a device that
// copies each and works on it. All calls come from one goroutine, but Slots' memory is
// written by the pipeline's readers.
type Sink interface {
	// Slots are the memory of batches. Batch b lies in slot b modulo their number.
	Slots() [][]byte
	// Submit queues the copy of the batch in a slot and, behind it, the step. It waits
	// only where the device's own queue of batches is full.
	Submit(slot int) error
	// Copied waits until what was submitted from a slot was copied, so that the slot
	// may be written anew.
	Copied(slot int) error
	// Done waits until everything that was submitted is done.
	Done() error
}

// Times is when things happened to a batch, since the pipeline was made. Of the device
// the sink knows more.
type Times struct {
	Asked  time.Duration // the consumer was ready for the batch
	Loaded time.Duration // it was there
}

// Waited is how long the consumer stood still for a batch.
func (t Times) Waited() time.Duration { return t.Loaded - t.Asked }

// PipelineOptions says how batches get from a set into a sink.
type PipelineOptions struct {
	// Prefetch is how many batches are made ahead of the one that is being delivered;
	// 0 is fully serial: a batch is read, made, copied and worked on before the next one
	// is begun.
	Prefetch int
	Workers  int // threads that read and make samples; 0 is 1
	Part     int // samples that a worker takes at a time; 0 is a whole batch
	Read     ReadOptions

	// Work makes the sample at a place in dst, its part of a slot, on the thread of a
	// worker: in a batch of a tensor store the whole of it.
	Work func(worker int, at Place, dst, data []byte) error

	Thread func(worker int) (restore func()) // as of FeedOptions

	// Missing stands in for Work where a sample cannot be read, if it returns true.
	Missing func(worker int, at Place, dst []byte, err error) bool

	// Null makes no batches: the slots' bytes are taken as they are, by no thread.
	Null bool
}

// Pipeline reads, makes and delivers batches, each stage while the next one works on
// the batch before. Its methods are for one goroutine, that of the sink.
type Pipeline struct {
	o     PipelineOptions
	sink  Sink
	slots [][]byte
	parts int   // samples of the plan in a slot
	feed  *Feed // nil for Null
	next  int   // batch that Step delivers
	freed int   // batches whose slots were given back
	last  Stats
	watch *watch
}

// NewPipeline starts to load batches of plan, again and again, for sink. Slots that the
// sink must have: Slots(prefetch) of them.
func NewPipeline(ctx context.Context, set *Set, plan *Plan, sink Sink, o PipelineOptions) (*Pipeline, error) {
	p := &Pipeline{o: o, sink: sink, slots: sink.Slots()}
	if n := Slots(o.Prefetch); n < 1 || len(p.slots) < n {
		return nil, fmt.Errorf("the sink has %d slots: prefetch %d wants %d", len(p.slots), o.Prefetch, n)
	}
	p.watch = newWatch(max(1, o.Workers))
	if o.Null {
		return p, nil
	}
	if plan.Len() == 0 {
		return nil, fmt.Errorf("%w in a whole batch", ErrNoSamples)
	}
	p.parts = plan.batch
	ahead := 0 // Step grants one after the other
	if o.Prefetch > 0 {
		ahead = math.MaxInt
	}
	var err error
	p.feed, err = NewFeed(ctx, set, plan, FeedOptions{Readers: o.Workers, Depth: len(p.slots), Batches: ahead,
		Part: o.Part, Read: o.Read, Thread: o.Thread, Work: p.work, Missing: p.missing})
	return p, err
}

// Slots is how many slots a pipeline of so much prefetch works in: with the batches
// ahead the one whose copy is on its way.
func Slots(prefetch int) int { return prefetch + 1 }

func (p *Pipeline) work(worker int, at Place, data []byte) error {
	p.watch.begin(worker, at)
	defer p.watch.end(worker)
	return p.o.Work(worker, at, p.place(at), data)
}

func (p *Pipeline) missing(worker int, at Place, err error) bool {
	return p.o.Missing != nil && p.o.Missing(worker, at, p.place(at), err)
}

// place is a sample's part of its slot.
func (p *Pipeline) place(at Place) []byte {
	slot := p.slots[at.Batch%len(p.slots)]
	size := len(slot) / p.parts
	return slot[at.At*size : (at.At+1)*size]
}

// Step delivers the next batch, and makes room for another. The error names the batch.
func (p *Pipeline) Step() (t Times, err error) {
	t.Asked = pace.Real.Now()
	p.watch.stage(&stageLoad, p.next)
	if p.feed != nil {
		if p.o.Prefetch == 0 {
			p.feed.Grant(1)
		}
		if p.last, err = p.feed.Next(); err != nil {
			return t, err
		}
	}
	t.Loaded = pace.Real.Now()
	p.watch.stage(&stageSubmit, p.next)
	slot := p.next % len(p.slots)
	if err := p.sink.Submit(slot); err != nil {
		return t, fmt.Errorf("batch %d: hand over: %w", p.next, err)
	}
	p.next++
	if p.o.Prefetch == 0 {
		p.watch.stage(&stageStep, p.next-1)
		if err := p.sink.Done(); err != nil {
			return t, fmt.Errorf("batch %d: step: %w", p.next-1, err)
		}
	}
	p.watch.stage(&stageCopy, p.freed)
	for p.freed < p.next-1 || p.o.Prefetch == 0 && p.freed < p.next { // the last one's copy may go on
		if err := p.sink.Copied(p.freed % len(p.slots)); err != nil {
			return t, fmt.Errorf("batch %d: copy: %w", p.freed, err)
		}
		if p.feed != nil {
			p.feed.Release()
		}
		p.freed++
	}
	p.watch.stage(&stageIdle, p.next)
	return t, nil
}

func (p *Pipeline) Next() int { return p.next }

// Epochs is how often the plan was gone through whole.
func (p *Pipeline) Epochs() int {
	if p.feed == nil {
		return 0
	}
	return p.next / p.feed.plan.Len()
}

// Stats is what reading the last batch took.
func (p *Pipeline) Stats() Stats { return p.last }

// Close waits until the sink is done and stops the workers.
func (p *Pipeline) Close() error {
	err := p.sink.Done()
	p.Stop()
	return err
}

// Stop stops the workers alone, for when the sink can do no more. It may be called on
// nil.
func (p *Pipeline) Stop() {
	if p != nil && p.feed != nil {
		p.feed.Close()
	}
}

var (
	stageIdle   = "idle"   // with its caller
	stageLoad   = "load"   // waits for a batch to be read and made
	stageSubmit = "submit" // gives it to the device
	stageStep   = "step"   // waits for the device's work
	stageCopy   = "copy"   // waits for a copy to end
)

// watch is how far each stage of a pipeline is, for whoever asks from another goroutine:
// what keeps it can be named instead of waited for.
type watch struct {
	changes atomic.Int64 // of the stage
	name    atomic.Pointer[string]
	batch   atomic.Int64 // that it is at
	since   atomic.Int64 // ns after start
	workers []watched
	start   time.Time
}

// watched is a worker's state, on a cache line of its own.
type watched struct {
	batch  atomic.Int64 // that it works on; -1 for none
	sample atomic.Int64
	done   atomic.Int64 // samples
	_      [40]byte
}

func newWatch(workers int) *watch {
	w := &watch{workers: make([]watched, workers), start: time.Now()}
	w.stage(&stageIdle, 0)
	for i := range w.workers {
		w.workers[i].batch.Store(-1)
	}
	return w
}

func (w *watch) stage(name *string, batch int) {
	w.name.Store(name)
	w.batch.Store(int64(batch))
	w.since.Store(int64(time.Since(w.start)))
	w.changes.Add(1)
}

func (w *watch) begin(worker int, at Place) {
	w.workers[worker].sample.Store(int64(at.Sample))
	w.workers[worker].batch.Store(int64(at.Batch))
}

func (w *watch) end(worker int) {
	w.workers[worker].batch.Store(-1)
	w.workers[worker].done.Add(1)
}

// progress grows as long as any stage gets on.
func (w *watch) progress() int64 {
	n := w.changes.Load()
	for i := range w.workers {
		n += w.workers[i].done.Load()
	}
	return n
}

func (w *watch) String() string {
	took := time.Since(w.start) - time.Duration(w.since.Load())
	text := fmt.Sprintf("%s of batch %d for %v", *w.name.Load(), w.batch.Load(), took.Round(time.Millisecond))
	for i := range w.workers {
		x := &w.workers[i]
		if b := x.batch.Load(); b >= 0 {
			text += fmt.Sprintf("; worker %d works on sample %d of batch %d", i, x.sample.Load(), b)
		} else {
			text += fmt.Sprintf("; worker %d reads or waits after %d samples", i, x.done.Load())
		}
	}
	return text
}

// Guard ends the pipeline by stop, that of its context, when ctx ends, and when for limit
// no stage got on: the error then says what each is at. end ends the guard.
func (p *Pipeline) Guard(ctx context.Context, limit time.Duration, stop context.CancelCauseFunc) (end func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(limit)
		defer tick.Stop()
		for last := p.watch.progress(); ; {
			select {
			case <-done:
				return
			case <-ctx.Done():
				stop(context.Cause(ctx))
				return
			case <-tick.C:
				now := p.watch.progress()
				if now == last {
					stop(fmt.Errorf("the pipeline ended no sample, copy or step for %v: %s", limit, p.watch))
					return
				}
				last = now
			}
		}
	}()
	return func() { // ctx may end right after
		close(done)
		<-ended
	}
}
