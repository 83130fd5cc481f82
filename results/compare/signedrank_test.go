package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The depression data of Hollander and Wolfe, "Nonparametric Statistical Methods", table
// 3.1, for which R's wilcox.test gives V = 40 and p = 0.03906.
func TestSignedRank(t *testing.T) {
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(before))
	for i := range d {
		d[i] = before[i] - after[i]
	}
	for _, test := range []struct {
		name string
		d    []float64
		want float64
	}{
		{"published", d, 20.0 / 512},
		{"all one way", []float64{1, 2, 3, 4, 5, 6, 7, 8}, 2.0 / 256},
		{"the other way", []float64{-1, -2, -3, -4, -5, -6, -7, -8}, 2.0 / 256},
		{"even", []float64{1, -2, 3, -4, -5, 6}, 1},
		{"zeros say nothing", []float64{0, 1, 2, 3, 0, 4, 5, 6, 7, 8}, 2.0 / 256},
		{"equal ones", []float64{1, 1, 1, 1, 1, 1, 1, -1}, 2 * 10.0 / 256}, // ranks of 4.5, rounded up to 5: 10 sets sum up to at most that
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
		center, lo, hi, ok := pseudoMedian(d)
		if !ok || center < lo || center > hi || lo < slices.Min(d) || hi > slices.Max(d) {
			t.Fatalf("%g in %g to %g (%v) of %v", center, lo, hi, ok, d)
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
	if _, _, _, ok := pseudoMedian([]float64{1, 2, 3}); ok {
		t.Error("an interval of three differences")
	}
	if _, _, _, ok := pseudoMedian(nil); ok {
		t.Error("an interval of nothing")
	}
}
