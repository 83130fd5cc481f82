package pcie

import (
	"context"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// sampleEvents times n copies by the device's events, in groups behind a blocker.
func (c *copier) sampleEvents(ctx context.Context, n int, r *bench.Recorder) error {
	limit := mostGroup
	assumed := c.device.Info().Assumed
	switch {
	case c.cold || assumed:
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
		for try := 1; ; try++ {
			switch {
			case c.cold:
				c.ev.evict()
			case c.in.Src != nil && !assumed:
				bench.Touch(c.in.Src.Host) // a loader has just written it; DMA leaves no trace in caches
			}
			covered, err := c.group(g, r, try == mostTries)
			if err != nil {
				return err
			}
			if covered || try == mostTries {
				break
			}
		}
	}
	return nil
}

// mostTries is how often a group is copied anew, behind a longer blocker, because
// host delays fell between its events.
const mostTries = 4

// group queues a blocker, a small copy, the start event, g copies and the stop event,
// and waits. The small copy puts both events onto the copy engine: the change from
// kernel to copy falls before them. covered is false when the blocker ended before all
// was queued; then nothing is recorded, unless last.
func (c *copier) group(g int, r *bench.Recorder, last bool) (covered bool, err error) {
	d, p, s := c.device, c.in, c.stream
	if c.dir == results.D2H {
		p = c.out
	}
	if err := d.Step(c.block, s); err != nil {
		return false, err
	}
	if err := d.Copy(c.primer.Dst, c.primer.Src, s); err != nil {
		return false, err
	}
	if err := d.Record(c.event[0], s); err != nil {
		return false, err
	}
	t := time.Now()
	for range g {
		if err := d.Copy(p.Dst, p.Src, s); err != nil {
			return false, err
		}
	}
	submit := time.Since(t)
	if err := d.Record(c.event[1], s); err != nil {
		return false, err
	}
	if covered, err = c.covered(); err != nil {
		return false, err
	}
	if err := d.SyncEvent(c.event[1]); err != nil {
		return false, err
	}
	if !covered && !last {
		return false, nil
	}
	late, overrun := c.lastLate()
	c.lateness(r, late, overrun)
	if !r.Warmup {
		c.groups++
		if !covered {
			c.gaps++
		}
	}
	elapsed, err := d.Elapsed(c.event[0], c.event[1])
	if err != nil {
		return false, err
	}
	r.Add(elapsed, c.images*int64(g), c.bytes*int64(g))
	r.Observe("submit", submit/time.Duration(g))
	return covered, nil
}

// covered tells whether the blocker still ran when everything was queued; if not,
// host delays may lie between the events, and the next blocker is longer.
func (c *copier) covered() (bool, error) {
	reached, err := c.device.Reached(c.event[0])
	if err == nil && reached {
		c.block = min(2*c.block, mostBlock)
	}
	return !reached, err
}

// sampleHost times n copies by the host's clock, each until it is complete.
func (c *copier) sampleHost(ctx context.Context, n int, r *bench.Recorder) error {
	d, p := c.device, c.in
	if c.dir == results.D2H {
		p = c.out
	}
	s := c.stream
	var evicting time.Duration // CPU time
	cpu := bench.ThreadCPU()
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.cold {
			before := bench.ThreadCPU()
			c.ev.evict()
			evicting += bench.ThreadCPU() - before
		}
		t0 := time.Now()
		if c.source != nil {
			copy(p.Src.Host, c.source.Host)
		}
		if err := d.Copy(p.Dst, p.Src, s); err != nil {
			return err
		}
		t1 := time.Now()
		late, overrun := c.lastLate() // of a pageable copy, which has waited already
		if err := d.SyncStream(s); err != nil {
			return err
		}
		elapsed := time.Since(t0)
		if c.source != nil {
			late, overrun = c.lastLate()
		}
		c.lateness(r, late, overrun)
		r.Add(elapsed, c.images, c.bytes)
		r.Observe("submit", t1.Sub(t0))
	}
	r.Set("cpu", (bench.ThreadCPU()-cpu-evicting).Seconds()/float64(n))
	return nil
}

// lastLate is by how much a stand-in missed its last deadline; 0 of a real device.
func (c *copier) lastLate() (late time.Duration, overrun bool) {
	if p, ok := c.device.(cuda.Pacer); ok {
		return p.Late()
	}
	return 0, false
}

// lateness notes by how much a stand-in missed a deadline.
func (c *copier) lateness(r *bench.Recorder, late time.Duration, overrun bool) {
	if !c.device.Info().Assumed || r.Warmup {
		return
	}
	if overrun {
		c.overrun++
	}
	c.late = append(c.late, late)
	r.Observe("lateness", late)
}

// latencyCopies is how many single copies a sample times.
const latencyCopies = 16

// measureLatency times copies one by one from the call to their end, as a caller
// that waits for each sees them. Back to back, copies hide part of it.
func (c *copier) measureLatency(r *bench.Recorder) error {
	if !c.latency {
		return nil
	}
	for range latencyCopies {
		t := time.Now()
		if err := c.device.Copy(c.in.Dst, c.in.Src, c.stream); err != nil {
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
	if !c.pin || c.pinned >= pinSamples {
		return nil
	}
	c.pinned++
	b, err := c.device.Alloc(c.kind(), int(c.bytes))
	if err != nil {
		return err
	}
	r.Set("pin", b.PinTime.Seconds())
	return b.Free()
}
