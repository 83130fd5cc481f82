package pcie

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// Background copies: how long the queue lasts that a device is given at a time, and how
// many copies it has at least and at most; how long a device may take to begin and to come
// to an end; how many measured copies make a sample at least, the first of which may find
// the others anywhere in theirs.
const (
	queueSpan       = 30 * time.Millisecond
	leastQueued     = 4
	mostQueued      = 64
	backgroundLimit = 10 * time.Second
	leastConcurrent = 8
)

// counts are those of all that copies in the background: copies, and times that a queue was
// empty.
type counts struct{ copies, gaps atomic.Int64 }

// background copies over a device while something else is measured. Its queue is never
// empty, and it counts the times that it was.
type background struct {
	dir     string
	cpus    []int         // of its thread
	limit   time.Duration // for the device to begin, and to come to an end
	reports chan error    // when the first copy has ended, and when all is over
	stuck   bool          // there was none in time: nothing more is waited for
	counts  *counts

	*queue
	buffers bufferPool // of its own
	pair    copyPair
	depth   int           // copies queued at a time, by
	each    time.Duration // how long a copy lasts
}

// start starts f on a thread of its own, which is bound to the device and its CPUs.
func (b *background) start(f func() error) {
	if b.stuck {
		return
	}
	go func() {
		b.reports <- b.bound(func() error {
			restore, err := bench.Pin(b.cpus)
			if err != nil {
				return err
			}
			defer restore()
			return f()
		})
	}()
}

// wait waits for a report of what was started.
func (b *background) wait() error {
	if !b.stuck {
		select {
		case err := <-b.reports:
			return err
		case <-time.After(b.limit):
			b.stuck = true
		}
	}
	return fmt.Errorf("%w for a copy in the background", bench.ErrStuck)
}

// copyUntil copies until stop is closed. It polls its queue and sleeps in between: a wait
// in the driver would take a CPU from whoever measures.
func (b *background) copyUntil(stop <-chan struct{}) error {
	done, queued := 0, 0
	fill := func() {
		for ; queued < done+b.depth; queued++ {
			b.copy(b.pair)
			b.record(queued % mostQueued)
		}
	}
	fill()
	if b.syncEvent(0); b.err == nil {
		b.reports <- nil
	}
	for b.err == nil {
		select {
		case <-stop:
			b.counts.copies.Add(int64(done))
			b.sync()
			return b.err
		default:
		}
		from := done
		for done < queued && b.reached(done%mostQueued) {
			done++
		}
		if done == queued {
			b.counts.gaps.Add(1)
		}
		if done >= from+2 {
			b.each = b.elapsed((done-2)%mostQueued, (done-1)%mostQueued)
			b.depth = max(leastQueued, bench.Repetitions(b.each, queueSpan, mostQueued-2))
		}
		fill()
		time.Sleep(max(50*time.Microsecond, min(2*time.Millisecond, time.Duration(b.depth)*b.each/8)))
	}
	return b.err
}

// concurrentCopier is a copier whose copies are measured while others run.
type concurrentCopier struct {
	*copier
	others  []*background
	counts  counts
	samples int // without warm-ups
	gapped  int // of those, kept although something stood still meanwhile
}

// openBackground opens what copies while c is measured: the same device in the other
// direction, or the other devices in the same one.
func openBackground(env bench.Env, c *copier) (bench.Runner, error) {
	devices, dir := others(env, c.info), c.Dir
	if c.Concurrent == results.ConcurrentOpposite {
		opposite := map[string]string{results.H2D: results.D2H, results.D2H: results.H2D}
		devices, dir = []cuda.Device{c.device}, opposite[c.Dir]
	}
	k := &concurrentCopier{copier: c}
	for i, d := range devices {
		if err := k.add(d, dir, placeNear(env, d.Info()).cpus, env.Seed+uint64(i)+3, backgroundLimit); err != nil {
			return nil, errors.Join(err, k.Close())
		}
	}
	return k, nil
}

// add opens a device that copies in the background.
func (c *concurrentCopier) add(d cuda.Device, dir string, cpus []int, seed uint64, limit time.Duration) error {
	b := &background{queue: &queue{device: d}, buffers: bufferPool{device: d, seed: seed}, dir: dir, cpus: cpus,
		limit: limit, reports: make(chan error, 2), depth: leastQueued, counts: &c.counts}
	c.others = append(c.others, b)
	of := params{Dir: dir, Mem: "pinned", Bytes: c.Bytes}
	b.start(func() error {
		b.queue.open(mostQueued)
		b.pair = bench.Unless(&b.err, func() (copyPair, error) { return b.buffers.pair(of) })
		return b.err
	})
	return c.blame(b, b.wait())
}

// blame says whose error it is. Another device's is no failure of this one: the case
// cannot run, and that device's own cases report its failure.
func (c *concurrentCopier) blame(b *background, err error) error {
	if err == nil || b.device == c.device {
		return err
	}
	return &bench.SkipError{Reason: fmt.Sprintf("%s, which should copy at the same time, failed: %s",
		b.device.Info().Spec, results.OneLine(err))}
}

func (c *concurrentCopier) Size(n int) int { return max(n, leastConcurrent) }

// Sample measures while all others copy. It does so anew when one of them stood still,
// which would flatter the measured copies, and keeps that only when it never works.
func (c *concurrentCopier) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	before := *r
	gap := true
	for try := 0; gap && try < mostTries; try++ {
		*r = before
		gaps := c.counts.gaps.Load()
		if err := c.meanwhile(ctx, n, r); err != nil {
			return err
		}
		gap = c.counts.gaps.Load() > gaps
	}
	if !r.Warmup {
		c.samples++
		if gap {
			c.gapped++
		}
	}
	return nil
}

// meanwhile starts the others, measures, and stops them.
func (c *concurrentCopier) meanwhile(ctx context.Context, n int, r *bench.Recorder) (err error) {
	stop := make(chan struct{})
	for _, b := range c.others {
		b.start(func() error { return b.copyUntil(stop) })
	}
	var begun []*background
	for _, b := range c.others {
		if e := b.wait(); e != nil {
			err = errors.Join(err, c.blame(b, e))
		} else {
			begun = append(begun, b)
		}
	}
	if err == nil {
		err = c.copier.Sample(ctx, n, r)
	}
	close(stop)
	for _, b := range begun {
		err = errors.Join(err, c.blame(b, b.wait()))
	}
	return err
}

// Report adds what copied meanwhile.
func (c *concurrentCopier) Report(r *results.Result) {
	c.copier.Report(r)
	p := results.As[results.PCIeProof](r.Proof)
	p.BackgroundCopies, p.SamplesWithGap = new(c.counts.copies.Load()), &c.gapped
	for _, b := range c.others {
		p.Background = append(p.Background, b.device.Info().Spec+" "+b.dir)
	}
	r.Proof = results.RecordOf(p)
	if c.gapped*10 > c.samples {
		r.Warnf("in %d of %d samples the other copies paused at times: "+
			"this machine was too busy to keep its queue filled", c.gapped, c.samples)
	}
}

// flattered reports whether what copied while r was measured stood still in more than a
// tenth of its samples, which leaves r faster than it would have been.
func flattered(r *results.Result) bool {
	gapped := results.As[results.PCIeProof](r.Proof).SamplesWithGap
	return gapped != nil && 10**gapped > len(r.Metric("time").Samples)
}

// Close ends the others first.
func (c *concurrentCopier) Close() error {
	var errs []error
	for _, b := range c.others {
		b.start(func() error { return errors.Join(b.buffers.release(), b.queue.close()) })
		if err := b.wait(); err != nil && b.device == c.device {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, c.copier.Close())...)
}
