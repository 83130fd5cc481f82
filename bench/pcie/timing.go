package pcie

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/loader/transform"
	"dlbench/results"
)

// Metrics of the pcie suite.
var (
	metricSubmit  = bench.MetricDef{Name: "submit", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-7}
	metricCPU     = bench.MetricDef{Name: "cpu", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6}
	metricLatency = bench.MetricDef{Name: "latency", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-7}
	metricPin     = bench.MetricDef{Name: "pin", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6}

	// metricNormalised is the time from the start of the copy of a uint8 batch, nhwc, to
	// the end of the kernel that made float32, nchw, normalised, of it: to be compared with
	// the copy of the float32 batch.
	metricNormalised = bench.MetricDef{Name: "normalised", Unit: results.Seconds, Better: results.Lower,
		Resolution: 0.5e-6}
)

// Blockers: the least and the longest work queued before a timed group of copies,
// how many copies one group has at most (the driver's queue is bounded), and how often a
// group is copied anew, behind a longer blocker, because host delays fell between its
// events.
const (
	leastBlock = 200 * time.Microsecond
	mostBlock  = 20 * time.Millisecond
	mostGroup  = 256
	mostTries  = 4

	primerBytes = 4 << 10
)

// timeByEvents times n copies by the device's events, in groups behind a blocker.
func (c *copier) timeByEvents(ctx context.Context, n int, r *bench.Recorder) error {
	limit := mostGroup
	switch {
	case c.cold() || c.info.Assumed:
		limit = 1 // evict before each copy; see the lateness of each copy
	case c.loaded.Loader != nil: // a copy is many
		limit = max(1, mostGroup/(c.loaded.Load.Copies+1))
	}
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		g := min(n, limit)
		n -= g
		submit, elapsed, err := c.timeGroup(r, func() error {
			for range g {
				if err := c.device.Copy(c.pair.Dst, c.pair.Src, c.stream); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.Add(elapsed, c.images()*int64(g), c.Bytes*int64(g))
		r.Observe("submit", submit/time.Duration(g))
	}
	return nil
}

// images are those of a copy, by which copies of any size are counted.
func (c *copier) images() int64 { return int64(c.batch.Images) }

// timeGroup times what queue queues behind a blocker, anew when the blocker did not cover
// it, and keeps that only when it never works. submit is what queueing took.
func (c *copier) timeGroup(r *bench.Recorder, queue func() error) (submit, elapsed time.Duration, err error) {
	for try := 1; ; try++ {
		switch {
		case c.cold():
			c.buffers.evictor.evict()
		case c.Dir == results.H2D && !c.info.Assumed:
			bench.Touch(c.pair.Src.Host) // a loader has just written it; DMA leaves no trace in caches
		}
		submit, covered, err := c.queueGroup(queue)
		if err != nil {
			return 0, 0, err
		}
		if !covered && try < mostTries {
			continue
		}
		if !r.Warmup {
			c.noteLateness(r, c.lateness())
			c.groups++
			if !covered {
				c.gaps++
			}
		}
		elapsed, err = c.device.Elapsed(c.events[0], c.events[1])
		return submit, elapsed, err
	}
}

// queueGroup queues a blocker, a small copy, the start event, what queue queues and the
// stop event, and waits. The small copy puts both events onto the copy engine: the change
// from kernel to copy falls before them. covered is false when the blocker ended before
// all was queued: then host delays may lie between the events, and the next blocker is
// longer.
func (c *copier) queueGroup(queue func() error) (submit time.Duration, covered bool, err error) {
	d, s := c.device, c.stream
	err = errors.Join(d.Step(c.block, s), d.Copy(c.primer.Dst, c.primer.Src, s), d.Record(c.events[0], s))
	if err != nil {
		return 0, false, err
	}
	t := time.Now()
	if err := queue(); err != nil {
		return 0, false, err
	}
	submit = time.Since(t)
	if err := d.Record(c.events[1], s); err != nil {
		return 0, false, err
	}
	reached, err := d.Reached(c.events[0])
	if err != nil {
		return 0, false, err
	}
	if reached {
		c.block = min(2*c.block, mostBlock)
	}
	return submit, !reached, d.SyncEvent(c.events[1])
}

// timeByHost times n copies by the host's clock, each until it is complete.
func (c *copier) timeByHost(ctx context.Context, n int, r *bench.Recorder) error {
	var evicting time.Duration // CPU time
	cpu := bench.ThreadCPU()
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.cold() {
			before := bench.ThreadCPU()
			c.buffers.evictor.evict()
			evicting += bench.ThreadCPU() - before
		}
		start := time.Now()
		if c.source != nil {
			copy(c.pair.Src.Host, c.source.Host)
		}
		if err := c.device.Copy(c.pair.Dst, c.pair.Src, c.stream); err != nil {
			return err
		}
		submit := time.Since(start)
		late := c.lateness() // of a pageable copy, which has waited already
		if err := c.device.SyncStream(c.stream); err != nil {
			return err
		}
		elapsed := time.Since(start)
		if c.source != nil {
			late = c.lateness()
		}
		if !r.Warmup {
			c.noteLateness(r, late)
		}
		r.Add(elapsed, c.images(), c.Bytes)
		r.Observe("submit", submit)
	}
	r.Set("cpu", (bench.ThreadCPU()-cpu-evicting).Seconds()/float64(n))
	return nil
}

// lateness is by how much a stand-in missed its last deadline, and whether its own work
// took longer than the assumed link.
type lateness struct {
	by      time.Duration
	overrun bool
}

func (c *copier) lateness() (l lateness) {
	if p, ok := c.device.(cuda.Pacer); ok {
		l.by, l.overrun = p.Late()
	}
	return l
}

func (c *copier) noteLateness(r *bench.Recorder, l lateness) {
	if !c.info.Assumed {
		return
	}
	if l.overrun {
		c.overrun++
	}
	c.late = append(c.late, l.by)
	r.Observe("lateness", l.by)
}

// latencyCopies is how many single copies a sample times.
const latencyCopies = 16

// measureLatency times copies one by one from the call to their end, as a caller
// that waits for each sees them. Back to back, copies hide part of it.
func (c *copier) measureLatency(r *bench.Recorder) error {
	for range latencyCopies {
		t := time.Now()
		if err := c.device.Copy(c.pair.Dst, c.pair.Src, c.stream); err != nil {
			return err
		}
		if err := c.device.SyncStream(c.stream); err != nil {
			return err
		}
		r.Observe("latency", time.Since(t))
	}
	return nil
}

// pinSamples is how often page-locking is measured.
const pinSamples = 6

// measurePin measures what it takes to page-lock a buffer of the copy's size, once
// a sample for the first samples.
func (c *copier) measurePin(r *bench.Recorder) error {
	if c.pinned >= pinSamples {
		return nil
	}
	c.pinned++
	b, err := c.device.Alloc(c.kind(), int(c.Bytes))
	if err != nil {
		return err
	}
	r.Set("pin", b.PinTime.Seconds())
	return b.Free()
}

// normaliser is what a copier has for metricNormalised.
type normaliser struct {
	cuda.Normalisation
	result   *cuda.Buffer
	verified int   // images whose values were compared with the host's
	none     error // why it is not measured
}

// Copies with their kernels that one group has at most, and images that are verified.
const (
	mostNormalised = 16
	mostVerified   = 32
)

// openNormaliser allocates the result and checks once that the device's values are the
// host's, bit for bit.
func (c *copier) openNormaliser() (err error) {
	k, b := &c.normal, c.batch
	k.Normalisation = cuda.Normalisation{Images: b.Images, Height: b.Height, Width: b.Width, Planar: true,
		Mean:      [3]float64{transform.MeanR, transform.MeanG, transform.MeanB},
		Deviation: [3]float64{transform.StdR, transform.StdG, transform.StdB}}
	k.result, err = c.buffers.get(bufferKey{kind: cuda.OnDevice, no: 2}, int64(k.ResultBytes()))
	if errors.Is(err, cuda.OutOfMemory) {
		k.none = err
		return nil
	}
	if err != nil {
		return err
	}
	first := k.Normalisation
	first.Images = min(first.Images, mostVerified)
	got, err := c.device.Alloc(cuda.Pageable, first.ResultBytes())
	if err != nil {
		return err
	}
	defer got.Free()
	d, s := c.device, c.stream
	err = errors.Join(d.Copy(c.pair.Dst, c.pair.Src, s), d.Normalise(k.result, c.pair.Dst, first, s),
		d.Copy(got, k.result.View(got.Size), s), d.SyncStream(s))
	if err != nil {
		return err
	}
	want := make([]byte, got.Size)
	first.Apply(want, c.pair.Src.Host)
	if !bytes.Equal(got.Host, want) {
		return fmt.Errorf("%d images normalised on the device have other values than on the host", first.Images)
	}
	k.verified = first.Images
	return nil
}

// measureNormalised times a group of copies, each with its kernel.
func (c *copier) measureNormalised(n int, r *bench.Recorder) error {
	k := &c.normal
	if k.verified == 0 && k.none == nil {
		if err := c.openNormaliser(); err != nil {
			return err
		}
	}
	if k.none != nil {
		return nil
	}
	n = min(n, mostNormalised)
	_, elapsed, err := c.timeGroup(r, func() error {
		for range n {
			err := errors.Join(c.device.Copy(c.pair.Dst, c.pair.Src, c.stream),
				c.device.Normalise(k.result, c.pair.Dst, k.Normalisation, c.stream))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		r.Observe(metricNormalised.Name, elapsed/time.Duration(n))
	}
	return err
}
