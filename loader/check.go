package loader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"dlbench/loader/decode"
)

// CheckOptions says how samples are checked.
type CheckOptions struct {
	Decoder   string // one of decode.Kinds; "" is decode.Auto
	Limits    decode.Limits
	Threads   int           // 0: as many as there are processors
	TimeLimit time.Duration // for an image; 0 is DefaultTimeLimit
	Samples   []int32       // which; nil: all
	Progress  func(done, total int)

	open func() (inspector, error) // for tests; nil: the decoder
}

// DefaultTimeLimit is how long an image may take to be read and decoded before it counts as bad.
const DefaultTimeLimit = 10 * time.Second

// mostHung is how many decoders may stand still before a check gives up: each keeps a
// thread and its memory.
const mostHung = 16

// checking is a check that runs.
type checking struct {
	set     *Set
	o       CheckOptions
	samples []int32
	asked   context.Context // the caller's: ctx ends a little after it
	ctx     context.Context
	cancel  func()
	next    atomic.Int64
	ended   chan error // of each worker that is not lost
	start   time.Time

	mu    sync.Mutex
	count *counting
}

// Check reads every sample whole and decodes it. A bad one is counted and named, and
// does not end the check; the error is the context's, beside the census so far, or why
// it could not be done at all. bad are the samples that cannot be used, in their order.
func (s *Set) Check(ctx context.Context, o CheckOptions) (census *Census, bad []int32, err error) {
	if o.Decoder == "" {
		o.Decoder = decode.Auto
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.TimeLimit == 0 {
		o.TimeLimit = DefaultTimeLimit
	}
	if o.open == nil {
		o.open = func() (inspector, error) { return newInspector(s, o) }
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &checking{set: s, o: o, samples: o.Samples, asked: ctx, ctx: inner, cancel: cancel}
	if c.samples == nil {
		c.samples = make([]int32, len(s.Samples))
		for i := range c.samples {
			c.samples[i] = int32(i)
		}
	}
	c.count = newCounting(s, len(c.samples))
	c.ended = make(chan error, o.Threads+mostHung)
	c.start = time.Now()
	if len(c.samples) > 0 {
		err = c.run()
	}
	if err != nil && ctx.Err() == nil {
		return nil, nil, err
	}
	c.mu.Lock() // a decoder that stood still may end now
	defer c.mu.Unlock()
	census = c.count.finish()
	census.Seconds = time.Since(c.start).Seconds()
	if s.Record == nil {
		census.Decoder = decoderName(o.Decoder)
	}
	census.Interrupted = err != nil
	return census, c.count.bad(), err
}

// inspection is a worker's, of one sample after the other.
type inspection struct {
	since atomic.Int64 // when the sample was begun, after the check; 0 between samples
	at    atomic.Int64 // index of the sample
	lost  atomic.Bool
}

// run starts the workers and watches them.
func (c *checking) run() error {
	var all []*inspection
	begin := func() {
		w := &inspection{}
		all = append(all, w)
		go c.worker(w)
	}
	for range max(1, min(c.o.Threads, len(c.samples))) {
		begin()
	}
	live, hung := len(all), 0
	tick := time.NewTicker(max(c.o.TimeLimit/8, time.Millisecond))
	defer tick.Stop()
	var failed error
	for live > 0 {
		select {
		case err := <-c.ended:
			live--
			if failed == nil && err != nil {
				failed = err
				c.cancel() // what the others would find is of no use
			}
		case <-tick.C:
			for _, w := range all {
				since := w.since.Load()
				if since == 0 || time.Since(c.start)-time.Duration(since) < c.o.TimeLimit || w.lost.Load() {
					continue
				}
				if !w.since.CompareAndSwap(since, 0) { // it has just ended
					continue
				}
				w.lost.Store(true)
				live--
				if c.ctx.Err() != nil {
					continue
				}
				c.note(int32(w.at.Load()), inspected{err: fmt.Errorf("not read and decoded after %v", c.o.TimeLimit)})
				if hung++; hung == mostHung {
					return fmt.Errorf("%d images are not read and decoded after %v: gave up", hung, c.o.TimeLimit)
				}
				live++
				begin()
			}
			if c.o.Progress != nil {
				c.o.Progress(min(int(c.next.Load()), len(c.samples)), len(c.samples))
			}
		}
	}
	if failed == nil {
		failed = context.Cause(c.asked)
	}
	return failed
}

// worker inspects samples until there are none, on a thread of its own: a decoder may
// stand still.
func (c *checking) worker(w *inspection) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	i, err := c.o.open()
	if err != nil {
		c.ended <- err
		return
	}
	defer i.close()
	for c.ctx.Err() == nil {
		n := int(c.next.Add(1) - 1)
		if n >= len(c.samples) {
			break
		}
		sample := c.samples[n]
		begun := time.Since(c.start) + 1
		w.at.Store(int64(sample))
		w.since.Store(int64(begun))
		found := i.inspect(sample)
		found.took = time.Since(c.start) - begun
		if !w.since.CompareAndSwap(int64(begun), 0) {
			return // given up on: another took its place
		}
		if found.err != nil && errors.Is(found.err, ErrTooManyOpen) {
			c.ended <- found.err
			return
		}
		c.note(sample, found)
	}
	c.ended <- nil
}

func (c *checking) note(sample int32, found inspected) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.add(sample, found)
}
