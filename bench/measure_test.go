package bench_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/cuda"
	"dlbench/results"
)

// script is a Runner that does as its fields say.
type script struct {
	name     string
	group    string // "" for name
	device   string
	mode     string
	skip     string
	log      *[]string                    // of calls; nil where nobody asks
	fail     func(call int) error         // by number of the Sample call, from 0
	lengthOf func(call int) time.Duration // of a repetition; nil for a millisecond
	check    func() error
	calls    int
	counted  int // calls that were no warm-up
	opened   int
	closed   int
}

func (s *script) note(text string) {
	if s.log != nil {
		*s.log = append(*s.log, text)
	}
}

func (s *script) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	call := s.calls
	s.calls++
	s.note(s.name)
	if s.fail != nil {
		if err := s.fail(call); err != nil {
			return err
		}
	}
	if !r.Warmup {
		s.counted++
	}
	length := time.Millisecond
	if s.lengthOf != nil {
		length = s.lengthOf(call)
	}
	r.Add(length*time.Duration(n), int64(n), int64(100*n))
	return nil
}

func (s *script) Close() error {
	s.note(s.name + " closed")
	s.closed++
	return nil
}

func (s *script) Report(r *results.Result) {
	r.References = append(r.References, results.Reference{Name: "mine", Metric: "time"})
	r.Warnings = append(r.Warnings, "odd")
}

func (s *script) Check() error {
	if s.check == nil {
		return nil
	}
	return s.check()
}

var testMetrics = []bench.MetricDef{{Name: "time", Unit: "s", Better: results.Lower},
	{Name: "bandwidth", Unit: "B/s", Better: results.Higher}}

func (s *script) asCase() bench.Case {
	group := cmp.Or(s.group, s.name)
	return bench.Case{Params: results.Params{{Key: "case", Value: s.name}}, Group: group, Metrics: testMetrics,
		Device: s.device, Mode: s.mode, Skip: s.skip, Open: func(context.Context, bench.Env) (bench.Runner, error) {
			s.opened++
			return s, nil
		}}
}

// measured is the result of the script alone.
func (s *script) measured(t *testing.T, cfg bench.Config) *results.Result {
	t.Helper()
	return benchtest.Measure(t, cfg, s.asCase())["test/case="+s.name]
}

func TestCasesOfAGroupAlternate(t *testing.T) {
	var log []string
	a, b := &script{name: "a", group: "x", log: &log}, &script{name: "b", group: "x", log: &log}
	c := &script{name: "c", log: &log}
	got := benchtest.Measure(t, benchtest.Config(4), a.asCase(), c.asCase(), b.asCase())
	// three calibrations each, then in turn one repetition to warm up and two samples; c, alone, needs no warming
	want := strings.Fields("a a a b b b a a a b b b a a a b b b")
	want = append(want, "a closed", "b closed")
	want = append(want, "c", "c", "c", "c", "c", "c", "c", "c closed")
	if !slices.Equal(log, want) {
		t.Errorf("calls\n%v, want\n%v", log, want)
	}
	if a.counted != 4 || b.counted != 4 {
		t.Errorf("%d and %d calls were no warm-ups, want 4 samples", a.counted, b.counted)
	}
	for name, r := range got {
		if m := r.Metric("time"); r.Status != results.OK || len(m.Samples) != 4 || m.Median != 0.001 {
			t.Errorf("%s: %s, %+v", name, r.Status, m)
		}
		if m := r.Metric("bandwidth"); m.Median != 100_000 {
			t.Errorf("%s: bandwidth %v, want 100 kB/s", name, m.Median)
		}
	}
}

// A case whose next sample does not fit in its time is done with those that it has; without any it failed.
func TestACaseThatRunsOutOfTimeKeepsItsSamples(t *testing.T) {
	for slow, want := range map[int]string{5: results.OK, 3: results.Failed} { // calls from 0; 3 are to calibrate
		synctest.Test(t, func(t *testing.T) {
			cfg := benchtest.Config(4)
			s := &script{name: "a", fail: func(call int) error {
				if call < slow {
					return nil
				}
				time.Sleep(cfg.Rule.Timeout + time.Second)
				return context.DeadlineExceeded
			}}
			r := benchtest.Measure(t, cfg, s.asCase())["test/case=a"]
			warned := strings.Contains(strings.Join(r.Warnings, "\n"), "stopped by --timeout")
			if m := r.Metric("time"); r.Status != want || warned != (want == results.OK) ||
				want == results.OK && len(m.Samples) != slow-3 {
				t.Errorf("call %d is slow: %s (%s), %v, %+v", slow, r.Status, r.Reason, r.Warnings, m)
			}
		})
	}
}

func TestSamplesLastLongEnough(t *testing.T) {
	s := &script{name: "a", lengthOf: func(int) time.Duration { return 30 * time.Microsecond }}
	for _, x := range s.measured(t, benchtest.Config(4)).Metric("time").Samples {
		if x.N != 34 { // 34 x 30 us is the first above 1 ms
			t.Errorf("%d repetitions a sample, want 34", x.N)
		}
	}
}

func TestInterruptKeepsWhatIsThere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &script{name: "a", fail: func(call int) error {
		if call == 8 {
			cancel()
		}
		return nil
	}}
	never := &script{name: "b"}
	got := map[string]*results.Result{}
	cases := []bench.Case{a.asCase(), never.asCase()}
	err := bench.Measure(ctx, benchtest.Config(1000), "test", cases, func(r results.Result) error {
		got[r.Name] = &r
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the interrupt", err)
	}
	r := got["test/case=a"]
	if r.Status != results.OK || len(r.Metric("time").Samples) == 0 ||
		!strings.Contains(strings.Join(r.Warnings, "\n"), "unfinished") {
		t.Errorf("interrupted case: %+v", r)
	}
	if _, ok := got["test/case=b"]; ok || never.calls > 0 {
		t.Error("a case that never ran is in the results")
	}
	if a.closed != 1 {
		t.Error("the interrupted case was not closed")
	}
}

// What could not be measured is in no metric, where 0 would look measured.
func TestUnknownIsNoZero(t *testing.T) {
	var r bench.Recorder
	for metric, value := range map[string]float64{"cpu": 0, "memory": -1, "read": 2} {
		r.SetKnown(metric, value)
	}
	tally := bench.NewTally([]bench.MetricDef{{Name: "cpu"}, {Name: "memory"}, {Name: "read"}})
	tally.Add(&r, results.Sample{N: 1})
	if ms := tally.Metrics(); len(ms) != 1 || ms[0].Name != "read" || ms[0].Median != 2 {
		t.Errorf("%+v", ms)
	}
}

func TestRepeatOpensAnew(t *testing.T) {
	a := &script{name: "a"}
	cfg := benchtest.Config(4)
	cfg.Env.Repeat = 3
	r := a.measured(t, cfg)
	if len(r.References) != 1 || !slices.Equal(r.Warnings, []string{"odd"}) {
		t.Errorf("references %v, warnings %v of three restarts, want one each", r.References, r.Warnings)
	}
	runs := map[int]int{}
	for _, s := range r.Metric("time").Samples {
		runs[s.Run]++
	}
	if len(runs) != 3 || runs[0] != 4 || runs[1] != 4 || runs[2] != 4 {
		t.Errorf("samples by restart: %v, want 4 in each of 3", runs)
	}
	if a.closed != 3 {
		t.Errorf("closed %d times, want 3", a.closed)
	}
}

func TestNoisyRoundsAreFlaggedAndRepeated(t *testing.T) {
	cfg := benchtest.Config(4)
	spins := 0
	cfg.Spin = func() float64 { // the first round of two spins is noisy
		if spins++; spins <= 2 {
			return 0.5
		}
		return 0
	}
	s := (&script{name: "a"}).measured(t, cfg).Metric("time").Samples
	if len(s) != 6 {
		t.Fatalf("%d samples, want 4 quiet and 2 noisy", len(s))
	}
	for i, x := range s {
		if noisy := slices.Contains(x.Flags, "noisy"); noisy != (i < 2) {
			t.Errorf("sample %d: flags %v", i, x.Flags)
		}
	}
}

// A spin that a CPU quota stopped says nothing of other programs: it is taken again, and a
// round is not called noisy for it.
func TestQuotaIsNoNoise(t *testing.T) {
	for stops, noisy := range map[int]bool{0: true, 1: true, 1000: false} {
		root := t.TempDir()
		benchtest.Write(t, filepath.Join(root, "proc/self/mountinfo"), "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n")
		cfg := benchtest.Config(4)
		cfg.Env.Root = root
		spins := 0
		cfg.Spin = func() float64 {
			if spins++; spins <= stops {
				benchtest.Write(t, filepath.Join(root, "sys/fs/cgroup/cpu.stat"), fmt.Sprintf("nr_throttled %d\n", spins))
			}
			return 0.5
		}
		for _, s := range (&script{name: "a"}).measured(t, cfg).Metric("time").Samples {
			if slices.Contains(s.Flags, "noisy") != noisy {
				t.Errorf("%d spins stopped by the quota: flags %v", stops, s.Flags)
			}
		}
	}
}

func TestEmitErrorEndsTheRun(t *testing.T) {
	full := errors.New("disk full")
	a := &script{name: "a"}
	fail := func(results.Result) error { return full }
	err := bench.Measure(t.Context(), benchtest.Config(4), "test", []bench.Case{a.asCase()}, fail)
	if !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	if a.closed != 1 {
		t.Error("not closed")
	}
}

func TestUnfinishedIsEmittedEachRound(t *testing.T) {
	var seen []string
	a := &script{name: "a"}
	cases := []bench.Case{a.asCase()}
	err := bench.Measure(t.Context(), benchtest.Config(6), "test", cases, func(r results.Result) error {
		seen = append(seen, fmt.Sprintf("%d %v", len(r.Metric("time").Samples), r.Warnings))
		return nil
	})
	want := []string{"2 [unfinished: 2 samples so far]", "4 [unfinished: 4 samples so far]", "6 [odd]", "6 [odd]"}
	if err != nil || !slices.Equal(seen, want) {
		t.Errorf("emitted %q, %v; want %q", seen, err, want)
	}
}

// A repetition that was interrupted while calibrating must not make all later
// samples too short.
func TestCalibrationSurvivesAnInterruption(t *testing.T) {
	for _, slow := range []int{0, 1, 2} {
		s := &script{name: "a", lengthOf: func(call int) time.Duration {
			if call == slow {
				return 50 * time.Millisecond
			}
			return 100 * time.Microsecond
		}}
		n, err := bench.Calibrate(t.Context(), s, 5*time.Millisecond)
		if err != nil || n != 50 {
			t.Errorf("call %d slow: %d repetitions, %v; want 50 of 100 us for 5 ms", slow, n, err)
		}
	}
}

// failing is what a script does whose calls from one on end with err.
func failing(from int, err error) func(call int) error {
	return func(call int) error {
		if call < from {
			return nil
		}
		return err
	}
}

// late is what a script does whose calls from one on come back after an hour.
func late(from int) func(call int) error {
	return func(call int) error {
		if call >= from {
			time.Sleep(time.Hour)
		}
		return nil
	}
}

// What becomes of cases of which some fail, stand still or cannot run, and of those beside them.
func TestWhatEndsCases(t *testing.T) {
	lost := &cuda.CallError{Call: "cuMemcpyHtoDAsync_v2", Code: cuda.IllegalAddress, Text: "CUDA_ERROR_ILLEGAL_ADDRESS"}
	checks := 0
	// The modes of one device, each in a group of its own.
	modes := func(stuck ...string) (all []*script) {
		for _, name := range []string{"pinned", "pageable", "pageable2", "staged"} {
			s := &script{name: name, device: "cuda:0", mode: strings.TrimSuffix(name, "2")}
			if slices.Contains(stuck, s.mode) {
				s.fail = late(0)
			}
			all = append(all, s)
		}
		return all
	}
	for name, c := range map[string]struct {
		scripts []*script
		want    []string // status, samples, how often it is closed: part of the reason
	}{
		"a failure ends one case": {[]*script{
			{name: "a", group: "x", fail: failing(6, fmt.Errorf("copy: %w", errors.New("broken half-way")))},
			{name: "b", group: "x"}}, []string{"failed 2 closed 1: broken half-way", "ok 4 closed 1"}},
		"a lost device ends its cases": {[]*script{{name: "a", group: "x", device: "cuda:0", fail: failing(0, lost)},
			{name: "b", group: "x", device: "cuda:0"}, {name: "c", group: "x", device: "cuda:1"}},
			[]string{"failed 0 closed 1: ILLEGAL", "failed 0 closed 0: not run", "ok 4 closed 1"}},
		"a case that is skipped is not opened": {[]*script{{name: "a", skip: "no reason to"}},
			[]string{"skipped 0 closed 0: no reason to"}},
		"a call that stands still is left behind": {[]*script{{name: "a", group: "x", device: "cuda:0", fail: late(4)},
			{name: "b", group: "x", device: "cuda:0"}, {name: "c"}},
			[]string{"failed 0 closed 0: gave up waiting", "failed 0 closed 0: not run on", "ok 4 closed 1"}},
		"no mode stands still": {modes(),
			[]string{"ok 4 closed 1", "ok 4 closed 1", "ok 4 closed 1", "ok 4 closed 1"}},
		"a mode that stands still ends its cases alone": {modes("pageable"), []string{"ok 4 closed 1",
			"failed 0 closed 0: gave up waiting", "failed 0 closed 0: not run", "ok 4 closed 1"}},
		"two modes that stand still end all": {modes("pinned", "pageable"), []string{"failed 0 closed 0: gave up waiting",
			"failed 0 closed 0: gave up waiting", "failed 0 closed 0: not run", "failed 0 closed 0: not run"}},
		"a self-check that fails is tried again": {[]*script{
			{name: "bad", check: func() error { return errors.New("late") }},
			{name: "late", check: func() error {
				if checks++; checks < 4 {
					return errors.New("late")
				}
				return nil
			}}},
			[]string{"failed 12 closed 1: self-check: late", "ok 8 closed 1"}},
		"a runner that panics": {[]*script{{name: "a", fail: func(int) error { panic("out of range") }}},
			[]string{"failed 0 closed 1: out of range"}},
		"one that is cancelled by itself is not visited for ever": {[]*script{
			{name: "a", fail: failing(2, context.Canceled)}}, []string{"failed 0 closed 1: gave up"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var cases []bench.Case
			for _, s := range c.scripts {
				cases = append(cases, s.asCase())
			}
			got := benchtest.Measure(t, benchtest.Config(4), cases...)
			for i, s := range c.scripts {
				r, samples := got["test/case="+s.name], 0
				if m := r.Metric("time"); m != nil {
					samples = len(m.Samples)
				}
				have := fmt.Sprintf("%s %d closed %d", r.Status, samples, s.closed)
				want, reason, _ := strings.Cut(c.want[i], ": ")
				if have != want || !strings.Contains(r.Reason, reason) || s.skip != "" && s.opened > 0 {
					t.Errorf("%s: %s: %s: %q, want %q; opened %d times", name, s.name, have, r.Reason, c.want[i], s.opened)
				}
			}
			time.Sleep(10 * time.Hour) // what is late ends
		})
	}
}
