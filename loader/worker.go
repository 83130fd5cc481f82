package loader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// worker is a reader and the batch that it is at.
type worker struct {
	feed   *Feed
	reader *Reader
	index  int
	batch  int
	visit  func(int32, []byte) error // made once: a batch must not allocate
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

func (w *worker) load(b int) (Loaded, error) {
	w.batch = b
	samples := w.feed.plan.Batch(b)
	st, err := w.reader.Read(samples, w.visit)
	if err != nil {
		return Loaded{}, fmt.Errorf("batch %d: %w", b, err)
	}
	return Loaded{b, samples, w.index, st}, nil
}

func (w *worker) sample(sample int32, data []byte) error {
	if err := w.feed.ctx.Err(); err != nil {
		return context.Cause(w.feed.ctx)
	}
	if work := w.feed.o.Work; work != nil {
		return work(w.index, w.batch, sample, data)
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
		select {
		case <-f.ctx.Done():
			return
		case b := <-f.free:
			if f.ctx.Err() != nil {
				return
			}
			loaded, err := w.load(b)
			f.ready[b%f.o.Depth] <- outcome{loaded, err}
		}
	}
}

func (f *Feed) retire(w *worker) {
	err := w.reader.Close()
	f.closing.Lock()
	f.failed = errors.Join(f.failed, err)
	f.closing.Unlock()
}
