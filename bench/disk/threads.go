package disk

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"dlbench/bench/pace"
	"dlbench/loader"
)

// readerThreads are loader.Readers on OS threads of their own, which read plans
// together: their buffers and open files last from sample to sample, and are not
// part of what a batch takes.
//
// A thread takes its next batch by a counter. Batches handed out one by one over a
// channel left a reader idle for 135 to 230 us after each, of about 2 ms.
type readerThreads struct {
	jobs   []chan *readJob // one a thread
	all    sync.WaitGroup
	mu     sync.Mutex
	failed error // of closing
	pages  string
}

// readJob is a plan that is being read.
type readJob struct {
	ctx   context.Context
	plan  *loader.Plan
	next  atomic.Int64   // batch
	stats []loader.Stats // by batch
	stop  atomic.Bool    // something failed: take no more
	mu    sync.Mutex
	err   error // the first
	done  sync.WaitGroup
}

// startReaders makes n readers.
func startReaders(set *loader.Set, n int, o loader.ReadOptions) (*readerThreads, error) {
	t := &readerThreads{}
	started := make(chan error, n)
	for range n {
		jobs := make(chan *readJob, 1)
		t.jobs = append(t.jobs, jobs)
		t.all.Go(func() { t.thread(set, o, jobs, started) })
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

func (t *readerThreads) thread(set *loader.Set, o loader.ReadOptions, jobs <-chan *readJob, started chan<- error) {
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
	for j := range jobs {
		j.work(r)
		j.done.Done()
	}
	err = r.Close()
	t.mu.Lock()
	t.failed = errors.Join(t.failed, err)
	t.mu.Unlock()
}

// work reads batches until there are no more, or something failed.
func (j *readJob) work(r *loader.Reader) {
	for !j.stop.Load() {
		i := int(j.next.Add(1) - 1)
		if i >= len(j.stats) {
			return
		}
		err := j.ctx.Err()
		if err == nil {
			j.stats[i], err = r.Read(j.plan.Batch(i), nil)
		}
		if err != nil {
			j.fail(err)
		}
	}
}

func (j *readJob) fail(err error) {
	j.stop.Store(true)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
}

// read reads a plan and returns the stats of each batch. After an error it waits for
// what is being read, and returns the first one.
func (t *readerThreads) read(ctx context.Context, plan *loader.Plan) ([]loader.Stats, error) {
	j := &readJob{ctx: ctx, plan: plan, stats: make([]loader.Stats, plan.Len())}
	j.done.Add(len(t.jobs))
	for _, jobs := range t.jobs {
		jobs <- j
	}
	j.done.Wait()
	return j.stats, j.err
}

// close stops the readers, which must be idle, and waits for them.
func (t *readerThreads) close() error {
	for _, jobs := range t.jobs {
		close(jobs)
	}
	t.all.Wait()
	return t.failed
}
