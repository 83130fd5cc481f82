package theory

import (
	"cmp"
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

// Slowdown is how much longer n threads take for an image each than one does.
func (s Scaling) Slowdown(n float64) float64 { return 1 + s.Sigma*(n-1) + s.Kappa*n*(n-1) }

// Peak is the number of threads above which more of them make it slower, at least
// 1. ok is false where the law has none. It may lie outside of what was measured.
func (s Scaling) Peak() (threads float64, ok bool) {
	if !(s.Kappa > 0) {
		return 0, false
	}
	return max(1, math.Sqrt(max(0, 1-s.Sigma)/s.Kappa)), true
}

// FitScaling fits the law that the number of different counts allows: the universal one
// where it finds a cost of pairs, else Amdahl's. ok is false, and nothing is fitted, to fewer
// than AmdahlCounts. Better than linear scaling gives a serial share of 0, and one that falls
// with more threads 1: Error tells how ill that fits.
func FitScaling(rates []Rate) (s Scaling, ok bool) {
	rates = sensible(rates)
	counts := len(slices.CompactFunc(slices.Clone(rates), sameThreads))
	if counts < AmdahlCounts {
		return Scaling{}, false
	}
	return fitScaling(rates, counts >= USLCounts), true
}

// fitScaling looks for the least squares of relative residuals of rates by their threads: for
// each Kappa, which is 0 without pairs, it takes the best Sigma, and for both the X1 that follows.
func fitScaling(rates []Rate, pairs bool) Scaling {
	s := Scaling{Law: Amdahl, Least: rates[0].Threads, Most: rates[len(rates)-1].Threads}
	withSigma := func(sigma float64) float64 {
		s.Sigma = sigma
		return s.scale(rates)
	}
	withKappa := func(kappa float64) float64 {
		s.Kappa = kappa
		return withSigma(lowest(1, withSigma))
	}
	mostKappa := 0.0
	if pairs {
		byValue := func(a, b Rate) int { return cmp.Compare(a.Value, b.Value) }
		mostKappa = slices.MaxFunc(rates, byValue).Value / slices.MinFunc(rates, byValue).Value
	}
	withKappa(lowest(mostKappa, withKappa))
	if s.Kappa > 0 {
		s.Law = USL
	}
	return s
}

// scale sets X1 to what fits rates best, and Error, which it returns.
func (s *Scaling) scale(rates []Rate) float64 {
	shares := make([]float64, len(rates)) // of the rates, for an X1 of 1
	var sum, squares, residuals float64
	for i, r := range rates {
		n := float64(r.Threads)
		shares[i] = n / s.Slowdown(n) / r.Value
		sum += shares[i]
		squares += shares[i] * shares[i]
	}
	s.X1 = sum / squares
	for _, x := range shares {
		residuals += (s.X1*x - 1) * (s.X1*x - 1)
	}
	s.Error = math.Sqrt(residuals / float64(len(rates)))
	return s.Error
}

// lowest is where f is least from 0 to most, by golden-section search: an end where f is no
// higher than in between.
func lowest(most float64, f func(float64) float64) float64 {
	const sections, share = 80, 1 / math.Phi
	lo, hi := 0.0, most
	a, b := hi*(1-share), hi*share
	fa, fb := f(a), f(b)
	for range sections {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - share*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + share*(hi-lo)
			fb = f(b)
		}
	}
	least := min(fa, fb) * (1 + 1e-9)
	switch {
	case f(0) <= least:
		return 0
	case f(most) <= least:
		return most
	}
	return (lo + hi) / 2
}
