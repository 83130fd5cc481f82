package results

import (
	"cmp"
	"math"
	"slices"
)

// signedRank is Wilcoxon's signed-rank test of differences, two-sided and exact: how
// likely ranks at least as uneven are when each difference may as well have the other
// sign. Differences of 0 say nothing and are left out; equal ones share their ranks, and
// p is then rounded up.
func signedRank(differences []float64) (p float64) {
	d := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 })
	n := len(d)
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	positive := 0.0
	for i, x := range d {
		if x > 0 {
			positive += rankOf(d, i)
		}
	}
	all := n * (n + 1) / 2
	smaller := math.Ceil(min(positive, float64(all)-positive))
	return min(1, 2*rankSumBelow(n, int(smaller)))
}

// rankOf is the rank of sorted[i] by size, from 1; equal ones have their mean.
func rankOf(sorted []float64, i int) float64 {
	first, last := i, i
	for first > 0 && math.Abs(sorted[first-1]) == math.Abs(sorted[i]) {
		first--
	}
	for last < len(sorted)-1 && math.Abs(sorted[last+1]) == math.Abs(sorted[i]) {
		last++
	}
	return float64(first+last)/2 + 1
}

// rankSumBelow is the probability that the ranks 1 to n, each taken or not by the toss
// of a coin, sum up to at most w.
func rankSumBelow(n, w int) float64 {
	share := make([]float64, n*(n+1)/2+1) // of the tosses that make each sum
	share[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(share) - 1; sum >= 0; sum-- {
			share[sum] /= 2
			if sum >= rank {
				share[sum] += share[sum-rank] / 2
			}
		}
	}
	total := 0.0
	for sum := 0; sum <= min(w, len(share)-1); sum++ {
		total += share[sum]
	}
	return total
}

// pseudoMedian is the Hodges-Lehmann estimate of where differences center, the median of
// the means of each two of them, with the interval that belongs to the signed-rank test.
// ok is false where differences are too few for an interval.
func pseudoMedian(differences []float64, confidence float64) (center, lo, hi float64, ok bool) {
	n := len(differences)
	means := make([]float64, 0, n*(n+1)/2)
	for i, a := range differences {
		for _, b := range differences[i:] {
			means = append(means, a/2+b/2)
		}
	}
	slices.Sort(means)
	if len(means) == 0 {
		return 0, 0, 0, false
	}
	k := 0 // of the means lie outside, on each side
	for 2*rankSumBelow(n, k) <= 1-confidence {
		k++
	}
	if k == 0 {
		return middle(means), 0, 0, false
	}
	return middle(means), means[k-1], means[len(means)-k], true
}
