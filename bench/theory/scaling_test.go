package theory

import (
	"math"
	"math/rand/v2"
	"testing"
)

// curve is what a law gives at counts, times 1 + noise times a normal deviate.
func curve(s Scaling, noise float64, rng *rand.Rand, counts ...int) []Rate {
	var all []Rate
	for _, n := range counts {
		x := s.X1 * float64(n) / s.Slowdown(float64(n))
		if noise > 0 {
			x *= 1 + noise*rng.NormFloat64()
		}
		all = append(all, Rate{Threads: n, Value: x})
	}
	return all
}

var doubling = []int{1, 2, 4, 8, 16, 32, 64}

func TestFitExact(t *testing.T) {
	for _, law := range []Scaling{
		{X1: 1576}, {X1: 820, Sigma: 0.02}, {X1: 3e-3, Sigma: 0.5}, {X1: 5e8, Sigma: 1},
		{X1: 1000, Kappa: 1e-3}, {X1: 1000, Sigma: 0.05, Kappa: 2e-4}, {X1: 1000, Sigma: 0.3, Kappa: 0.2}, {X1: 1000,
			Sigma: 1, Kappa: 0.1},
	} {
		s, ok := FitScaling(curve(law, 0, nil, doubling...))
		if !ok || math.Abs(s.X1/law.X1-1) > 1e-6 || math.Abs(s.Sigma-law.Sigma) > 1e-6 ||
			math.Abs(s.Kappa-law.Kappa) > 1e-6 ||
			s.Error > 1e-6 || s.Least != 1 || s.Most != 64 || law.Kappa > 0 && s.Law != USL {
			t.Errorf("%+v: fitted %+v, %v", law, s, ok)
		}
		if law.Kappa > 0 {
			continue
		}
		s, ok = FitScaling(curve(law, 0, nil, 16, 3, 5, 2))
		if !ok || math.Abs(s.X1/law.X1-1) > 1e-6 || math.Abs(s.Sigma-law.Sigma) > 1e-6 || s.Kappa != 0 ||
			s.Error > 1e-6 ||
			s.Least != 2 || s.Most != 16 || s.Law != Amdahl {
			t.Errorf("%+v: fitted %+v, %v", law, s, ok)
		}
	}
}

// Noise of 2 % moves a fit by little, and the fit is no worse than the law itself.
func TestFitNoisy(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 7))
		law := Scaling{X1: 900, Sigma: 0.04}
		rates := curve(law, 0.02, rng, 1, 2, 3, 4, 6, 8)
		s := fitScaling(rates, false)
		if math.Abs(s.X1/law.X1-1) > 0.06 || math.Abs(s.Sigma-law.Sigma) > 0.03 || s.Error > 0.04 {
			t.Errorf("seed %d: fitted %+v", seed, s)
		}
		if have, most := s.Error, relativeError(law, rates); have > most*(1+1e-9) || math.Abs(have-relativeError(s,
			rates)) > 1e-12 {
			t.Errorf("seed %d: error %g, of the law itself %g", seed, have, most)
		}
		law.Kappa = 5e-4
		rates = curve(law, 0.02, rng, doubling...)
		s = fitScaling(rates, true)
		peak, _ := law.Peak()
		if have, _ := s.Peak(); math.Abs(have/peak-1) > 0.25 || s.Error > relativeError(law, rates)*(1+1e-9) {
			t.Errorf("seed %d: fitted %+v with its peak at %g, want %g", seed, s, have, peak)
		}
		if again := fitScaling(rates, true); again != s {
			t.Errorf("seed %d: %+v, then %+v", seed, s, again)
		}
	}
}

func relativeError(s Scaling, rates []Rate) float64 {
	var sum float64
	for _, r := range rates {
		x := s.X1 * float64(r.Threads) / s.Slowdown(float64(r.Threads))
		sum += (x/r.Value - 1) * (x/r.Value - 1)
	}
	return math.Sqrt(sum / float64(len(rates)))
}

// What no law allows ends at its bounds, where no neighbour fits better.
func TestFitAtBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		x      []float64 // by doubling
		law    string
		sigma  float64
		kappa  bool
		chosen string
	}{
		{"super-linear", []float64{100, 210, 440, 930, 1900, 4000, 8100}, USL, 0, false, Amdahl},
		{"saturated", []float64{100, 101, 99, 100, 101, 99, 100}, USL, 1, false, USL},
		{"falling", []float64{100, 90, 80, 70, 60, 50, 40}, Amdahl, 1, false, USL},
		{"one outlier", []float64{100, 200, 400, 800, 1, 3200, 6400}, Amdahl, 0, false, ""},
	} {
		var rates []Rate
		for i, x := range c.x {
			rates = append(rates, Rate{Threads: doubling[i], Value: x})
		}
		s := fitScaling(rates, c.law == USL)
		if c.name != "one outlier" && math.Abs(s.Sigma-c.sigma) > 0.01 || s.Sigma < 0 || s.Sigma > 1 ||
			s.Kappa < 0 {
			t.Errorf("%s: fitted %+v", c.name, s)
		}
		for _, d := range []float64{-1e-3, 1e-3} {
			for _, near := range []Scaling{{X1: s.X1 * (1 + d), Sigma: s.Sigma, Kappa: s.Kappa},
				{X1: s.X1, Sigma: min(max(0, s.Sigma+d), 1), Kappa: s.Kappa}} {
				if e := relativeError(near, rates); e < s.Error*(1-1e-9) {
					t.Errorf("%s: %+v has an error of %g, but %+v one of %g", c.name, s, s.Error, near, e)
				}
			}
		}
		if have, _ := FitScaling(rates); c.chosen != "" && have.Law != c.chosen {
			t.Errorf("%s: %+v chosen, want %s", c.name, have, c.chosen)
		}
	}
}

func TestFitTooFew(t *testing.T) {
	law := Scaling{X1: 100, Sigma: 0.1}
	if s, ok := FitScaling(curve(law, 0, nil, 1, 2, 4, 4, 4)); ok || s != (Scaling{}) {
		t.Errorf("three counts give %+v", s)
	}
	rates := append(curve(law, 0, nil, 1, 2, 4), Rate{Threads: 8}, Rate{Threads: 0, Value: 1}, Rate{Threads: 16,
		Value: math.NaN()}, Rate{Threads: 32, Value: math.Inf(1)})
	if s, ok := FitScaling(rates); ok {
		t.Errorf("what is no rate gives %+v", s)
	}
	if s, ok := FitScaling(curve(law, 0, nil, 1, 2, 3, 4, 8, 8)); !ok || s.Law != Amdahl {
		t.Errorf("five counts: %+v, %v", s, ok)
	}
}

func TestPeak(t *testing.T) {
	s := Scaling{X1: 100, Sigma: 0.1, Kappa: 0.01}
	if x := s.Slowdown(8); math.Abs(x-2.26) > 1e-9 {
		t.Errorf("8 threads take %g times as long for an image", x)
	}
	if n, ok := s.Peak(); !ok || math.Abs(n-math.Sqrt(90)) > 1e-9 {
		t.Errorf("peak %g, %v", n, ok)
	}
	if n, ok := (Scaling{X1: 1, Sigma: 0.9, Kappa: 4}).Peak(); !ok || n != 1 {
		t.Errorf("peak %g, %v, want one thread", n, ok)
	}
	if n, ok := (Scaling{X1: 1, Sigma: 0.9}).Peak(); ok {
		t.Errorf("a peak of %g without a cost of pairs", n)
	}
}

// Between measured counts the efficiency is interpolated, beyond them it is the last.
func TestEfficiencyOf(t *testing.T) {
	rates := []Rate{{Threads: 1, Value: 100}, {Threads: 2, Value: 210}, {Threads: 4, Value: 200}}
	for n, want := range map[int]float64{0: 1, 1: 1, 2: 1, 3: 0.75, 4: 0.5, 9: 0.5} {
		if got := EfficiencyOf(rates, n); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d threads: %g, want %g", n, got, want)
		}
	}
	if got := EfficiencyOf(rates[1:], 4); got != 1 {
		t.Errorf("without one thread: %g", got)
	}
}

func TestEfficiencyAndGain(t *testing.T) {
	one, four, eight := Rate{1, 100, 98, 103}, Rate{4, 360, 350, 370}, Rate{8, 540, 530, 560}
	slower := Rate{16, 500, 480, 520}
	gain := func(r, fewer Rate) Share {
		s, ok := r.Gain(fewer, one)
		if !ok {
			s.Value = -1
		}
		return s
	}
	none := Share{Value: -1}
	for name, c := range map[string]struct{ have, want Share }{
		"of one":              {eight.Efficiency(one), Share{0.675, 530 / 8.0 / 103, 560 / 8.0 / 98}},
		"of several":          {eight.Efficiency(four), Share{0.75, 0.5 * 530 / 370, 0.5 * 560 / 350}},
		"of nothing":          {Rate{}.Efficiency(one), Share{}},
		"gain":                {gain(eight, four), Share{0.45, 160 / 4.0 / 103, 210 / 4.0 / 98}},
		"loss":                {gain(slower, eight), Share{-0.05, -80 / 8.0 / 98, -10 / 8.0 / 103}},
		"without an interval": {gain(slower, Rate{Threads: 8, Value: 540}), Share{Value: -0.05}},
		"over itself":         {gain(slower, slower), none},
		"over as many":        {gain(slower, Rate{16, 1, 1, 1}), none},
		"over more":           {gain(slower, Rate{32, 1, 1, 1}), none},
		"over nothing":        {gain(slower, Rate{}), none},
	} {
		if !nearly(c.have, c.want) {
			t.Errorf("%s: %+v, want %+v", name, c.have, c.want)
		}
	}
}

func nearly(a, b Share) bool {
	return math.Abs(a.Value-b.Value) < 1e-9 && math.Abs(a.Lo-b.Lo) < 1e-9 && math.Abs(a.Hi-b.Hi) < 1e-9
}
