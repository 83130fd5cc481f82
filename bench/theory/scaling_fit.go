package theory

import (
	"math"
	"slices"
)

// Laws of scaling.
const (
	Amdahl = "amdahl" // Amdahl, AFIPS 1967
	USL    = "usl"    // universal scalability law: Gunther, "Guerrilla Capacity Planning", chapter 4
)

// Different thread counts that a fit needs: with fewer it would follow the noise.
const (
	AmdahlCounts = 4
	USLCounts    = 6
)

// Scaling is a law of throughput by threads, fitted to measurements:
//
//	X(n) = X1 n / (1 + Sigma (n-1) + Kappa n (n-1))
type Scaling struct {
	Law   string
	X1    float64 // images/s of one thread, as the law has it
	Sigma float64 // share of the work that one thread at a time can do, 0 to 1; Amdahl's serial share
	Kappa float64 // cost of keeping each pair of threads in step, 0 for Amdahl
	Error float64 // root mean square of the relative residuals
	// Least and Most are the thread counts that it was fitted to.
	Least, Most int
}

// At is the throughput with n threads, in images/s. extrapolated tells that no
// measurement supports it: n lies outside of what the law was fitted to.
func (s Scaling) At(n float64) (rate float64, extrapolated bool) {
	return s.X1 * n / s.slowdown(n), n < float64(s.Least) || n > float64(s.Most)
}

// slowdown is how much longer n threads take for an image each than one does.
func (s Scaling) slowdown(n float64) float64 { return 1 + s.Sigma*(n-1) + s.Kappa*n*(n-1) }

// Peak is the number of threads above which more of them make it slower, at least
// 1. ok is false where the law has none. It may lie outside of what was measured.
func (s Scaling) Peak() (threads float64, ok bool) {
	if !(s.Kappa > 0) {
		return 0, false
	}
	return max(1, math.Sqrt(max(0, 1-s.Sigma)/s.Kappa)), true
}

// FitAmdahl fits Amdahl's law. ok is false, and nothing is fitted, to fewer than
// AmdahlCounts different counts. Better than linear scaling gives a serial share
// of 0, and one that falls with more threads 1: Error tells how ill that fits.
func FitAmdahl(rates []Rate) (s Scaling, ok bool) { return fitScaling(rates, Amdahl, AmdahlCounts) }

// FitUSL fits the universal scalability law, as FitAmdahl does, to USLCounts
// different counts or more.
func FitUSL(rates []Rate) (s Scaling, ok bool) { return fitScaling(rates, USL, USLCounts) }

// FitScaling fits the law that the number of counts allows: the universal one
// where it finds a cost of pairs, else Amdahl's.
func FitScaling(rates []Rate) (s Scaling, ok bool) {
	if s, ok = FitUSL(rates); ok && s.Kappa > 0 {
		return s, true
	}
	return FitAmdahl(rates)
}

// maxSteps of refinement; exact data take one and noisy ones a few.
const maxSteps = 50

// fitScaling looks for the least squares of relative residuals. The reciprocal
// n/X(n) = 1/X1 (1 + Sigma (n-1) + Kappa n (n-1)) is linear in its coefficients,
// so that weighted linear least squares give a start, and each step of
// Gauss-Newton is another one. A step that makes it worse is halved.
func fitScaling(rates []Rate, law string, least int) (Scaling, bool) {
	rates = slices.DeleteFunc(slices.Clone(rates), func(r Rate) bool { return !r.valid() })
	var counts []int
	for _, r := range rates {
		counts = append(counts, r.Threads)
	}
	slices.Sort(counts)
	if counts = slices.Compact(counts); len(counts) < least {
		return Scaling{}, false
	}
	f := fit{rates: rates, pairs: law == USL, most: float64(counts[len(counts)-1])}
	now := f.linear(nil)
	for range maxSteps {
		next := f.linear(&now)
		for range 10 {
			if f.cost(next) <= f.cost(now) {
				break
			}
			for i := range next {
				next[i] = (next[i] + now[i]) / 2
			}
		}
		if !(f.cost(next) < f.cost(now)) {
			break
		}
		now = next
	}
	if !(now[0] > 0) {
		return Scaling{}, false
	}
	s := Scaling{Law: law, X1: 1 / now[0], Sigma: min(1, now[1]/now[0]), Kappa: now[2] / now[0] / f.most,
		Error: math.Sqrt(f.cost(now) / float64(len(rates))), Least: counts[0], Most: counts[len(counts)-1]}
	return s, true
}
