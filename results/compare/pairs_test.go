package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/results"
)

// restlessRuns draws n runs for each of two sides, in turn or one side after the other,
// on a machine whose speed drifts by far more than what is to be found: samples are
// slowed down by others most of the time. The second side takes slower times as long.
func restlessRuns(t *testing.T, r *rand.Rand, n int, inTurn bool, slower float64) (a, b *results.Report) {
	t.Helper()
	var order []int
	for k := range 2 * n {
		side := k / n
		if inTurn {
			side = k/2%2 ^ k%2 // a b, b a
		}
		order = append(order, side)
	}
	drift, busy, made := 0.0, 0.0, 0
	return twoSides(t, order, 1, func(side, _, i int) float64 {
		if i == 0 {
			if made%2 == 0 {
				drift += 0.05 * r.NormFloat64()
			}
			made++
			busy = r.Float64()
		}
		v := math.Exp(drift+0.01*r.NormFloat64()) * []float64{1, slower}[side]
		if r.Float64() < busy {
			v *= 1 + 0.3*r.Float64()
		}
		return v
	})
}

// twoSides merges the reports of two sides, made each minute for the side that order says:
// runs of 20 values, as sample gives them for the report of that number of a side.
func twoSides(t *testing.T, order []int, runs int, sample func(side, report, i int) float64) (a, b *results.Report) {
	t.Helper()
	var sides [2][]*results.Report
	for k, side := range order {
		m := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower}
		for i := range 20 * runs {
			m.Samples = append(m.Samples, results.Sample{Value: sample(side, len(sides[side]), i), N: 1,
				T: float64(100*k + i), Run: i / 20})
		}
		results.Summarize(&m, results.SummaryOptions{})
		rep := report(measured(m, "mem", "pinned"))
		rep.Started = time.Unix(int64(60*k), 0)
		sides[side] = append(sides[side], rep)
	}
	return merged(t, sides[0]), merged(t, sides[1])
}

func merged(t *testing.T, all []*results.Report) *results.Report {
	t.Helper()
	m, err := results.Merge(all...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRestlessRuns counts what is found between runs on a machine that drifts, in turn and
// one side after the other, and that equal ones are told apart no more often than they may be.
func TestRestlessRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const pairs = 200
	apart := map[bool]int{}
	found, fast := 0, 0
	for range pairs {
		for _, inTurn := range []bool{true, false} {
			a, b := restlessRuns(t, r, 16, inTurn, 1)
			s := compareReports(t, a, b)
			if s.Verdict == Better || s.Verdict == Worse {
				apart[inTurn]++
			} else if !inTurn && !strings.Contains(s.Reason, "in turn") && s.Verdict != Same && *s.P < Alpha {
				t.Errorf("%s: %q", s.Verdict, s.Reason)
			}
		}
		a, b := restlessRuns(t, r, 16, true, 1.05)
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
	t.Logf("of %d: %v falsely apart by whether in turn, %d found, %d of them by the fastest tenth", pairs, apart, found,
		fast)
	if max(apart[true], apart[false]) > pairs*5/100 || found < pairs*90/100 || fast == 0 {
		t.Errorf("of %d pairs %v equal ones are told apart, want at most 5 %%; %d found, want 90 %%, %d by the "+
			"fastest tenth",
			pairs, apart, found, fast)
	}
}

func compareReports(t *testing.T, a, b *results.Report) MetricSide {
	t.Helper()
	c := compared(t, a, b)
	if s := c.Cases[0].Metrics[0].Sides[1]; s.Pairs > 0 && !strings.Contains(c.Method, "signed-rank") {
		t.Errorf("method: %s", c.Method)
	}
	return c.Cases[0].Metrics[0].Sides[1]
}

func TestPairedVerdicts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	fast := func(i int) bool { return i%20 < 3 }
	for _, test := range []struct {
		name    string
		runs    int
		sample  func(side, report, i int) float64
		verdict string
		pairs   int
	}{
		{"most samples slower, the fastest tenth not", 1, func(side, k, i int) float64 {
			v := 1 + 0.001*float64((i*7+k)%20)
			if i >= 5 && side == 1 {
				v *= 1.1
			}
			return v
		}, Worse, 10},
		{"the same", 1, func(_, k, i int) float64 { return 1 + 0.001*float64((i*7+k)%20) }, Same, 10},
		{"medians that are the same decide", 1, func(side, k, i int) float64 {
			if fast(i) && side == 1 {
				return 0.95
			}
			return 1 + 0.0001*float64(k+i) - 0.1*map[bool]float64{true: 1}[fast(i)]
		}, Same, 10},
		{"the fastest tenth says otherwise than the medians", 1, func(side, k, i int) float64 {
			if fast(i) {
				return 0.8 + 0.012*float64(side)
			}
			return (1 - 0.1*float64(side)) * (1 + 0.05*r.NormFloat64() + 0.15*float64((k+side)%2))
		}, results.Inconclusive, 10},
		{"reports of three restarts", 3, func(side, k, i int) float64 {
			return (1 + 0.05*float64(side)) * (1 + 0.1*float64(k) + 0.001*r.NormFloat64())
		}, Worse, 10},
		{"zeros among samples", 1, func(side, k, i int) float64 {
			if i == 0 && side == 0 {
				return 0
			}
			return 1 + 0.1*float64(side) + 0.001*r.NormFloat64()
		}, Worse, 10},
		{"mostly zeros", 1, func(side, k, i int) float64 {
			if k%2 == 0 {
				return 0
			}
			return 1 + 0.001*r.NormFloat64()
		}, results.Inconclusive, 0},
	} {
		a, b := twoSides(t, slices.Repeat([]int{0, 1}, 10), test.runs, test.sample)
		s := compareReports(t, a, b)
		reason := ""
		if test.pairs > 0 && test.verdict == results.Inconclusive {
			reason = "10 pairs of runs do not tell: more may"
		}
		if s.Verdict != test.verdict || s.Pairs != test.pairs || test.pairs > 0 && s.Reason != reason {
			t.Errorf("%s: %s of %d pairs (%q), want %s of %d", test.name, s.Verdict, s.Pairs, s.Reason, test.verdict,
				test.pairs)
		}
	}
}

func TestPairs(t *testing.T) {
	starts := func(minutes ...int) *results.Report {
		r := &results.Report{Merged: len(minutes)}
		for i, m := range minutes {
			r.Starts = append(r.Starts, results.Start{Run: i, At: time.Unix(int64(60*m), 0)})
		}
		return r
	}
	even := starts(0, 2, 4, 6, 8, 10, 12, 14, 16)
	for _, test := range []struct {
		name string
		b    *results.Report
		want int
	}{
		{"in turn", starts(1, 3, 5, 7, 9, 11, 13, 15, 17), 9},
		{"the other first", starts(-1, 1, 3, 5, 7, 9, 11, 13, 15), 9},
		{"given in another order", starts(17, 15, 13, 11, 9, 7, 5, 3, 1), 0},
		{"one after the other", starts(20, 21, 22, 23, 24, 25, 26, 27, 28), 0},
		{"too few", starts(1, 3, 5, 7, 9, 11, 13, 15), 0},
		{"one more", starts(1, 3, 5, 7, 9, 11, 13, 15, 17, 19), 9},
		{"many more", starts(1, 3, 5, 7, 9, 11, 13, 15, 17, 18, 19, 20), 0},
		{"not merged", &results.Report{Starts: even.Starts}, 0},
		{"without starts", &results.Report{Merged: 9}, 0},
	} {
		p := pairsOf(even, test.b)
		if p == nil {
			p = new(pairs)
		}
		if p.n != test.want {
			t.Errorf("%s: %d pairs, want %d", test.name, p.n, test.want)
		}
	}
	var every []int
	var m results.Metric
	for i := range 250 { // in the order of names: 0, 1, 10, 100, ...
		every = append(every, 2*(i*7%250))
		m.Samples = append(m.Samples, results.Sample{Value: float64(1 + i), Run: i})
	}
	a, b := starts(every...), starts(every...)
	for i := range b.Starts {
		b.Starts[i].At = b.Starts[i].At.Add(time.Minute)
	}
	if p := pairsOf(a, b); p == nil || p.n != 250 || p.shift(&m, &m, 50).pairs != maxPairs {
		t.Errorf("%+v of 250 pairs", p)
	}
}

// Run numbers in a file may be anything: they are no reason to take memory.
func TestMergeOfHugeRunNumbers(t *testing.T) {
	var reports []*results.Report
	for k := range 9 {
		m := quietMachine(uint64(k), 0).time(1)
		for i := range m.Samples {
			m.Samples[i].Run = math.MaxInt32 - 1
		}
		reports = append(reports, report(measured(m, "mem", "pinned")))
	}
	all := merged(t, reports)
	again := merged(t, []*results.Report{all, reports[0]})
	if len(all.Starts) != 9 || len(again.Starts) != 10 {
		t.Fatalf("%d and %d starts", len(all.Starts), len(again.Starts))
	}
	compared(t, again, all)
}

// The depression data of Hollander and Wolfe, "Nonparametric Statistical Methods", table
// 3.1, for which R's wilcox.test gives V = 40 and p = 0.03906.
func TestSignedRank(t *testing.T) {
	for _, test := range []struct {
		name string
		d    []float64
		want float64
	}{
		{"published", []float64{0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01}, 20.0 / 512},
		{"all one way", []float64{1, 2, 3, 4, 5, 6, 7, 8}, 2.0 / 256},
		{"the other way", []float64{-1, -2, -3, -4, -5, -6, -7, -8}, 2.0 / 256},
		{"even", []float64{1, -2, 3, -4, -5, 6}, 1},
		{"zeros say nothing", []float64{0, 1, 2, 3, 0, 4, 5, 6, 7, 8}, 2.0 / 256},
		// ranks of 4.5, rounded up to 5: 10 sets sum up to at most that
		{"equal ones", []float64{1, 1, 1, 1, 1, 1, 1, -1}, 2 * 10.0 / 256},
		{"nothing", nil, 1},
		{"only zeros", []float64{0, 0, 0}, 1},
	} {
		if got := signedRank(test.d); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: p = %g, want %g", test.name, got, test.want)
		}
	}
}

// TestPseudoMedian holds that the interval covers as often as it says, and that it
// belongs to the test: what lies outside of it is what the test tells from the center.
func TestPseudoMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	covered := 0
	const draws = 2000
	for range draws {
		d := make([]float64, 12)
		for i := range d {
			d[i] = 2 + r.NormFloat64()
			if i%4 == 0 { // heavy tails
				d[i] = 2 + 10*r.NormFloat64()
			}
		}
		center, lo, hi := pseudoMedian(d)
		if center < lo || center > hi || lo < slices.Min(d) || hi > slices.Max(d) {
			t.Fatalf("%g in %g to %g of %v", center, lo, hi, d)
		}
		if lo <= 2 && 2 <= hi {
			covered++
		}
		for _, at := range []float64{lo - 1e-9, hi + 1e-9} {
			moved := slices.Clone(d)
			for i := range moved {
				moved[i] -= at
			}
			if p := signedRank(moved); p > 0.05 {
				t.Fatalf("%g lies outside of %g to %g and has p = %g", at, lo, hi, p)
			}
		}
	}
	if covered < draws*94/100 || covered > draws*98/100 {
		t.Errorf("%d of %d intervals of 95 %% hold the center", covered, draws)
	}
}
