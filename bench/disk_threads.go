package bench

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"dlbench/bench/pace"
	"dlbench/loader"
)

// readerThreads are loader.Readers on OS threads of their own, which read batches as
// they are given: their buffers and open files last from sample to sample, and are
// not part of what a batch takes.
type readerThreads struct {
	work   chan []int32
	done   chan batchRead
	all    sync.WaitGroup
	mu     sync.Mutex
	failed error // of closing
	pages  string
}

// batchRead is a batch that was read.
type batchRead struct {
	stats loader.Stats
	err   error
}

// startReaders makes n readers.
func startReaders(set *loader.Set, n int, o loader.ReadOptions) (*readerThreads, error) {
	t := &readerThreads{work: make(chan []int32), done: make(chan batchRead, n)}
	started := make(chan error, n)
	for range n {
		t.all.Go(func() { t.thread(set, o, started) })
	}
	var err error
	for range n {
		err = errors.Join(err, <-started)
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *readerThreads) thread(set *loader.Set, o loader.ReadOptions, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if o.Disk != nil {
		defer pace.Sharpen()()
	}
	r, err := loader.NewReader(set, o)
	if err == nil {
		t.mu.Lock()
		t.pages = r.Pages()
		t.mu.Unlock()
	}
	started <- err
	if err != nil {
		return
	}
	for samples := range t.work {
		stats, err := r.Read(samples, nil)
		t.done <- batchRead{stats, err}
	}
	err = r.Close()
	t.mu.Lock()
	t.failed = errors.Join(t.failed, err)
	t.mu.Unlock()
}

// read reads a plan and calls each with every batch's stats. After an error it gives
// out no more, waits for what is being read, and returns the first one.
func (t *readerThreads) read(ctx context.Context, plan *loader.Plan, each func(loader.Stats)) (err error) {
	given, taken := 0, 0
	take := func(b batchRead) {
		taken++
		if b.err == nil {
			each(b.stats)
		} else if err == nil {
			err = b.err
		}
	}
	for given < plan.Len() && err == nil {
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case t.work <- plan.Batch(given):
			given++
		case b := <-t.done:
			take(b)
		}
	}
	for taken < given {
		take(<-t.done)
	}
	return err
}

// close stops the readers, which must be idle, and waits for them.
func (t *readerThreads) close() error {
	close(t.work)
	t.all.Wait()
	return t.failed
}
