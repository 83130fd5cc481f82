package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dlbench/results"
)

// A sample or two far from the others do not hide a difference of nearly all samples, whatever
// the number of samples and however busy the machine was; nor do they make one.
func TestExtremeSamples(t *testing.T) {
	side := func(seed uint64, n int, center float64, noisy bool, extreme ...float64) results.Metric {
		m := quietMachine(seed, 0)
		m.n = n
		all := m.time(center)
		for i, x := range extreme {
			all.Samples[(2*i+1)*n/5].Value = x
		}
		for i := range all.Samples {
			if noisy {
				all.Samples[i].Flags = []string{"noisy"}
			}
		}
		results.Summarize(&all, results.SummaryOptions{})
		return all
	}
	for _, n := range []int{10, 20, 40} {
		for _, noisy := range []bool{false, true} {
			slow, fast := side(1, n, 2, noisy, 0.9), side(2, n, 1, noisy)
			if n > 10 { // with fewer the rank test cannot tell any more
				fast = side(2, n, 1, noisy, 2.2)
			}
			if s := compareTwo(t, fast, slow); s.Verdict != Worse {
				t.Errorf("%d samples, noisy %v: a doubling is %s, %q", n, noisy, s.Verdict, s.Reason)
			}
			if s := compareTwo(t, slow, fast); s.Verdict != Better {
				t.Errorf("%d samples, noisy %v: a halving is %s, %q", n, noisy, s.Verdict, s.Reason)
			}
			if s := compareTwo(t, side(3, n, 1, noisy, 9), side(4, n, 1, noisy, 0.1)); s.Verdict != Same &&
				s.Verdict != results.Inconclusive {
				t.Errorf("%d samples, noisy %v: the same with extremes is %s", n, noisy, s.Verdict)
			}
		}
	}
	spread := func(seed uint64, center float64) results.Metric {
		m := quietMachine(seed, 0)
		m.within, m.phi = 0.5, 0
		return m.time(center)
	}
	if s := compareTwo(t, spread(5, 1), spread(6, 1.3)); s.Verdict != results.Inconclusive {
		t.Errorf("samples that overlap widely: %s", s.Verdict)
	}
}

func TestVerdicts(t *testing.T) {
	q := quietMachine
	higher := func(m results.Metric) results.Metric { m.Better = results.Higher; return m }
	open := func(m results.Metric) results.Metric { m.Better = ""; return m }
	few := func(n int) results.Metric {
		m := quietMachine(3, 0).time(1)
		m.Samples = m.Samples[:n]
		results.Summarize(&m, results.SummaryOptions{})
		return m
	}
	drift, level := few(10), few(10)
	for i := range 10 {
		drift.Samples[i].Value, level.Samples[i].Value = float64(i+1), 1
	}
	results.Summarize(&drift, results.SummaryOptions{})
	results.Summarize(&level, results.SummaryOptions{})
	millis := q(1, 0).time(1)
	millis.Unit = "ms"
	r := rand.New(rand.NewPCG(5, 5))
	around := func(center, spread float64) results.Metric {
		m := results.Metric{Name: "stall", Unit: results.Seconds, Better: results.Lower}
		for range 20 {
			m.Samples = append(m.Samples, results.Sample{Value: center + spread*r.NormFloat64(), N: 1})
		}
		results.Summarize(&m, results.SummaryOptions{})
		return m
	}
	restless := func(seed uint64) machine { m := q(seed, 5); m.across, m.within = 0.06, 0.05; return m }
	tests := []struct {
		name    string
		a, b    results.Metric
		verdict string
		reason  string // part of it
	}{
		{"slower", q(1, 0).time(1), q(2, 0).time(1.1), Worse, ""},
		{"faster", q(1, 0).time(1), q(2, 0).time(0.9), Better, ""},
		{"a higher rate", higher(q(1, 0).time(1)), higher(q(2, 0).time(1.1)), Better, ""},
		{"a lower rate", higher(q(1, 0).time(1)), higher(q(2, 0).time(0.9)), Worse, ""},
		{"no direction", open(q(1, 0).time(1)), open(q(2, 0).time(1.1)), Differs, ""},
		{"the same run", q(1, 0).time(1), q(1, 0).time(1), Same, ""},
		{"single runs 2 % apart", q(1, 0).time(1), q(2, 0).time(1.022), results.Inconclusive, "single runs"},
		{"restarts 2 % apart", q(1, 5).time(1), q(2, 5).time(1.025), Worse, ""},
		{"restarts the same", q(1, 8).time(1), q(2, 8).time(1), Same, ""},
		{"restarts at other levels each", restless(1).time(1), restless(2).time(1.15), results.Inconclusive,
			"busy with something else"},
		{"restarts far apart", restless(1).time(1), restless(2).time(2), Worse, ""},
		{"three restarts far apart", q(1, 3).time(1), q(2, 3).time(1.3), Worse, ""},
		{"one run against restarts", q(1, 0).time(1), q(2, 5).time(1.1), Worse, ""},
		{"three samples", few(3), q(2, 0).time(1.1), results.Inconclusive, "a has 3 samples, of at least 6"},
		{"one sample", q(2, 0).time(1.1), few(1), results.Inconclusive, "b has 1 sample, of at least 6"},
		{"a drift", drift, q(2, 0).time(20), results.Inconclusive, "a has samples that follow each other"},
		{"no deviation", level, level, Same, ""},
		{"other units", q(1, 0).time(1), millis, NotCompared, `in "s" against "ms"`},
		{"other directions", q(1, 0).time(1), higher(q(1, 0).time(1)), NotCompared,
			"disagree on which way time is better"},
		{"no metric", q(1, 0).time(1), results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower},
			NotCompared, "b has no time"},
		// what logarithms cannot be had of
		{"zero and zero", around(0, 0), around(0, 0), Same, ""},
		{"from zero", around(0, 0), around(1, 0.01), Worse, ""},
		{"negative", around(-2, 0.01), around(-3, 0.01), Better, ""},
		{"around zero", around(0, 1), around(0.1, 1), results.Inconclusive, ""},
		{"huge", around(-math.MaxFloat64, 0), around(math.MaxFloat64, 0), Worse, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := compareTwo(t, test.a, test.b)
			if s.Verdict != test.verdict || !strings.Contains(s.Reason, test.reason) || test.reason == "" &&
				s.Reason != "" {
				t.Errorf("%s, %q; want %s, %q", s.Verdict, s.Reason, test.verdict, test.reason)
			}
			if test.verdict == NotCompared {
				if s.Ratio != nil {
					t.Errorf("a ratio of %g", *s.Ratio)
				}
				return
			}
			// The other way round says the opposite.
			opposite := map[string]string{Better: Worse, Worse: Better}
			back := compareTwo(t, test.b, test.a)
			want := test.verdict
			if o, ok := opposite[want]; ok {
				want = o
			}
			if back.Verdict != want {
				t.Errorf("the other way round %s, want %s", back.Verdict, want)
			}
			if positive := test.a.Min > 0 && test.b.Min > 0; !positive && (s.RatioLo != nil || s.RatioHi != nil) {
				t.Errorf("an interval of a ratio, of %+v", s)
			} else if positive && math.Abs(*s.Ratio**back.Ratio-1) > 1e-9 {
				t.Errorf("ratios %g and %g are not each other's inverse", *s.Ratio, *back.Ratio)
			}
		})
	}
}

// TestVerdictRates draws pairs of runs that vary as those of a quiet machine do, and
// counts how often equal ones are told apart and how often 5 % are found.
func TestVerdictRates(t *testing.T) {
	const pairs = 400
	for _, test := range []struct {
		name string
		m    machine
	}{
		{"single runs", machine{n: 40, within: 0.01, across: 0.008}},
		{"single correlated runs", machine{n: 60, within: 0.01, phi: 0.3, across: 0.008}},
		{"5 restarts", machine{runs: 5, n: 10, within: 0.02, across: 0.008}},
		{"5 correlated restarts", machine{runs: 5, n: 30, within: 0.02, phi: 0.5, across: 0.008}},
		{"10 restarts", machine{runs: 10, n: 10, within: 0.03, across: 0.01}},
	} {
		test.m.r = rand.New(rand.NewPCG(11, uint64(test.m.runs)))
		apart, found := 0, 0
		for range pairs {
			a := test.m.time(1)
			if s := compareTwo(t, a, test.m.time(1)); s.Verdict == Better || s.Verdict == Worse {
				apart++
			}
			if compareTwo(t, a, test.m.time(1.05)).Verdict == Worse {
				found++
			}
		}
		t.Logf("%s: %.1f %% falsely apart, 5 %% found in %.1f %%", test.name, 100*float64(apart)/pairs,
			100*float64(found)/pairs)
		if apart > pairs*5/100 || found < pairs*90/100 {
			t.Errorf("%s: want at most 5 %% of equal pairs told apart and 90 %% of slow-downs found", test.name)
		}
	}
}

func TestAssumedAgainstMeasured(t *testing.T) {
	m := quietMachine(1, 0).time(1)
	slow := quietMachine(2, 0).time(1.5)
	both := assumedCase(m, "mem", "pinned")
	both.Assumed = []string{"link", "step"}
	for _, test := range []struct {
		name    string
		a, b    results.Result
		verdict string
		reason  string
	}{
		{"measured against assumed", measured(m, "mem", "pinned"), assumedCase(m, "mem", "pinned"), NotCompared,
			"measured against simulated link"},
		{"assumed against measured", assumedCase(m, "mem", "pinned"), measured(m, "mem", "pinned"), NotCompared,
			"simulated link against measured"},
		{"other parts assumed", assumedCase(m, "mem", "pinned"), both, NotCompared,
			"simulated link against simulated link and step"},
		{"assumed, slower", assumedCase(m, "mem", "pinned"), assumedCase(slow, "mem", "pinned"), WorseAssumed, ""},
		{"assumed, faster", assumedCase(slow, "mem", "pinned"), assumedCase(m, "mem", "pinned"), BetterAssumed, ""},
		{"assumed, the same", assumedCase(m, "mem", "pinned"), assumedCase(m, "mem", "pinned"), SameAssumed, ""},
	} {
		s := compareReports(t, report(test.a), report(test.b))
		if s.Verdict != test.verdict || s.Reason != test.reason || s.P != nil || s.RatioLo != nil {
			t.Errorf("%s: %+v; want %s, %q and no test", test.name, s, test.verdict, test.reason)
		}
		if compared := test.reason == ""; compared != (s.Ratio != nil) {
			t.Errorf("%s: ratio %v", test.name, s.Ratio)
		}
	}
}
