package compare

import (
	"cmp"
	"math"
	"slices"

	"dlbench/results"
)

// signedRank is Wilcoxon's signed-rank test of differences, two-sided: how likely ranks
// at least as uneven are when each difference may as well have the other sign. It is
// exact where no two differences are of one size; those share their ranks, as if the
// sizes had been told apart. Differences of 0 say nothing and are left out.
func signedRank(differences []float64) (p float64) {
	d := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	positive := 0.0
	for i := 0; i < len(d); {
		end := i
		for end < len(d) && math.Abs(d[end]) == math.Abs(d[i]) {
			end++
		}
		rank := float64(i+1+end) / 2 // the mean of i+1 to end
		for ; i < end; i++ {
			if d[i] > 0 {
				positive += rank
			}
		}
	}
	shares := rankSums(len(d))
	smaller := math.Ceil(min(positive, float64(len(shares)-1)-positive))
	total := 0.0
	for _, share := range shares[:int(smaller)+1] {
		total += share
	}
	return min(1, 2*total)
}

// rankSums is how likely each sum is of the ranks 1 to n, each of them taken or not by the
// toss of a coin.
func rankSums(n int) []float64 {
	shares := make([]float64, n*(n+1)/2+1)
	shares[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(shares) - 1; sum >= 0; sum-- {
			shares[sum] /= 2
			if sum >= rank {
				shares[sum] += shares[sum-rank] / 2
			}
		}
	}
	return shares
}

// pseudoMedian is the Hodges-Lehmann estimate of where differences center, the median of
// the means of each two of them, with the 95 % interval that belongs to the signed-rank
// test. ok is false where differences are too few for an interval.
func pseudoMedian(differences []float64) (center, lo, hi float64, ok bool) {
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
	outside, total := 0, 0.0 // of the means, on each side
	for _, share := range rankSums(n) {
		if total += share; 2*total > 1-results.Level {
			break
		}
		outside++
	}
	if outside == 0 {
		return results.Median(means), 0, 0, false
	}
	return results.Median(means), means[outside-1], means[len(means)-outside], true
}
