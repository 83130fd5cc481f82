package pcie

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// besideCopier is a copier whose copies are measured while others run.
type besideCopier struct {
	*copier
	others  []*beside
	samples int // without warm-ups
	gapped  int // of those, kept although something stood still meanwhile
}

// openBeside opens a copier and what copies beside it: the same device in the other
// direction, or the other devices in the same one.
func openBeside(env bench.Env, p *pool, ev *evictor, spec copySpec, place placement) (_ bench.Runner, err error) {
	r, err := openCopy(env, p, ev, spec, place)
	if err != nil {
		return nil, err
	}
	c := &besideCopier{copier: r.(*copier)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	devices, dir := others(env, p.device.Info()), spec.dir
	if spec.concurrent == results.ConcurrentOpposite {
		devices, dir = []cuda.Device{p.device}, results.D2H
		if spec.dir == results.D2H {
			dir = results.H2D
		}
	}
	for i, d := range devices {
		b, err := newBeside(d, dir, spec.bytes, env.Seed+uint64(i)+3, placeNear(env, d.Info()).cpus, besideLimit)
		c.others = append(c.others, b)
		if err != nil {
			return nil, c.blame(b, err)
		}
	}
	return c, nil
}

// blame says whose error it is. Another device's is no failure of this one: the case
// cannot run, and that device's own cases tell of its failure.
func (c *besideCopier) blame(b *beside, err error) error {
	if b.device == c.device {
		return err
	}
	return &bench.SkipError{Reason: fmt.Sprintf("%s, which should copy at the same time, failed: %s", b.device.Info().Spec, results.OneLine(err))}
}

// leastBesideCopies is how many copies make a sample at least: the first of them may
// find the others anywhere in theirs.
const leastBesideCopies = 8

// Size implements Sizer.
func (c *besideCopier) Size(n int) int { return max(n, leastBesideCopies) }

// Sample measures while all others copy. It does so anew when one of them stood still,
// which would flatter the measured copies, and keeps that only when it never works.
func (c *besideCopier) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	for try := 1; ; try++ {
		before, had := *r, c.stoodStill()
		if err := c.meanwhile(ctx, n, r); err != nil {
			return err
		}
		gap := c.stoodStill() > had
		if gap && try < mostTries {
			*r = before
			continue
		}
		if !r.Warmup {
			c.samples++
			if gap {
				c.gapped++
			}
		}
		return nil
	}
}

// stoodStill is how often the others had nothing left to copy so far.
func (c *besideCopier) stoodStill() (n int64) {
	for _, b := range c.others {
		n += b.gaps.Load()
	}
	return n
}

// meanwhile starts the others, measures, and stops them.
func (c *besideCopier) meanwhile(ctx context.Context, n int, r *bench.Recorder) error {
	stop := make(chan struct{})
	var running []*beside
	var err error
	for _, b := range c.others {
		select {
		case b.turns <- stop:
			running = append(running, b)
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(b.limit):
			b.stuck = true
			err = c.blame(b, errBesideStuck)
		}
	}
	for _, b := range running {
		select {
		case <-b.begun:
		case e := <-b.ended: // before its first copy
			b.ended <- e
			err = errors.Join(err, c.blame(b, e))
		case <-ctx.Done():
			err = errors.Join(err, ctx.Err())
		case <-time.After(b.limit):
			b.stuck = true
			err = errors.Join(err, c.blame(b, errBesideStuck))
		}
	}
	if err == nil {
		err = c.copier.Sample(ctx, n, r)
	}
	close(stop)
	for _, b := range running {
		if e := b.wait(); e != nil {
			err = errors.Join(err, c.blame(b, e))
		}
	}
	return err
}

// Report adds what copied meanwhile.
func (c *besideCopier) Report(r *results.Result) {
	c.copier.Report(r)
	p := results.As[results.PCIeProof](r.Proof)
	var beside []string
	copies := int64(0)
	for _, b := range c.others {
		beside = append(beside, b.device.Info().Spec+" "+b.dir)
		copies += b.copies.Load()
	}
	p.Beside, p.BesideCopies, p.SamplesWithGap = beside, &copies, &c.gapped
	r.Proof = results.RecordOf(p)
	if c.gapped*10 > c.samples {
		r.Warnings = append(r.Warnings, fmt.Sprintf("in %d of %d samples what copied meanwhile stood still at times: this machine was too busy to keep its queue filled", c.gapped, c.samples))
	}
}

// flattered tells whether what copied beside r stood still in more than a tenth of its
// samples, which leaves r faster than it would have been.
func flattered(r *results.Result) bool {
	gapped := results.As[results.PCIeProof](r.Proof).SamplesWithGap
	return gapped != nil && 10**gapped > len(r.Metric("time").Samples)
}

// Close ends the others first.
func (c *besideCopier) Close() error {
	var errs []error
	for _, b := range c.others {
		close(b.turns)
		if err := b.wait(); err != nil && b.device == c.device {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, c.copier.Close())...)
}
