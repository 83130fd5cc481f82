package bench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	log      *[]string                    // of calls; nil where nobody asks
	fail     func(call int) error         // by number of the Sample call, from 0
	lengthOf func(call int) time.Duration // of a repetition; nil for a millisecond
	check    func() error
	calls    int
	counted  int // calls that were no warm-up
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

func (s *script) asCase(group string) bench.Case {
	return bench.Case{Params: results.Params{{Key: "case", Value: s.name}}, Group: group, Metrics: testMetrics,
		Open: func(context.Context, bench.Env) (bench.Runner, error) { return s, nil }}
}

func TestCasesOfAGroupAlternate(t *testing.T) {
	var log []string
	a, b, c := &script{name: "a", log: &log}, &script{name: "b", log: &log}, &script{name: "c", log: &log}
	got := benchtest.Measure(t, benchtest.Config(4), a.asCase("x"), c.asCase("y"), b.asCase("x"))
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

func TestSamplesLastLongEnough(t *testing.T) {
	s := &script{name: "a", lengthOf: func(int) time.Duration { return 30 * time.Microsecond }}
	got := benchtest.Measure(t, benchtest.Config(4), s.asCase("x"))
	for _, x := range got["test/case=a"].Metric("time").Samples {
		if x.N != 34 { // 34 x 30 us is the first above 1 ms
			t.Errorf("%d repetitions a sample, want 34", x.N)
		}
	}
}

func TestFailureEndsOneCaseOnly(t *testing.T) {
	broken := errors.New("broken half-way")
	a := &script{name: "a", fail: func(call int) error {
		if call == 6 {
			return fmt.Errorf("copy: %w", broken)
		}
		return nil
	}}
	b := &script{name: "b"}
	got := benchtest.Measure(t, benchtest.Config(6), a.asCase("x"), b.asCase("x"))
	if r := got["test/case=a"]; r.Status != results.Failed || !strings.Contains(r.Reason, "broken half-way") ||
		len(r.Metric("time").Samples) == 0 {
		t.Errorf("a: %+v", r)
	}
	if r := got["test/case=b"]; r.Status != results.OK || len(r.Metric("time").Samples) != 6 {
		t.Errorf("b: %+v", r)
	}
	if a.closed != 1 {
		t.Error("a was not closed")
	}
}

func TestLostDeviceEndsItsCases(t *testing.T) {
	lost := &script{name: "a", fail: func(call int) error {
		return &cuda.CallError{Call: "cuMemcpyHtoDAsync_v2", Code: cuda.IllegalAddress,
			Text: "CUDA_ERROR_ILLEGAL_ADDRESS"}
	}}
	same, other := &script{name: "b"}, &script{name: "c"}
	ca, cb, cc := lost.asCase("x"), same.asCase("x"), other.asCase("x")
	ca.Device, cb.Device, cc.Device = "cuda:0", "cuda:0", "cuda:1"
	got := benchtest.Measure(t, benchtest.Config(4), ca, cb, cc)
	if r := got["test/case=b"]; r.Status != results.Failed || same.calls != 0 ||
		!strings.Contains(r.Reason, "not run") {
		t.Errorf("the lost device's next case: %s %q after %d calls", r.Status, r.Reason, same.calls)
	}
	if r := got["test/case=c"]; r.Status != results.OK {
		t.Errorf("the other device's case: %s %q", r.Status, r.Reason)
	}
}

func TestSkippedCaseIsNotOpened(t *testing.T) {
	c := bench.Case{Params: results.Params{{Key: "case", Value: "a"}}, Metrics: testMetrics, Skip: "no reason to",
		Open: func(context.Context, bench.Env) (bench.Runner, error) {
			t.Error("opened")
			return nil, errors.New("opened")
		}}
	got := benchtest.Measure(t, benchtest.Config(4), c)
	r := got["test/case=a"]
	if r == nil || r.Status != results.Skipped || r.Reason != "no reason to" {
		t.Errorf("%+v", r)
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
	cases := []bench.Case{a.asCase("x"), never.asCase("y")}
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

func TestStuckCallIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever := make(chan struct{})
		defer close(forever)
		a := &script{name: "a", fail: func(call int) error {
			if call == 4 { // after calibration
				<-forever
			}
			return nil
		}}
		b := &script{name: "b"}
		ca, cb := a.asCase("x"), b.asCase("x")
		ca.Device, cb.Device = "cuda:0", "cuda:0"
		c := &script{name: "c"}
		got := benchtest.Measure(t, benchtest.Config(4), ca, cb, c.asCase("z"))
		if r := got["test/case=a"]; r.Status != results.Failed || !strings.Contains(r.Reason, "gave up waiting") {
			t.Errorf("a: %s %q", r.Status, r.Reason)
		}
		if r := got["test/case=b"]; r.Status != results.Failed || !strings.Contains(r.Reason, "not run on") ||
			b.closed > 0 {
			t.Errorf("a case of the device that stands still: %s %q, closed %d times", r.Status, r.Reason, b.closed)
		}
		if r := got["test/case=c"]; r.Status != results.OK {
			t.Errorf("c: %s %q", r.Status, r.Reason)
		}
	})
}

// A mode that does not come back, for ever or only late, ends its own cases; the other modes
// of the device are measured, until a second one does not come back either.
func TestStuckModeEndsItsCasesAlone(t *testing.T) {
	for _, c := range []struct {
		name  string
		stuck []string // modes
		ok    []string
	}{
		{"none", nil, []string{"pinned", "pageable", "pageable2", "staged"}},
		{"one", []string{"pageable"}, []string{"pinned", "staged"}},
		{"two", []string{"pinned", "pageable"}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var cases []bench.Case
			for _, name := range []string{"pinned", "pageable", "pageable2", "staged"} {
				mode := strings.TrimSuffix(name, "2")
				one := (&script{name: name, fail: func(call int) error {
					if slices.Contains(c.stuck, mode) {
						time.Sleep(time.Hour)
					}
					return nil
				}}).asCase(name)
				one.Device, one.Mode = "cuda:0", mode
				cases = append(cases, one)
			}
			got := benchtest.Measure(t, benchtest.Config(4), cases...)
			for _, x := range cases {
				name := x.Params.Text("case")
				r := got["test/case="+name]
				if want := slices.Contains(c.ok, name); want != (r.Status == results.OK) {
					t.Errorf("%s stuck: %s is %s %q", c.name, name, r.Status, r.Reason)
				}
			}
			time.Sleep(10 * time.Hour) // what is late ends
		})
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
	cfg.Repeat = 3
	got := benchtest.Measure(t, cfg, a.asCase("x"))
	if r := got["test/case=a"]; len(r.References) != 1 || !slices.Equal(r.Warnings, []string{"odd"}) {
		t.Errorf("references %v, warnings %v of three restarts, want one each", r.References, r.Warnings)
	}
	runs := map[int]int{}
	for _, s := range got["test/case=a"].Metric("time").Samples {
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
	a := &script{name: "a"}
	cfg := benchtest.Config(4)
	spins := 0
	cfg.Spin = func() float64 { // the first round of two spins is noisy
		spins++
		if spins <= 2 {
			return 0.5
		}
		return 0
	}
	got := benchtest.Measure(t, cfg, a.asCase("x"))
	s := got["test/case=a"].Metric("time").Samples
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
		stat := filepath.Join(root, "sys/fs/cgroup/cpu.stat")
		if err := os.MkdirAll(filepath.Dir(stat), 0o755); err != nil {
			t.Fatal(err)
		}
		cfg := benchtest.Config(4)
		cfg.Env.Root = root
		spins := 0
		cfg.Spin = func() float64 {
			if spins++; spins <= stops {
				if err := os.WriteFile(stat, fmt.Appendf(nil, "nr_throttled %d\n", spins), 0o644); err != nil {
					t.Error(err)
				}
			}
			return 0.5
		}
		got := benchtest.Measure(t, cfg, (&script{name: "a"}).asCase("x"))
		for _, s := range got["test/case=a"].Metric("time").Samples {
			if slices.Contains(s.Flags, "noisy") != noisy {
				t.Errorf("%d spins stopped by the quota: flags %v", stops, s.Flags)
			}
		}
	}
}

func TestFailedSelfCheckIsRetriedThenFails(t *testing.T) {
	good := 0
	bad := &script{name: "bad", check: func() error { return errors.New("late") }}
	late := &script{name: "late", check: func() error {
		if good++; good < 4 {
			return errors.New("late")
		}
		return nil
	}}
	got := benchtest.Measure(t, benchtest.Config(4), bad.asCase("x"), late.asCase("y"))
	r := got["test/case=bad"]
	n := len(r.Metric("time").Samples)
	if r.Status != results.Failed || n != 12 || !strings.Contains(r.Reason, "self-check: late") {
		t.Errorf("bad: %s %q after %d samples, want a failure after 3 times 4", r.Status, r.Reason, n)
	}
	if r := got["test/case=late"]; r.Status != results.OK || len(r.Metric("time").Samples) != 8 {
		t.Errorf("late: %s %q after %d samples, want 8", r.Status, r.Reason, len(r.Metric("time").Samples))
	}
}

func TestEmitErrorEndsTheRun(t *testing.T) {
	full := errors.New("disk full")
	a := &script{name: "a"}
	fail := func(results.Result) error { return full }
	err := bench.Measure(t.Context(), benchtest.Config(4), "test", []bench.Case{a.asCase("x")}, fail)
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
	cases := []bench.Case{a.asCase("x")}
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

// A runner that panics fails, and so does one that ends by a cancellation of its own, which is
// not visited again and again.
func TestRunnersThatEndOtherwise(t *testing.T) {
	for want, fail := range map[string]func(call int) error{
		"out of range": func(int) error { panic("out of range") },
		"gave up": func(call int) error {
			if call > 1 {
				return context.Canceled
			}
			return nil
		},
	} {
		s := &script{name: "a", fail: fail}
		r := benchtest.Measure(t, benchtest.Config(4), s.asCase("x"))["test/case=a"]
		if r == nil || r.Status != results.Failed || !strings.Contains(r.Reason, want) {
			t.Errorf("%+v, want a failure with %q", r, want)
		}
	}
}
