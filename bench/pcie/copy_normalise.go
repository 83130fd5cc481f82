package pcie

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/loader/transform"
	"dlbench/results"
)

// metricNormalised is the time from the start of the copy of a uint8 batch, nhwc, to
// the end of the kernel that made float32, nchw, normalised, of it: what stands beside
// the copy of the float32 batch. An assumed link has no such metric, since no time is
// assumed for the kernel.
var metricNormalised = bench.MetricDef{Name: "normalised", Unit: results.Seconds, Better: results.Lower, Resolution: 0.5e-6}

// normalises tells whether the case also measures metricNormalised.
func (s copySpec) normalises(d cuda.Info) bool {
	b := s.article
	return !d.AssumedLink() && (s.concurrent == "" || s.concurrent == results.ConcurrentNone) && !s.remote && b.DType == "uint8" && b.Channels == 3 && s.bytes == b.Bytes() && s.dir == results.H2D && s.mem == "pinned" && !s.cold
}

// normaliser is a copier's part for metricNormalised.
type normaliser struct {
	what     cuda.Normalisation
	result   *cuda.Buffer
	verified int   // images whose values were compared with the host's
	none     error // why it is not measured
}

// Copies with their kernels that one group has at most, and images that are verified.
const (
	mostNormalised = 16
	mostVerified   = 32
)

// openNormalised allocates the result and checks once that the device's values are the
// host's, bit for bit.
func (c *copier) openNormalised() (err error) {
	k := &c.normaliser
	b := c.article
	k.what = cuda.Normalisation{Images: b.Images, Height: b.Height, Width: b.Width, Planar: true,
		Mean: [3]float64{transform.MeanR, transform.MeanG, transform.MeanB}, Deviation: [3]float64{transform.StdR, transform.StdG, transform.StdB}}
	k.result, err = c.pool.get(cuda.OnDevice, 2, int64(k.what.ResultBytes()))
	if errors.Is(err, cuda.OutOfMemory) {
		k.none = err
		return nil
	}
	if err != nil {
		return err
	}
	first := k.what
	first.Images = min(first.Images, mostVerified)
	got, err := c.device.Alloc(cuda.Pageable, first.ResultBytes())
	if err != nil {
		return err
	}
	defer got.Free()
	d, s := c.device, c.stream
	if err := errors.Join(d.Copy(c.in.Dst, c.in.Src, s), d.Normalise(k.result, c.in.Dst, first, s), d.Copy(got, k.result.View(got.Size), s), d.SyncStream(s)); err != nil {
		return err
	}
	want := make([]byte, got.Size)
	first.Apply(want, c.in.Src.Host)
	if !bytes.Equal(got.Host, want) {
		return fmt.Errorf("%d images normalised on the device have other values than on the host", first.Images)
	}
	k.verified = first.Images
	return nil
}

// measureNormalised times a group of copies, each with its kernel, behind a blocker.
func (c *copier) measureNormalised(n int, r *bench.Recorder) error {
	k := &c.normaliser
	if !c.normalise || k.none != nil {
		return nil
	}
	if k.verified == 0 {
		if err := c.openNormalised(); err != nil || k.none != nil {
			return err
		}
	}
	n = min(n, mostNormalised)
	for try := 1; ; try++ {
		covered, elapsed, err := c.normalisedGroup(n)
		if err != nil {
			return err
		}
		if covered || try == mostTries {
			c.groups++
			if !covered {
				c.gaps++
			}
			r.Observe(metricNormalised.Name, elapsed/time.Duration(n))
			return nil
		}
	}
}

// normalisedGroup is group for n copies, each followed by its kernel.
func (c *copier) normalisedGroup(n int) (covered bool, elapsed time.Duration, err error) {
	d, s := c.device, c.stream
	if err := errors.Join(d.Step(c.block, s), d.Copy(c.primer.Dst, c.primer.Src, s), d.Record(c.event[0], s)); err != nil {
		return false, 0, err
	}
	for range n {
		if err := errors.Join(d.Copy(c.in.Dst, c.in.Src, s), d.Normalise(c.result, c.in.Dst, c.what, s)); err != nil {
			return false, 0, err
		}
	}
	if err := d.Record(c.event[1], s); err != nil {
		return false, 0, err
	}
	if covered, err = c.covered(); err != nil {
		return false, 0, err
	}
	if err := d.SyncEvent(c.event[1]); err != nil {
		return false, 0, err
	}
	elapsed, err = d.Elapsed(c.event[0], c.event[1])
	return covered, elapsed, err
}

// reportNormalised says what vouches for metricNormalised, or why it is not there.
func (c *copier) reportNormalised(r *results.Result, p *results.PCIeProof) {
	p.NormalisedImages = c.verified
	if c.none != nil {
		r.Warnings = append(r.Warnings, "not normalised on the device: "+results.OneLine(c.none))
	}
}

// onDevice says what copying uint8 and normalising on the device takes beside copying
// float32; "" where it was not measured.
func (c deviceCopies) onDevice() string {
	full, levels := c.batch, c.batch
	full.DType, levels.DType = "float32", "uint8"
	a, b := c.find(results.H2D, "pinned", "float32", full.Bytes()), c.find(results.H2D, "pinned", "uint8", levels.Bytes())
	if a == nil || b == nil || b.Metric(metricNormalised.Name) == nil {
		return ""
	}
	q := ratio(b.Metric(metricNormalised.Name), a.Metric("time"))
	return fmt.Sprintf("; copied as uint8 and normalised on the device, a batch takes %.3f (%.3f-%.3f) of the float32 batch's time", q.value, q.lo, q.hi)
}
