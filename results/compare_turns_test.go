package results

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// restlessRuns draws n runs for each of two sides, in turn or one side after the other,
// on a machine whose speed drifts by far more than what is to be found: samples are
// slowed down by others most of the time. The second side takes slower times as long.
func restlessRuns(t *testing.T, r *rand.Rand, n int, inTurn bool, slower float64) (a, b *Report) {
	t.Helper()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	var sides [2][]*Report
	drift := 0.0
	for k := range 2 * n {
		side := k / n
		if inTurn {
			side = k/2%2 ^ k%2 // a b, b a
		}
		if k%2 == 0 {
			drift += 0.05 * r.NormFloat64()
		}
		m := Metric{Name: "time", Unit: Seconds, Better: Lower}
		busy := r.Float64()
		for i := range 20 {
			v := math.Exp(drift+0.01*r.NormFloat64()) * []float64{1, slower}[side]
			if r.Float64() < busy {
				v *= 1 + 0.3*r.Float64()
			}
			m.Add(Sample{Value: v, N: 1, T: float64(i)})
		}
		Summarize(&m, SummaryOptions{})
		rep := report(measured(m, "mem", "pinned"))
		rep.Started = noon.Add(time.Duration(k) * time.Minute)
		sides[side] = append(sides[side], rep)
	}
	merged := func(all []*Report) *Report {
		m, err := Merge(all...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	return merged(sides[0]), merged(sides[1])
}

// TestRunsInTurn counts what is found between runs that were made in turn on a machine
// that drifts, and that equal ones are told apart no more often than they may be.
func TestRunsInTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const pairs = 200
	apart, found, fast := 0, 0, 0
	for range pairs {
		a, b := restlessRuns(t, r, 16, true, 1)
		if s := compareReports(t, a, b); s.Verdict == Better || s.Verdict == Worse {
			apart++
		}
		a, b = restlessRuns(t, r, 16, true, 1.05)
		s := compareReports(t, a, b)
		if s.Pairs != 16 || s.P == nil {
			t.Fatalf("%+v", s)
		}
		if s.Verdict == Worse {
			found++
			if strings.Contains(s.Reason, "fastest tenth") {
				fast++
			}
			if *s.RatioLo > *s.Ratio || *s.RatioHi < *s.Ratio || *s.RatioLo <= 1 {
				t.Errorf("worse by %s", ratioText(&s))
			}
		}
	}
	t.Logf("%d of %d falsely apart, %d found, %d of them by the fastest tenth", apart, pairs, found, fast)
	if apart > pairs*5/100 || found < pairs*90/100 || fast == 0 {
		t.Errorf("%d of %d equal pairs are told apart, want at most 5 %%; %d found, want 90 %%; %d of them by the fastest tenth, want some", apart, pairs, found, fast)
	}
}

// What drifts from one side to the other is no change of the second side.
func TestRunsAfterEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const pairs = 100
	apart := 0
	for range pairs {
		a, b := restlessRuns(t, r, 16, false, 1)
		if s := compareReports(t, a, b); s.Verdict == Better || s.Verdict == Worse {
			apart++
		} else if !strings.Contains(s.Reason, "in turn") && s.Verdict != Same && *s.P < Alpha {
			t.Errorf("%s: %q", s.Verdict, s.Reason)
		}
	}
	if apart > pairs*5/100 {
		t.Errorf("%d of %d equal pairs are told apart, want at most 5 %%", apart, pairs)
	}
}

func compareReports(t *testing.T, a, b *Report) MetricSide {
	t.Helper()
	c, err := Compare([]Labelled{{"a", a}, {"b", b}}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if inTurn := strings.Contains(c.Method, "signed-rank"); inTurn != (c.Cases[0].Metrics[0].Sides[1].Pairs > 0) {
		t.Errorf("method: %s", c.Method)
	}
	return c.Cases[0].Metrics[0].Sides[1]
}

// What a slow-down of most samples does to medians is not hidden by the fastest tenth,
// in which there is none.
func TestRunsInTurnByMedians(t *testing.T) {
	side := func(slow float64, at int) *Report {
		var all []*Report
		for k := range 10 {
			m := Metric{Name: "time", Unit: Seconds, Better: Lower}
			for i := range 20 {
				v := 1 + 0.001*float64((i*7+k)%20)
				if i >= 5 {
					v *= slow
				}
				m.Add(Sample{Value: v, N: 1, T: float64(i)})
			}
			Summarize(&m, SummaryOptions{})
			rep := report(measured(m, "mem", "pinned"))
			rep.Started = time.Unix(int64(120*k+60*at), 0)
			all = append(all, rep)
		}
		merged, err := Merge(all...)
		if err != nil {
			t.Fatal(err)
		}
		return merged
	}
	if s := compareReports(t, side(1, 0), side(1.1, 1)); s.Verdict != Worse || s.Reason != "" || math.Abs(*s.Ratio-1.1) > 0.01 {
		t.Errorf("%s by %s, %q", s.Verdict, ratioText(&s), s.Reason)
	}
	if s := compareReports(t, side(1, 0), side(1, 1)); s.Verdict != Same {
		t.Errorf("the same twice: %s", s.Verdict)
	}
}

func TestInTurn(t *testing.T) {
	starts := func(minutes ...int) *Report {
		r := &Report{Merged: len(minutes)}
		for _, m := range minutes {
			r.Starts = append(r.Starts, time.Unix(int64(60*m), 0))
		}
		return r
	}
	even := starts(0, 2, 4, 6, 8, 10, 12, 14)
	for _, test := range []struct {
		name string
		b    *Report
		want int
	}{
		{"in turn", starts(1, 3, 5, 7, 9, 11, 13, 15), 8},
		{"in another order", starts(15, 13, 11, 9, 7, 5, 3, 1), 8},
		{"one after the other", starts(20, 21, 22, 23, 24, 25, 26, 27), 0},
		{"too few", starts(1, 3, 5, 7, 9, 11, 13), 0},
		{"restarts of one run", &Report{Starts: even.Starts}, 0},
		{"without starts", &Report{Merged: 8}, 0},
	} {
		turns := inTurn(even, test.b)
		if len(turns) != test.want {
			t.Errorf("%s: %d pairs, want %d", test.name, len(turns), test.want)
		}
		for _, p := range turns {
			if d := test.b.Starts[p.other].Sub(even.Starts[p.base]).Abs(); d != time.Minute {
				t.Errorf("%s: a pair of runs %v apart", test.name, d)
			}
		}
	}
}
