package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// FeedOptions says how batches are loaded ahead.
type FeedOptions struct {
	Readers int // threads; 0 is 1

	// Depth is how many batches are being read, are ready, or are with the caller and
	// not yet released. 0 is serial: Next reads a batch on the caller's thread.
	Depth int

	Read ReadOptions // its Readers is set here

	// Thread is called on the thread of each reader before its buffer is touched, to
	// pin it or to sharpen its clock; what it returns undoes that, on the thread, at the
	// end. Not with depth 0, where the thread is the caller's. Nil for none.
	Thread func(reader int) (restore func())

	// Work is called with each sample, on the thread of the reader that read it, in
	// the plan's order within a batch. data is valid until it returns. No two batches
	// that are not released have the same batch modulo Depth, so that is a slot to
	// work into. Nil for none.
	Work func(reader, batch int, sample int32, data []byte) error
}

// Loaded is a batch that was read.
type Loaded struct {
	Batch   int     // index into the plan
	Samples []int32 // the plan's; not to be changed
	Reader  int     // that read it
	Stats   Stats
}

// Feed loads the batches of a plan ahead of their use, each by one of several readers
// on locked OS threads. Next, Release and Close are for one goroutine.
type Feed struct {
	set     *Set
	plan    *Plan
	o       FeedOptions
	ctx     context.Context
	cancel  context.CancelFunc
	threads sync.WaitGroup

	free  chan int       // batches that may be read
	ready []chan outcome // of batch b at b modulo depth
	next  int            // batch that Next returns
	given int            // batch that Release gives back
	err   error          // that ended the feed

	closing sync.Mutex // of failed
	failed  error      // of closing readers

	serial *worker // with depth 0
}

type outcome struct {
	loaded Loaded
	err    error
}

// NewFeed starts to load plan's batches of s. It ends, whatever Next is waiting for,
// when ctx does. Close must be called.
func NewFeed(ctx context.Context, s *Set, plan *Plan, o FeedOptions) (*Feed, error) {
	if o.Depth < 0 || o.Readers < 0 {
		return nil, fmt.Errorf("depth %d, %d readers: want neither negative", o.Depth, o.Readers)
	}
	o.Readers = max(1, min(o.Readers, o.Depth)) // a batch is read by one reader
	o.Read.Readers = o.Readers
	f := &Feed{set: s, plan: plan, o: o}
	f.ctx, f.cancel = context.WithCancel(ctx)
	if o.Depth == 0 {
		w, err := f.newWorker(0)
		if err != nil {
			f.cancel()
			return nil, err
		}
		f.serial = w
		return f, nil
	}
	f.free = make(chan int, o.Depth)
	f.ready = make([]chan outcome, o.Depth)
	for i := range f.ready {
		f.ready[i] = make(chan outcome, 1)
		f.allow(i)
	}
	started := make(chan error, o.Readers)
	for i := range o.Readers {
		f.threads.Go(func() { f.thread(i, started) })
	}
	var err error
	for range o.Readers {
		err = errors.Join(err, <-started)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// allow lets batch b be read, if there is one.
func (f *Feed) allow(b int) {
	if b < f.plan.Len() {
		f.free <- b // never full: depth batches at most are allowed and not released
	}
}

// Next returns the next batch of the plan, waiting for it if it must; io.EOF after
// the last. An error, of reading or of Work, comes in the place of the batch that it
// happened in and ends the feed: Next returns it from then on.
func (f *Feed) Next() (Loaded, error) {
	if f.err != nil {
		return Loaded{}, f.err
	}
	loaded, err := f.take()
	if err != nil {
		f.err = err
		f.cancel()
		return Loaded{}, err
	}
	f.next++
	return loaded, nil
}

func (f *Feed) take() (Loaded, error) {
	if err := context.Cause(f.ctx); err != nil {
		return Loaded{}, err
	}
	if f.next == f.plan.Len() {
		return Loaded{}, io.EOF
	}
	if f.serial != nil {
		return f.serial.load(f.next)
	}
	if f.next-f.given == f.o.Depth {
		return Loaded{}, fmt.Errorf("batch %d: none of %d batches was released", f.next, f.o.Depth)
	}
	select {
	case <-f.ctx.Done():
		return Loaded{}, context.Cause(f.ctx)
	case out := <-f.ready[f.next%f.o.Depth]:
		return out.loaded, out.err
	}
}

// Release gives back the oldest batch that Next returned and that was not released,
// so that another can be read. It does nothing when there is none.
func (f *Feed) Release() {
	if f.given == f.next {
		return
	}
	f.given++
	if f.serial == nil {
		f.allow(f.given - 1 + f.o.Depth)
	}
}

// Close stops the readers, after the sample that each is at, and waits for them. It
// returns what went wrong in closing, not what Next returned.
func (f *Feed) Close() error {
	f.cancel()
	f.threads.Wait()
	if f.serial != nil {
		f.retire(f.serial)
		f.serial = nil
	}
	if f.err == nil {
		f.err = errClosed
	}
	return f.failed
}

var errClosed = errors.New("the feed is closed")
