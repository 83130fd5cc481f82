package preprocess

import (
	"context"
	"errors"
	"slices"
	"time"

	"dlbench/bench"
	"dlbench/loader"
)

// control is threads on the same CPUs as a case's, each of which makes samples of
// files in memory of its own and shares nothing with the others. What it loses with
// more threads is the machine's doing: clocks, SMT, caches, memory, neighbours. What
// the case loses beyond that is the loader's.
//
// Each thread has a feed of its own, of one reader, whose batches are runs: with a feed
// for all of them they would share its queue, and a quick one could do another's run.
type control struct {
	workers *bench.Workers
	feeds   []*loader.Feed
	images  int       // that a thread makes in a run
	seconds []float64 // of each thread's last run
}

// controlImages is how many files a thread of the control has.
const controlImages = 32

func (c *control) start(ctx context.Context, r *preprocessRunner) error {
	first := r.set.Plan(loader.Order{}, 1)
	samples, err := bench.LoadSamples(ctx, r.set, first.Part(0, min(controlImages, first.Len())))
	samples = slices.DeleteFunc(samples, func(b []byte) bool { return b == nil })
	if len(samples) == 0 { // the case itself names what cannot be read
		return err
	}
	c.workers, c.seconds = r.newWorkers(), make([]float64, r.Threads)
	for i := range r.Threads {
		feed, err := c.thread(i, samples, r.sampleBytes())
		if err != nil {
			return err
		}
		c.feeds = append(c.feeds, feed)
	}
	return c.workers.Err()
}

// thread starts thread i, which makes samples of so many bytes.
func (c *control) thread(i int, shared [][]byte, bytes int64) (*loader.Feed, error) {
	data, batch := make([][]byte, len(shared)), []byte(nil)
	next := 0
	return loader.Generate(context.Background(), loader.FeedOptions{
		Thread: func(int) (restore func()) {
			restore = c.workers.Thread(i)
			for k, b := range shared { // of its own, touched on its CPU
				data[k] = append([]byte(nil), b...)
			}
			batch = make([]byte, int64(len(data))*bytes)
			clear(batch)
			return restore
		},
		Work: func(int, loader.Place, []byte) error {
			start := time.Now()
			for range c.images {
				k := next % len(data)
				at := loader.Place{At: k, Epoch: next / len(data), Sample: int32(k)}
				if err := c.workers.Work(i, at, batch[int64(k)*bytes:int64(k+1)*bytes], data[k]); err != nil {
					return err
				}
				next++
			}
			c.seconds[i] = time.Since(start).Seconds()
			return nil
		}})
}

// run has each thread make n samples, all at once, and returns the sum of their
// rates, in images/s.
func (c *control) run(ctx context.Context, n int) (rate float64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.images = max(1, n)
	for _, feed := range c.feeds {
		feed.Grant(1)
	}
	for i, feed := range c.feeds {
		_, failed := feed.Next()
		err = errors.Join(err, failed)
		feed.Release()
		rate += float64(c.images) / c.seconds[i]
	}
	return rate, err
}

func (c *control) close() {
	for _, feed := range c.feeds {
		feed.Close()
	}
}
