package preprocess

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"dlbench/bench"
	"dlbench/loader"
)

// control is threads on the same CPUs as a case's, each of which makes samples of
// files in memory of its own and shares nothing with the others. What it loses with
// more threads is the machine's doing: clocks, SMT, caches, memory, neighbours. What
// the case loses beyond that is the loader's.
type control struct {
	jobs    []chan int
	seconds []float64 // of each thread, for its last job
	errs    []error
	done    sync.WaitGroup
	all     sync.WaitGroup
}

// controlImages is how many files a thread of the control has.
const controlImages = 32

// startControl starts the threads of r's control.
func startControl(ctx context.Context, r *preprocessRunner) (*control, error) {
	c := &control{seconds: make([]float64, r.threads), errs: make([]error, r.threads)}
	data, err := controlData(ctx, r.set)
	if err != nil {
		return nil, err
	}
	for i := range r.threads {
		jobs := make(chan int, 1)
		c.jobs = append(c.jobs, jobs)
		c.done.Add(1)
		c.all.Go(func() { c.thread(i, r, data, jobs) })
	}
	c.done.Wait()
	if err := errors.Join(c.errs...); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// controlData reads the first files of a set, as far as they can be read.
func controlData(ctx context.Context, set *loader.Set) (data [][]byte, err error) {
	reader, err := loader.NewReader(set, loader.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var failed error
	for i := range min(controlImages, len(set.Samples)) {
		if _, err := reader.Read([]int32{int32(i)}, func(_ int32, b []byte) error {
			data = append(data, append([]byte(nil), b...))
			return ctx.Err()
		}); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			failed = err // the case itself names what cannot be read
		}
	}
	if len(data) == 0 {
		return nil, failed
	}
	return data, nil
}

// thread makes its samples, each time as many as it is told.
func (c *control) thread(i int, r *preprocessRunner, shared [][]byte, jobs <-chan int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var cpus []int
	if len(r.cpus) > 0 {
		cpus = r.cpus[i : i+1]
	}
	restore, err := bench.Pin(cpus)
	if err == nil {
		defer restore()
	}
	p, perr := loader.NewPreprocessor(r.o)
	if c.errs[i] = errors.Join(err, perr); c.errs[i] != nil {
		c.done.Done()
		return
	}
	defer p.Close()
	data := make([][]byte, len(shared)) // of its own, touched here
	for k, b := range shared {
		data[k] = append([]byte(nil), b...)
	}
	size := int(r.batch.Bytes()) / r.batch.Images
	batch := make([]byte, len(data)*size)
	clear(batch)
	c.done.Done()
	at := 0
	for n := range jobs {
		start := time.Now()
		for range n {
			k := at % len(data)
			dst := batch[k*size : (k+1)*size]
			if r.offline {
				c.errs[i] = errors.Join(c.errs[i], p.Record(dst, data[k], r.set.Record, loader.Place{At: k, Sample: int32(k)}))
			} else {
				p.Image(dst, data[k], loader.Place{At: k, Epoch: at / len(data), Sample: int32(k)}) // what is bad costs what it costs
			}
			at++
		}
		c.seconds[i] = time.Since(start).Seconds()
		c.done.Done()
	}
}

// run has each thread make n samples, all at once, and returns the sum of their
// rates, in images/s.
func (c *control) run(ctx context.Context, n int) (rate float64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n = max(1, n)
	c.done.Add(len(c.jobs))
	for _, jobs := range c.jobs {
		jobs <- n
	}
	c.done.Wait()
	for _, s := range c.seconds {
		rate += float64(n) / s
	}
	return rate, errors.Join(c.errs...)
}

// close stops the threads and waits for them.
func (c *control) close() {
	for _, jobs := range c.jobs {
		close(jobs)
	}
	c.all.Wait()
}
