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
	c, err := openCopier(env, &bufferPool{device: d, evictor: evictorFor(env)}, newPoint(env, d.Info(), p))
	benchtest.Must(t, err)
	return c
}

// tampered is a device of which some calls are watched or changed; what is nil is left
// alone.
type tampered struct {
	cuda.Device
	info    *cuda.Info
	bind    error
	alloc   func(cuda.Kind) error
	call    func(name string) error // before a call that a group of copies is made of
	reached func() bool             // true makes all events so
	settled func(*cuda.Buffer)
}

func (d tampered) Info() cuda.Info {
	if d.info != nil {
		return *d.info
	}
	return d.Device.Info()
}

func (d tampered) Bind() (func(), error) {
	if d.bind != nil {
		return nil, d.bind
	}
	return d.Device.Bind()
}

func (d tampered) Alloc(k cuda.Kind, n int) (*cuda.Buffer, error) {
	if d.alloc != nil {
		if err := d.alloc(k); err != nil {
			return nil, err
		}
	}
	return d.Device.Alloc(k, n)
}

func (d tampered) before(name string, call func() error) error {
	if d.call != nil {
		if err := d.call(name); err != nil {
			return err
		}
	}
	return call()
}

func (d tampered) Step(l time.Duration, s cuda.Stream) error {
	return d.before("step", func() error { return d.Device.Step(l, s) })
}

func (d tampered) Copy(dst, src *cuda.Buffer, s cuda.Stream) error {
	name := "out"
	switch {
	case dst.Size == primerBytes:
		name = "primer"
	case dst.Kind == cuda.OnDevice:
		name = "in"
	}
	return d.before(name, func() error { return d.Device.Copy(dst, src, s) })
}

func (d tampered) Record(e cuda.Event, s cuda.Stream) error {
	return d.before("record", func() error { return d.Device.Record(e, s) })
}

func (d tampered) SyncEvent(e cuda.Event) error {
	return d.before("sync", func() error { return d.Device.SyncEvent(e) })
}

func (d tampered) Reached(e cuda.Event) (ok bool, err error) {
	err = d.before("reached?", func() (err error) {
		ok, err = d.Device.Reached(e)
		return err
	})
	return ok || d.reached != nil && d.reached(), err
}

func (d tampered) Settle(b *cuda.Buffer) error {
	err := d.Device.Settle(b)
	if d.settled != nil {
		d.settled(b)
	}
	return err
}

// traced is a device that writes its calls down.
func traced(t *testing.T, log *[]string) cuda.Device {
	return tampered{Device: benchtest.Sim(t, "sim:gen3x16"), call: func(name string) error {
		*log = append(*log, name)
		return nil
	}}
}

// The order of a group is the measurement: a blocker, a small copy that brings the
// copy engine in, the start, the copies alone, the stop.
func TestOrderOfAGroup(t *testing.T) {
	for dir, want := range map[string][]string{
		results.H2D: {"step", "primer", "record", "in", "record", "reached?", "sync"},
		results.D2H: {"step", "primer", "record", "out", "record", "reached?", "sync"},
	} {
		var log []string
		r := opened(t, traced(t, &log), params{Dir: dir, Mem: "pinned"})
		log = nil
		benchtest.Must(t, r.Sample(t.Context(), 1, &bench.Recorder{}))
		if !slices.Equal(log, want) {
			t.Errorf("%s: %q, want %q", dir, log, want)
		}
		benchtest.Must(t, r.Close())
	}
}

// A group that its blocker did not cover contains host delays: it is copied anew, and
// kept only when it never works.
func TestUncoveredGroupsAreCopiedAnew(t *testing.T) {
	for _, c := range []struct{ gaps, recorded, kept int }{{0, 1, 0}, {2, 1, 0}, {mostTries, 1, 1}} {
		gaps := c.gaps
		hasty := tampered{Device: benchtest.Sim(t, "sim:gen3x16"), reached: func() bool {
			gaps--
			return gaps >= 0
		}}
		k := opened(t, hasty, params{Dir: results.H2D, Mem: "pinned"})
		var rec bench.Recorder
		benchtest.Must(t, k.Sample(t.Context(), 1, &rec))
		if rec.Items != int64(k.batch.Images*c.recorded) || k.groups != 1 || k.gaps != c.kept || rec.Elapsed <= 0 {
			t.Errorf("%d gaps: %+v recorded, %d groups kept, %d of them with a gap", c.gaps, rec, k.groups, k.gaps)
		}
	}
}

// What a copier gathers besides samples must not come from warm-ups.
func TestWarmUpsLeaveNoTrace(t *testing.T) {
	k := opened(t, benchtest.Sim(t, "sim:gen3x16"), params{Dir: results.H2D, Mem: "pinned"})
	for _, warm := range []bool{true, true, false} {
		benchtest.Must(t, k.Sample(t.Context(), 3, &bench.Recorder{Warmup: warm}))
	}
	if len(k.late) != 1 || len(k.late[0]) != 3 || k.groups != 3 {
		t.Errorf("lateness values %v, %d groups; want those of one sample of 3 copies", k.late, k.groups)
	}
}

// Where nothing can be page-locked, as in some containers, pageable copies must be
// measured all the same, without the link.
func TestPageableWithoutPageLockedMemory(t *testing.T) {
	d := tampered{Device: benchtest.Sim(t, "sim:gen3x16"), info: &cuda.Info{Spec: "cuda:0", PCI: "0000:65:00.0"},
		alloc: func(k cuda.Kind) error {
			if k == cuda.Pinned {
				return cuda.OutOfMemory
			}
			return nil
		}}
	k := opened(t, d, params{Dir: results.H2D, Mem: "pageable"})
	benchtest.Must(t, k.Sample(t.Context(), 1, &bench.Recorder{}))
	r := results.Result{Status: results.OK}
	k.Report(&r)
	wantResult(t, r, results.OK, "link unknown", "no page-locked memory")
}
