package results

import (
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
)

// MedianInterval returns an interval that holds the median with at least the
// given confidence; values are in ascending order and worth as many samples as
// independent says. ok is false when that is too few.
//
// Without assuming a distribution the interval runs from one order statistic to
// another, and their ranks follow from the number of independent samples alone.
// For n samples worth m the ranks for m are taken, as shares of m+1, and looked
// up among the n, the lower one rounded down and the upper one up. This needs no
// symmetry and never leaves the range of what was measured. Stretching the
// interval for n by sqrt(n/m) on both sides was tried: with the skewed times
// that are usual here its lower end falls below the minimum, even below 0.
func MedianInterval(values []float64, independent, confidence float64) (lo, hi float64, ok bool) {
	n, m := len(values), int(independent)
	if m < MinSamples {
		return 0, 0, false
	}
	ci := moremath.QuantileCI(m, 0.5, confidence)
	if ci.LoOrder < 1 || ci.HiOrder > m {
		return 0, 0, false
	}
	scale := float64(n+1) / float64(m+1) // 1 for samples that are all independent
	first := max(int(math.Floor(float64(ci.LoOrder)*scale)), 1)
	last := min(int(math.Ceil(float64(ci.HiOrder)*scale)), n)
	return values[first-1], values[last-1], true
}

// EffectiveSamples is the number of independent samples that these are worth:
// n(1-r)/(1+r) for a lag-1 autocorrelation r above 0, else n, as for a
// first-order autoregressive process (Wilks, "Statistical Methods in the
// Atmospheric Sciences", section 5.2.4).
func EffectiveSamples(samples []Sample) float64 {
	n := float64(len(samples))
	r := Autocorrelation(samples)
	if r <= 0 {
		return n
	}
	return n * (1 - r) / (1 + r)
}

// Autocorrelation is the lag-1 autocorrelation of the samples' ranks, in the
// order in which they were taken, from -1 to 1; 0 where it is undefined. Ranks,
// because one outlier among the values would hide that the others drift.
// Neighbours of different restarts are not held against each other, but all
// against the common mean: restarts that differ make their samples alike.
func Autocorrelation(samples []Sample) float64 {
	ranks := midRanks(samples)
	mean := float64(len(samples)+1) / 2
	var variance, covariance float64
	pairs := 0
	for i, r := range ranks {
		variance += (r - mean) * (r - mean)
		if i > 0 && samples[i].Run == samples[i-1].Run {
			covariance += (r - mean) * (ranks[i-1] - mean)
			pairs++
		}
	}
	if variance == 0 || pairs == 0 {
		return 0
	}
	// The estimate is divided by n, not by the pairs: with few samples that
	// damps its noise. Pairs lost between restarts are made up for.
	n := float64(len(samples))
	r := covariance / variance * (n - 1) / float64(pairs)
	return min(max(r, -1), 1)
}

// midRanks returns the ranks of the samples from 1; equal values share their
// mean rank.
func midRanks(samples []Sample) []float64 {
	values := SortedValues(samples)
	ranks := make([]float64, len(samples))
	for i, s := range samples {
		before, _ := slices.BinarySearch(values, s.Value)
		upTo, _ := slices.BinarySearch(values, math.Nextafter(s.Value, math.Inf(1)))
		ranks[i] = float64(before+1+upTo) / 2
	}
	return ranks
}
