package bench

import (
	"context"
	"time"

	"dlbench/cuda"
)

// sampleEvents times n copies by the device's events, in groups behind a blocker.
func (c *copier) sampleEvents(ctx context.Context, n int, r *Recorder) error {
	limit := mostGroup
	if c.cold || c.device.Info().Assumed {
		limit = 1 // evict before each copy; see the lateness of each copy
	}
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		g := min(n, limit)
		n -= g
		if c.cold {
			c.ev.evict()
		}
		if err := c.group(g, r); err != nil {
			return err
		}
	}
	if err := c.measureLatency(r); err != nil {
		return err
	}
	return c.measurePin(r)
}

// group queues a blocker, the start event, g copies in each direction and the stop
// events, and waits. The link is read while the copies run.
func (c *copier) group(g int, r *Recorder) error {
	d, in, out := c.device, c.in, c.out
	first := c.stream[0]
	if err := d.Step(c.block, first); err != nil {
		return err
	}
	if err := d.Record(c.event[0], first); err != nil {
		return err
	}
	second := c.stream[1]
	if in.dst == nil {
		second = first
	} else if out.dst != nil {
		if err := d.WaitEvent(second, c.event[0]); err != nil {
			return err
		}
	}
	t := time.Now()
	for range g {
		if in.dst != nil {
			if err := d.Copy(in.dst, in.src, first); err != nil {
				return err
			}
		}
		if out.dst != nil {
			if err := d.Copy(out.dst, out.src, second); err != nil {
				return err
			}
		}
	}
	submit := time.Since(t)
	ends := c.event[1:2]
	if in.dst != nil && out.dst != nil {
		ends = c.event[1:3]
	}
	for i, e := range ends {
		s := second
		if i == 0 && in.dst != nil {
			s = first
		}
		if err := d.Record(e, s); err != nil {
			return err
		}
	}
	if err := c.covered(); err != nil {
		return err
	}
	if c.link != nil && len(c.read) < mostLinkReads {
		c.read = append(c.read, c.link.Read())
	}
	var elapsed time.Duration
	for i, e := range ends {
		if err := d.SyncEvent(e); err != nil {
			return err
		}
		if i == 0 { // assumed directions end together, so the second wait is none
			c.lateness(r)
		}
	}
	for _, e := range ends {
		l, err := d.Elapsed(c.event[0], e)
		if err != nil {
			return err
		}
		elapsed = max(elapsed, l)
	}
	moved := c.bytes * int64(g)
	if len(ends) == 2 {
		moved *= 2
	}
	r.Add(elapsed, c.images*int64(g), moved)
	r.Observe("submit", submit/time.Duration(g*len(ends)))
	return nil
}

// mostLinkReads bounds how often a case reads its link.
const mostLinkReads = 20

// covered tells whether the blocker still ran when everything was queued; if not,
// host delays may lie between the events, and the next blocker is longer.
func (c *copier) covered() error {
	c.groups++
	reached, err := c.device.Reached(c.event[0])
	if err != nil || !reached {
		return err
	}
	c.gaps++
	c.block = min(2*c.block, mostBlock)
	return nil
}

// sampleHost times n copies by the host's clock, each until it is complete.
func (c *copier) sampleHost(ctx context.Context, n int, r *Recorder) error {
	d, p := c.device, c.in
	if c.dir == dirOut {
		p = c.out
	}
	s := c.stream[0]
	var cpu time.Duration
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.cold {
			c.ev.evict()
		}
		cpu0 := threadCPU()
		t0 := time.Now()
		if c.source != nil {
			copy(p.src.Host, c.source.Host)
		}
		if err := d.Copy(p.dst, p.src, s); err != nil {
			return err
		}
		t1 := time.Now()
		if c.source == nil {
			c.lateness(r)
		}
		if c.link != nil && i == 0 && len(c.read) < mostLinkReads && c.source != nil {
			c.read = append(c.read, c.link.Read())
		}
		if err := d.SyncStream(s); err != nil {
			return err
		}
		elapsed := time.Since(t0)
		cpu += threadCPU() - cpu0
		if c.source != nil {
			c.lateness(r)
		}
		r.Add(elapsed, c.images, c.bytes)
		r.Observe("submit", t1.Sub(t0))
	}
	if c.link != nil && len(c.read) < mostLinkReads { // the call held us; right after it is as near as we get
		c.read = append(c.read, c.link.Read())
	}
	r.Set("cpu", cpu.Seconds()/float64(n))
	return nil
}

// lateness notes by how much a stand-in missed its deadline.
func (c *copier) lateness(r *Recorder) {
	p, ok := c.device.(cuda.Pacer)
	if !ok {
		return
	}
	late, overrun := p.Late()
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
func (c *copier) measureLatency(r *Recorder) error {
	if !c.latency {
		return nil
	}
	for range latencyCopies {
		t := time.Now()
		if err := c.device.Copy(c.in.dst, c.in.src, c.stream[0]); err != nil {
			return err
		}
		if err := c.device.SyncStream(c.stream[0]); err != nil {
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
func (c *copier) measurePin(r *Recorder) error {
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
