package loader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

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
	for {
		from := w.at.At
		st, err := w.reader.Read(samples, w.visit)
		total.Add(st)
		if err == nil {
			return Loaded{b, all, w.index, total}, nil
		}
		samples = samples[w.at.At-from:] // those before were visited
		if w.refused || len(samples) == 0 || f.o.Missing == nil {
			return Loaded{}, fmt.Errorf("batch %d: %w", b, err)
		}
		at := w.at
		at.Sample = samples[0]
		if bad, ok := errors.AsType[*SampleError](err); ok {
			err = bad.Err
		}
		if !f.o.Missing(w.index, at, err) {
			return Loaded{}, fmt.Errorf("batch %d: %w", b, err)
		}
		w.at.At++
		if samples = samples[1:]; len(samples) == 0 {
			return Loaded{b, all, w.index, total}, nil
		}
	}
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
