package pcie

import (
	"slices"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/cuda"
	"dlbench/results"
)

// opened is the open case of a point over a device; it copies 1 MiB.
func opened(t *testing.T, d cuda.Device, p params) *copier {
	t.Helper()
	env := benchtest.Env()
	p.Bytes = 1 << 20
	c, err := openCopier(env, &bufferPool{device: d, evictor: newEvictor(1)}, newPoint(env, d.Info(), p))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// traced writes down the calls that a group of copies is made of.
type traced struct {
	cuda.Device
	log *[]string
}

func (d traced) note(s string) { *d.log = append(*d.log, s) }

func (d traced) Step(l time.Duration, s cuda.Stream) error {
	d.note("step")
	return d.Device.Step(l, s)
}

func (d traced) Copy(dst, src *cuda.Buffer, s cuda.Stream) error {
	switch {
	case dst.Size == primerBytes:
		d.note("primer")
	case dst.Kind == cuda.OnDevice:
		d.note("in")
	default:
		d.note("out")
	}
	return d.Device.Copy(dst, src, s)
}

func (d traced) Record(e cuda.Event, s cuda.Stream) error {
	d.note("record")
	return d.Device.Record(e, s)
}

func (d traced) WaitEvent(s cuda.Stream, e cuda.Event) error {
	d.note("wait")
	return d.Device.WaitEvent(s, e)
}

func (d traced) Reached(e cuda.Event) (bool, error) {
	d.note("reached?")
	return d.Device.Reached(e)
}

func (d traced) SyncEvent(e cuda.Event) error {
	d.note("sync")
	return d.Device.SyncEvent(e)
}

// The order of a group is the measurement: a blocker, a small copy that brings the
// copy engine in, the start, the copies alone, the stop.
func TestOrderOfAGroup(t *testing.T) {
	for dir, want := range map[string][]string{
		results.H2D: {"step", "primer", "record", "in", "record", "reached?", "sync"},
		results.D2H: {"step", "primer", "record", "out", "record", "reached?", "sync"},
	} {
		var log []string
		r := opened(t, traced{benchtest.Sim(t, "sim:gen3x16"), &log}, params{Dir: dir, Mem: "pinned"})
		log = nil
		if err := r.Sample(t.Context(), 1, &bench.Recorder{}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(log, want) {
			t.Errorf("%s: %q, want %q", dir, log, want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// hasty is a device whose blockers end at once for the first few groups.
type hasty struct {
	cuda.Device
	gaps *int
}

func (d hasty) Reached(e cuda.Event) (bool, error) {
	if *d.gaps > 0 {
		*d.gaps--
		return true, nil
	}
	return d.Device.Reached(e)
}

// A group that its blocker did not cover holds host delays: it is copied anew, and
// kept only when it never works.
func TestUncoveredGroupsAreCopiedAnew(t *testing.T) {
	for _, c := range []struct{ gaps, recorded, kept int }{{0, 1, 0}, {2, 1, 0}, {mostTries, 1, 1}} {
		gaps := c.gaps
		k := opened(t, hasty{benchtest.Sim(t, "sim:gen3x16"), &gaps}, params{Dir: results.H2D, Mem: "pinned"})
		var rec bench.Recorder
		if err := k.Sample(t.Context(), 1, &rec); err != nil {
			t.Fatal(err)
		}
		if rec.Items != k.images()*int64(c.recorded) || k.groups != 1 || k.gaps != c.kept || rec.Elapsed <= 0 {
			t.Errorf("%d gaps: %d copies recorded, %d groups kept, %d of them with a gap, %v", c.gaps, rec.Items, k.groups, k.gaps, rec.Elapsed)
		}
	}
}

// What a copier gathers beside its samples must not come from warm-ups.
func TestWarmUpsLeaveNoTrace(t *testing.T) {
	k := opened(t, benchtest.Sim(t, "sim:gen3x16"), params{Dir: results.H2D, Mem: "pinned"})
	for _, warm := range []bool{true, true, false} {
		if err := k.Sample(t.Context(), 3, &bench.Recorder{Warmup: warm}); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.late) != 3 || len(k.lateAt) != 1 || k.groups != 3 {
		t.Errorf("%d lateness values, %d samples, %d groups; want those of one sample of 3 copies", len(k.late), len(k.lateAt), k.groups)
	}
}
