package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// FeedOptions says how batches are loaded ahead.
type FeedOptions struct {
	Readers int // threads; 0 is 1

	// Depth is how many batches are being read, are ready, or are with the caller and
	// not yet released. 0 is serial: Next reads a batch on the caller's thread.
	Depth int

	// Batches is how many there are in all: the plan begins again where it ends. 0 is
	// the plan once.
	Batches int

	// Part is how many samples a reader takes at a time; 0 is a whole batch. With less,
	// several readers share a batch: it is there sooner, and takes less memory for as
	// many readers.
	Part int

	Held bool // no batch is read that Grant did not allow

	Read ReadOptions // its Readers is set here

	// Thread is called on the thread of each reader before its buffer is touched, to
	// pin it or to sharpen its clock; what it returns undoes that, on the thread, at the
	// end. Not with depth 0, where the thread is the caller's. Nil for none.
	Thread func(reader int) (restore func())

	// Work is called with each sample, the one at a place in a batch, on the thread of
	// the reader that read it, in the plan's order within a part. data is valid until it
	// returns. No two batches that are not released have the same batch modulo Depth,
	// so that is a slot to work into. Nil for none.
	Work func(reader int, at Place, data []byte) error

	// Missing is told of a sample that cannot be read, on the thread of its reader. When
	// it returns true the others of the batch are read all the same; otherwise, and
	// without it, the error ends the feed.
	Missing func(reader int, at Place, err error) bool
}

// Place is where a sample goes.
type Place struct {
	Batch  int   // counted through all epochs
	At     int   // in the batch
	Epoch  int   // how often the plan ended before
	Sample int32 // index into Set.Samples
}

// Loaded is a batch that was read.
type Loaded struct {
	Batch   int     // counted through all epochs
	Samples []int32 // the plan's; not to be changed
	Reader  int     // that read the last of it
	Stats   Stats   // of all parts: Nanos adds up what ran side by side
}

// Feed loads the batches of a plan ahead of their use, by several readers on locked OS
// threads. Next, Release, Grant and Close are for one goroutine. A reader that finds
// work takes no lock for it.
type Feed struct {
	set     *Set
	plan    *Plan
	o       FeedOptions
	parts   int // of a batch
	ctx     context.Context
	cancel  context.CancelFunc
	threads sync.WaitGroup

	claimed atomic.Int64 // parts that readers took
	limit   atomic.Int64 // batches before this one may be read
	idle    sync.Mutex   // of readers that wait for limit
	moved   *sync.Cond
	slots   []filling // of batch b at b modulo depth

	granted int
	next    int   // batch that Next returns
	given   int   // batch that Release gives back
	err     error // that ended the feed

	closing sync.Mutex // of failed
	failed  error      // of closing readers

	serial *worker // with depth 0
}

// filling is the batch of those that fall on it that is being read, or is ready.
type filling struct {
	mutex sync.Mutex
	parts int // that are not read yet
	stats Stats
	err   error // of the first part that failed
	ready chan outcome
}

type outcome struct {
	loaded Loaded
	err    error
}

// NewFeed starts to load plan's batches of s. It ends, whatever Next is waiting for,
// when ctx does. Close must be called.
func NewFeed(ctx context.Context, s *Set, plan *Plan, o FeedOptions) (*Feed, error) {
	if o.Depth < 0 || o.Readers < 0 || o.Part < 0 || o.Batches < 0 {
		return nil, fmt.Errorf("depth %d, %d readers, parts of %d, %d batches: want none negative", o.Depth, o.Readers, o.Part, o.Batches)
	}
	if o.Batches == 0 || plan.Len() == 0 {
		o.Batches = plan.Len()
	}
	f := &Feed{set: s, plan: plan, o: o, parts: 1}
	if o.Part > 0 {
		f.parts = max(1, (plan.batch+o.Part-1)/o.Part)
	}
	f.o.Readers = max(1, min(o.Readers, o.Depth*f.parts))
	f.o.Read.Readers = f.o.Readers
	f.ctx, f.cancel = context.WithCancel(ctx)
	if !o.Held {
		f.granted = o.Batches
	}
	if o.Depth == 0 {
		w, err := f.newWorker(0)
		if err != nil {
			f.cancel()
			return nil, err
		}
		f.serial = w
		return f, nil
	}
	return f, f.start()
}

// Generate starts a feed of n batches, of one sample each, for which nothing is read:
// Work makes them, by their numbers.
func Generate(ctx context.Context, n int, o FeedOptions) (*Feed, error) {
	s := &Set{Files: make([]File, 1), Samples: make([]Sample, 1)}
	o.Batches, o.Read = n, ReadOptions{Memory: make([][]byte, 1)}
	return NewFeed(ctx, s, s.Plan(Order{}, 1), o)
}

// start starts the readers.
func (f *Feed) start() error {
	f.moved = sync.NewCond(&f.idle)
	context.AfterFunc(f.ctx, f.wake)
	f.slots = make([]filling, f.o.Depth)
	for i := range f.slots {
		f.slots[i].parts, f.slots[i].ready = f.parts, make(chan outcome, 1)
	}
	f.allow()
	started := make(chan error, f.o.Readers)
	for i := range f.o.Readers {
		f.threads.Go(func() { f.thread(i, started) })
	}
	var err error
	for range f.o.Readers {
		err = errors.Join(err, <-started)
	}
	if err != nil {
		f.Close()
	}
	return err
}

// allow lets the readers read what is granted and finds a slot.
func (f *Feed) allow() {
	if f.serial != nil {
		return
	}
	f.limit.Store(int64(min(f.granted, f.given+f.o.Depth, f.o.Batches)))
	f.wake()
}

func (f *Feed) wake() {
	f.idle.Lock() // or a reader that is about to wait would miss it
	f.idle.Unlock()
	f.moved.Broadcast()
}

// Grant allows n more batches to be read, of a feed that is held.
func (f *Feed) Grant(n int) {
	f.granted += n
	f.allow()
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
	if f.next == f.o.Batches {
		return Loaded{}, io.EOF
	}
	if f.next >= f.granted {
		return Loaded{}, fmt.Errorf("batch %d: only %d were granted", f.next, f.granted)
	}
	if f.serial != nil {
		return f.serial.load(f.next, 0)
	}
	if f.next-f.given == f.o.Depth {
		return Loaded{}, fmt.Errorf("batch %d: none of %d batches was released", f.next, f.o.Depth)
	}
	select {
	case <-f.ctx.Done():
		return Loaded{}, context.Cause(f.ctx)
	case out := <-f.slots[f.next%f.o.Depth].ready:
		return out.loaded, out.err
	}
}

// Release gives back the oldest batch that Next returned and that was not released,
// so that another can be read. It does nothing when there is none.
func (f *Feed) Release() {
	if f.given == f.next {
		return
	}
	if f.serial == nil {
		s := &f.slots[f.given%f.o.Depth]
		s.parts, s.stats, s.err = f.parts, Stats{}, nil // no reader is at it
	}
	f.given++
	f.allow()
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

// worker is a reader and the part of a batch that it is at.
type worker struct {
	feed    *Feed
	reader  *Reader
	index   int
	at      Place
	refused bool                      // by Work, or the feed ended
	visit   func(int32, []byte) error // made once: a batch must not allocate
}

func (f *Feed) newWorker(i int) (*worker, error) {
	r, err := NewReader(f.set, f.o.Read)
	if err != nil {
		return nil, err
	}
	w := &worker{feed: f, reader: r, index: i}
	w.visit = w.sample
	return w, nil
}

// load reads a part of batch b; with depth 0, the whole.
func (w *worker) load(b, part int) (Loaded, error) {
	f := w.feed
	all := f.plan.Batch(b % f.plan.Len())
	samples := all
	if f.parts > 1 && f.serial == nil {
		from := part * f.o.Part
		samples = all[from:min(from+f.o.Part, len(all))]
		w.at.At = from
	} else {
		w.at.At = 0
	}
	w.at.Batch, w.at.Epoch = b, b/f.plan.Len()
	var total Stats
	for len(samples) > 0 {
		from := w.at.At
		st, err := w.reader.Read(samples, w.visit)
		total.Add(st)
		if err == nil {
			break
		}
		samples = samples[w.at.At-from:] // those before were visited
		if w.refused || len(samples) == 0 || !w.missing(samples[0], err) {
			return Loaded{}, fmt.Errorf("batch %d: %w", b, err)
		}
		samples = samples[1:]
		w.at.At++
	}
	return Loaded{b, all, w.index, total}, nil
}

// missing says whether the batch goes on without a sample.
func (w *worker) missing(sample int32, err error) bool {
	if w.feed.o.Missing == nil {
		return false
	}
	at := w.at
	at.Sample = sample
	if bad, ok := errors.AsType[*SampleError](err); ok {
		err = bad.Err
	}
	return w.feed.o.Missing(w.index, at, err)
}

func (w *worker) sample(sample int32, data []byte) error {
	if err := w.feed.ctx.Err(); err != nil {
		w.refused = true
		return context.Cause(w.feed.ctx)
	}
	at := w.at
	at.Sample = sample
	w.at.At++
	if work := w.feed.o.Work; work != nil {
		if err := work(w.index, at, data); err != nil {
			w.refused = true
			return err
		}
	}
	return nil
}

// thread is a reader's.
func (f *Feed) thread(i int, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f.o.Thread != nil {
		if restore := f.o.Thread(i); restore != nil {
			defer restore()
		}
	}
	w, err := f.newWorker(i)
	started <- err
	if err != nil {
		return
	}
	defer f.retire(w)
	for {
		n := int(f.claimed.Add(1) - 1)
		b := n / f.parts
		if b >= f.o.Batches || !f.await(b) {
			return
		}
		loaded, err := w.load(b, n%f.parts)
		f.slots[b%f.o.Depth].add(loaded, err)
	}
}

// await waits until batch b may be read; false when the feed ends before.
func (f *Feed) await(b int) bool {
	if int64(b) < f.limit.Load() {
		return f.ctx.Err() == nil
	}
	f.idle.Lock()
	defer f.idle.Unlock()
	for f.ctx.Err() == nil {
		if int64(b) < f.limit.Load() {
			return true
		}
		f.moved.Wait()
	}
	return false
}

// add takes in a part of the slot's batch, the last of which makes it ready.
func (s *filling) add(loaded Loaded, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.stats.Add(loaded.Stats)
	if s.err == nil {
		s.err = err
	}
	if s.parts--; s.parts == 0 {
		loaded.Stats = s.stats
		if s.err != nil {
			loaded = Loaded{}
		}
		s.ready <- outcome{loaded, s.err} // never full: the batch before it was released
	}
}

func (f *Feed) retire(w *worker) {
	err := w.reader.Close()
	f.closing.Lock()
	f.failed = errors.Join(f.failed, err)
	f.closing.Unlock()
}
