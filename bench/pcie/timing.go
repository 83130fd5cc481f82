package pcie

import (
	"bytes"
	"cmp"
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
	metricSubmit  = duration("submit", 1e-7)
	metricCPU     = duration("cpu", 1e-6)
	metricLatency = duration("latency", 1e-7)
	metricPin     = duration("pin", 1e-6)

	// metricNormalised is the time from the start of the copy of a uint8 batch, nhwc, to
	// the end of the kernel that made float32, nchw, normalised, of it: to be compared with
	// the copy of the float32 batch.
	metricNormalised = duration("normalised", 0.5e-6)
)

func duration(name string, resolution float64) bench.MetricDef {
	return bench.MetricDef{Name: name, Unit: results.Seconds, Better: results.Lower, Resolution: resolution}
}

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
	case c.Cold() || c.info.Assumed:
		limit = 1 // evict before each copy; see the lateness of each copy
	case c.loaded.Loader != nil: // a copy is many
		limit = max(1, mostGroup/(c.loaded.Load.Copies+1))
	}
	for n > 0 {
		if err := cmp.Or(ctx.Err(), c.err); err != nil {
			return err
		}
		g := min(n, limit)
		n -= g
		submit, elapsed := c.timeGroup(g, c.prepare, func() { c.copy(c.pair) }, r)
		r.Add(elapsed, int64(c.batch.Images*g), c.Bytes*int64(g)) // whatever the size of a copy
		r.Observe("submit", submit/time.Duration(g))
	}
	return c.err
}

// prepare brings the source of a group of copies into the CPU's caches, or evicts it.
func (c *copier) prepare() {
	switch {
	case c.Cold():
		c.buffers.evictor.evict()
	case c.Dir == results.H2D && !c.info.Assumed:
		touch(c.pair.Src.Host) // a loader has just written it; DMA leaves no trace in caches
	}
}

// timeGroup times n times what queue queues: behind a blocker and a small copy the start event,
// the work and the stop event. The small copy puts both events onto the copy engine: the change
// from kernel to copy falls before them. Where the blocker ended before all was queued, host
// delays may lie between the events: that is done anew behind a longer one, and kept only when
// it never works. Each try begins with prepare. submit is what queueing took.
func (c *copier) timeGroup(n int, prepare, queue func(), r *bench.Recorder) (submit, elapsed time.Duration) {
	covered := false
	for try := 0; !covered && try < mostTries && c.err == nil; try++ {
		prepare()
		c.do(func() error { return c.device.Step(c.block, c.stream) })
		c.copy(c.primer)
		c.record(0)
		t := time.Now()
		for range n {
			queue()
		}
		submit = time.Since(t)
		c.record(1)
		if covered = !c.reached(0); !covered {
			c.block = min(2*c.block, mostBlock)
		}
		c.syncEvent(1)
	}
	c.noteLateness(r)
	if !r.Warmup {
		c.groups++
		if !covered {
			c.gaps++
		}
	}
	return submit, c.elapsed(0, 1)
}

// timeByHost times n copies by the host's clock, each until it is complete.
func (c *copier) timeByHost(ctx context.Context, n int, r *bench.Recorder) error {
	var cpu time.Duration
	for range n {
		if err := cmp.Or(ctx.Err(), c.err); err != nil {
			return err
		}
		if c.Cold() {
			c.buffers.evictor.evict()
		}
		cpu -= bench.ThreadCPU()
		start := time.Now()
		if c.source != nil {
			copy(c.pair.Src.Host, c.source.Host)
		}
		c.copy(c.pair)
		submit := time.Since(start)
		c.sync()
		r.Add(time.Since(start), int64(c.batch.Images), c.Bytes)
		r.Observe("submit", submit)
		c.noteLateness(r)
		cpu += bench.ThreadCPU()
	}
	r.SetKnown("cpu", cpu.Seconds()/float64(n))
	return c.err
}

// noteLateness notes by how much a simulated link missed its last deadline.
func (c *copier) noteLateness(r *bench.Recorder) {
	if c.info.Assumed && !r.Warmup {
		late := c.device.Late()
		sample := &c.late[len(c.late)-1]
		*sample = append(*sample, late)
		r.Observe("lateness", late)
	}
}

// latencyCopies is how many single copies a sample times.
const latencyCopies = 16

// measureLatency times copies one by one from the call to their end, as a caller
// that waits for each sees them. Back to back, copies hide part of it.
func (c *copier) measureLatency(r *bench.Recorder) {
	for range latencyCopies {
		t := time.Now()
		c.copy(c.pair)
		c.sync()
		r.Observe("latency", time.Since(t))
	}
}

// pinSamples is how often page-locking is measured.
const pinSamples = 6

// measurePin measures what it takes to page-lock a buffer of the copy's size, once
// a sample for the first samples.
func (c *copier) measurePin(r *bench.Recorder) error {
	if c.pinned++; c.pinned > pinSamples {
		return nil
	}
	b, err := c.device.Alloc(kinds[c.Mem], int(c.Bytes))
	if err == nil {
		r.Set("pin", b.PinTime.Seconds())
	}
	return errors.Join(err, b.Free())
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
	k.Normalisation = cuda.Normalisation{Images: b.Images, Height: b.Height, Width: b.Width}
	for i := range k.Mean {
		k.Mean[i], k.Deviation[i] = transform.Channel(i)
	}
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
	got, err := c.device.Alloc(kinds[c.Mem], first.ResultBytes())
	if err != nil {
		return err
	}
	defer got.Free()
	c.copyNormalised(first)
	c.copy(copyPair{Dst: got, Src: k.result.View(got.Size)})
	if c.sync(); c.err != nil {
		return c.err
	}
	want := make([]byte, got.Size)
	first.Apply(want, c.pair.Src.Host)
	if !bytes.Equal(got.Host, want) {
		return fmt.Errorf("%d images normalised on the device have other values than on the host", first.Images)
	}
	k.verified = first.Images
	return nil
}

// copyNormalised queues a copy with its kernel.
func (c *copier) copyNormalised(n cuda.Normalisation) {
	c.copy(c.pair)
	c.do(func() error { return c.device.Normalise(c.normal.result, c.pair.Dst, n, c.stream) })
}

// measureNormalised times a group of copies, each with its kernel. Nothing reads the source
// first: it is as the copies before have left it.
func (c *copier) measureNormalised(n int, r *bench.Recorder) {
	if c.normal.verified == 0 && c.normal.none == nil {
		c.do(c.openNormaliser)
	}
	if c.normal.none != nil {
		return
	}
	n = min(n, mostNormalised)
	_, elapsed := c.timeGroup(n, func() {}, func() { c.copyNormalised(c.normal.Normalisation) }, r)
	r.Observe(metricNormalised.Name, elapsed/time.Duration(n))
}
