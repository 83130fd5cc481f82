package results

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func metric(values ...float64) *Metric {
	m := &Metric{Name: "time", Unit: Seconds, Better: Lower}
	for _, v := range values {
		m.Samples = append(m.Samples, Sample{Value: v, N: 1})
	}
	return m
}

func TestSummarize(t *testing.T) {
	tests := []struct {
		name     string
		values   []float64
		opt      SummaryOptions
		median   float64
		min, max float64
		lo, hi   float64 // both 0 for no interval
		mad      float64
		outliers int
		reason   string
	}{
		{name: "none", reason: "no samples"},
		{name: "one", values: []float64{3}, median: 3, min: 3, max: 3, reason: ReasonFew},
		{name: "five", values: []float64{5, 1, 4, 2, 3}, median: 3, min: 1, max: 5, mad: 1, reason: ReasonFew},
		{name: "six take the whole range", values: []float64{6, 1, 5, 2, 4, 3}, median: 3.5, min: 1, max: 6, lo: 1,
			hi: 6, mad: 1.5},
		// Ranks 2 and 8 of 9 hold the median with 96.1 %, P(2 <= Binomial(9, 1/2) <= 7).
		{name: "nine", values: []float64{9, 1, 8, 2, 7, 3, 6, 4, 5}, median: 5, min: 1, max: 9, lo: 2, hi: 8, mad: 2},
		{name: "all equal", values: []float64{2, 2, 2, 2, 2, 2}, median: 2, min: 2, max: 2, lo: 2, hi: 2},
		{name: "assumed", values: []float64{6, 1, 5, 2, 4, 3}, opt: SummaryOptions{NoInterval: true},
			median: 3.5, min: 1, max: 6, mad: 1.5, reason: ReasonAssumed},
		{name: "an outlier is counted and kept", values: []float64{10, 100, 9, 10, 11, 9, 11}, median: 10, min: 9,
			max: 100,
			lo:  9, hi: 100, mad: 1, outliers: 1},
		{name: "the resolution is the floor of the deviation", values: []float64{10, 12, 10, 10, 9.5, 10, 10.5},
			opt: SummaryOptions{Resolution: 1}, median: 10, min: 9.5, max: 12, lo: 9.5, hi: 12},
		{name: "above the resolution", values: []float64{10, 12, 10, 10, 9.5, 10, 10.5},
			opt: SummaryOptions{Resolution: 0.1}, median: 10, min: 9.5, max: 12, lo: 9.5, hi: 12, outliers: 1},
		{name: "no scale, no outlier", values: []float64{10, 12, 10, 10, 10, 10, 10}, median: 10, min: 10, max: 12,
			lo: 10, hi: 12},
		{name: "a drift counts as few samples", values: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, median: 5.5, min: 1,
			max: 10, mad: 2.5,
			reason: "10 samples follow each other so closely that they count as 1.8: minimum and maximum instead"},
		{name: "not finite", values: []float64{math.NaN(), 4, math.Inf(1), 2}, median: 3, min: 2, max: 4, mad: 1,
			reason: ReasonFew + "; samples dropped because they were not finite: 2"},
		{name: "huge", values: []float64{-math.MaxFloat64, math.MaxFloat64}, min: -math.MaxFloat64,
			max: math.MaxFloat64, mad: math.MaxFloat64, reason: ReasonFew},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := metric(test.values...)
			want := Metric{Median: test.median, Min: test.min, Max: test.max, MAD: test.mad, Outliers: test.outliers,
				Reason: test.reason}
			if test.lo != 0 || test.hi != 0 {
				want.Lo, want.Hi, want.Confidence = &test.lo, &test.hi, 0.95
			}
			for round := range 2 { // summarizing again changes nothing
				Summarize(m, test.opt)
				got := *m
				got.Name, got.Unit, got.Better, got.Samples, got.Dropped = "", "", "", nil, 0
				if !reflect.DeepEqual(got, want) {
					t.Errorf("round %d: %+v, want %+v", round, got, want)
				}
			}
		})
	}
}

func TestSummarizeAgain(t *testing.T) {
	none := &Metric{Reason: "the device has no events"}
	if Summarize(none, SummaryOptions{}); none.Reason != "the device has no events" {
		t.Errorf("without samples: reason = %q", none.Reason)
	}
	m := metric(3, 1, 2)
	Summarize(m, SummaryOptions{})
	if m.Reason != ReasonFew {
		t.Fatalf("reason = %q", m.Reason)
	}
	for _, v := range []float64{2.5, 1.5, 2, math.NaN()} {
		m.Samples = append(m.Samples, Sample{Value: v, N: 1})
	}
	Summarize(m, SummaryOptions{})
	if m.Lo == nil || m.Dropped != 1 || m.Reason != "samples dropped because they were not finite: 1" {
		t.Errorf("lo = %v, dropped = %d, reason = %q", m.Lo, m.Dropped, m.Reason)
	}
}

// TestCoverage draws from processes whose median is known and counts how often
// the interval holds it. Too short an interval shows as a low share, an
// uninformative one as many missing intervals.
func TestCoverage(t *testing.T) {
	normal := func(r *rand.Rand) float64 { return r.NormFloat64() }
	tests := []struct {
		name    string
		phi     float64 // of the AR(1) process
		n       int
		share   float64 // of intervals that hold the median, at least
		missing float64 // share of runs without an interval, at most
	}{
		{"independent", 0, 10, 0.94, 0.20},
		{"independent", 0, 30, 0.94, 0.001},
		{"independent", 0, 200, 0.94, 0},
		{"correlated", 0.3, 30, 0.90, 0.06},
		{"correlated", 0.5, 40, 0.90, 0.10},
		{"correlated", 0.5, 200, 0.90, 0},
		{"strongly correlated", 0.8, 200, 0.90, 0.01},
	}
	const runs = 2000
	for _, test := range tests {
		r := rand.New(rand.NewPCG(1, uint64(test.n)))
		holds, missing := 0, 0
		for range runs {
			m := &Metric{}
			x := normal(r) / math.Sqrt(1-test.phi*test.phi)
			for range test.n {
				m.Samples = append(m.Samples, Sample{Value: math.Exp(x), N: 1}) // skewed, as times are; median 1
				x = test.phi*x + normal(r)
			}
			Summarize(m, SummaryOptions{})
			switch {
			case m.Lo == nil:
				missing++
			case *m.Lo <= 1 && 1 <= *m.Hi:
				holds++
			}
		}
		share, none := float64(holds)/float64(runs-missing), float64(missing)/runs
		t.Logf("%s %g, n = %d: %.1f %% hold the median, %.1f %% without an interval", test.name, test.phi, test.n,
			100*share, 100*none)
		if share < test.share || none > test.missing {
			t.Errorf("%s %g, n = %d: want at least %.0f %% and at most %.1f %%", test.name, test.phi, test.n,
				100*test.share, 100*test.missing)
		}
	}
}

func TestAutocorrelation(t *testing.T) {
	for _, test := range []struct {
		name       string
		run        int // length of a restart, 0 for a single run
		values     []float64
		least, max float64
	}{
		{"alternating", 0, []float64{1, 2, 1, 2, 1, 2, 1, 2}, -1, -0.8},
		{"an outlier leaves the drift visible", 0, []float64{1, 2, 3, 4, 1e6, 6, 7, 8}, 0.2, 1},
		{"samples of different restarts are no neighbours", 1, []float64{1, 9, 1, 9, 1, 9, 1, 9}, 0, 0},
		{"restarts that differ make samples alike", 3, []float64{1.1, 1.2, 1.1, 5.1, 5.2, 5.1, 3.1, 3.2, 3.1}, 0.5, 1},
	} {
		m := metric(test.values...)
		for i := range m.Samples {
			m.Samples[i].Run = i / cmp.Or(test.run, len(m.Samples))
		}
		if r := autocorrelation(m.Samples); r < test.least || r > test.max {
			t.Errorf("%s: %v, want %v to %v", test.name, r, test.least, test.max)
		}
		if n := EffectiveSamples(m.Samples); test.max <= 0 && n != float64(len(m.Samples)) {
			t.Errorf("%s: worth %v samples, want all", test.name, n)
		}
	}
}

func TestQuantiles(t *testing.T) {
	for _, test := range []struct {
		p     float64
		least int
	}{{0.5, 20}, {0.9, 100}, {0.95, 200}, {0.99, 1000}, {0.999, 10000}, {0.01, 1000}} {
		obs := make([]float64, test.least)
		for i := range obs {
			obs[i] = float64(len(obs) - i)
		}
		qs := Quantiles(obs, test.p)
		want := 1 + test.p*float64(test.least-1)
		if len(qs) != 1 || qs[0].P != test.p || math.Abs(qs[0].Value-want) > 1e-6 {
			t.Errorf("p%g of %d: %v, want %v", 100*test.p, test.least, qs, want)
		}
		obs[0] = math.NaN() // counts as no observation
		if qs := append(Quantiles(obs[1:], test.p), Quantiles(obs, test.p)...); qs != nil {
			t.Errorf("p%g of %d: %v, want none", 100*test.p, test.least-1, qs)
		}
	}
	if qs := Quantiles(make([]float64, 100), 0, 1, -1, 2, math.NaN()); qs != nil {
		t.Errorf("p outside (0, 1): %v", qs)
	}
}

func TestHalfWidth(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct{ median, lo, hi, want float64 }{
		{10, 9, 11, 0.1}, {-10, -11, -9, 0.1}, {0, -1, 1, inf}, {0, 0, 0, 0}, {5, 5, 5, 0}, {1, 1, 3, 1},
	} {
		got := HalfWidth(&Metric{Median: test.median, Lo: &test.lo, Hi: &test.hi})
		if math.Abs(got-test.want) > 1e-12 && got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	if got := HalfWidth(&Metric{Median: 1}); got != inf {
		t.Errorf("without an interval: %v", got)
	}
}

func TestVerdictOfARatio(t *testing.T) {
	metric := func(median, lo, hi float64) *Metric { return &Metric{Median: median, Lo: &lo, Hi: &hi} }
	for _, test := range []struct {
		a, b *Metric
		want string // whether a/b lies from 0.5 to 2
	}{
		{metric(4, 3, 5), metric(4, 3, 5), Holds},
		{metric(4, 3, 5), metric(1, 0.9, 1.1), Fails},
		{metric(1, 0.9, 1.1), metric(4, 3, 5), Fails},
		{metric(4, 1, 5), metric(4, 3, 5), Inconclusive},
		{metric(4, 3, 5), nil, Inconclusive},
	} {
		r := RatioOf(test.a, test.b)
		if got := r.Verdict(0.5, 2); got != test.want {
			t.Errorf("%+v: %s, want %s", r, got, test.want)
		}
		if f := r.Finding(test.want, Ratio, ""); (f.Value == nil) != (test.b == nil) {
			t.Errorf("%+v: %+v", r, f)
		}
	}
}
