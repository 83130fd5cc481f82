package compare

import (
	"math"
	"slices"
	"sort"
	"time"

	"dlbench/results"
)

// Bounds of the pairs of reports.
const (
	minPairs = 9   // whose signed-rank test can reach alphaPairs
	maxPairs = 100 // find whatever a verdict needs: of more some are taken, evenly spread
	// pairedShare is the share of the reports of the side with more of them that must be
	// in a pair.
	pairedShare = 0.8
)

// alphaPairs is the level of each of two signed-rank tests, so that both together have
// Alpha.
const alphaPairs = Alpha / 2

// methodPairs is what Comparison.Method adds where reports were compared in pairs.
const methodPairs = "; reports made in turn: in pairs as given, ratio by Hodges and Lehmann, " +
	"Wilcoxon's signed-rank tests at 0.005, over their medians, " +
	"and where these do not tell over the fastest tenth of each, " +
	"if that lies within the medians' interval and beyond 2 %"

// pairs are so many reports of each of two sides: the first of one is compared with the first of the other, and so on.
type pairs struct {
	n      int
	starts [2][]results.Start // of all reports of a side
}

// pairsOf pairs the first report of a with the first one of b, and so on, where those of
// a pair were made one after the other. It returns nil for others. What a machine does
// from minute to minute is in both reports of a pair.
func pairsOf(a, b *results.Report) *pairs {
	n, most := min(a.Merged, b.Merged), max(a.Merged, b.Merged)
	if len(a.Starts) != a.Merged || len(b.Starts) != b.Merged || n < minPairs ||
		float64(n) < pairedShare*float64(most) {
		return nil
	}
	type start struct {
		at   time.Time
		pair int
	}
	var all []start
	for i := range n {
		all = append(all, start{a.Starts[i].At, i}, start{b.Starts[i].At, i})
	}
	slices.SortStableFunc(all, func(x, y start) int { return x.at.Compare(y.at) })
	for two := range slices.Chunk(all, 2) {
		if two[0].pair != two[1].pair {
			return nil // another report was made in between
		}
	}
	return &pairs{n, [2][]results.Start{a.Starts, b.Starts}}
}

// fastest is the percentile of the fastest tenth of values. What disturbs a machine only ever makes it slower: the
// fastest tell more than medians that vary.
var fastest = map[string]float64{results.Lower: 10, results.Higher: 90}

// comparePairs sets the ratio and the verdict of values that were measured in pairs. It
// returns false, and sets nothing, for values not above 0 and where too few pairs have
// any.
func (s *MetricSide) comparePairs(base *Estimate, better string, p *pairs) bool {
	if p == nil || !base.positive() || !s.positive() || base.Lo == nil || s.Lo == nil {
		return false
	}
	medians := p.shift(base.metric, s.metric, 50)
	if medians.pairs < minPairs {
		return false
	}
	fast := p.shift(base.metric, s.metric, fastest[better])
	told := medians
	switch {
	case medians.found(MarginRuns):
		s.Verdict = direction(medians.center, better)
	case within(math.Expm1(medians.lo), math.Expm1(medians.hi)):
		s.Verdict = Same
	case fast.pairs == medians.pairs && fast.found(MarginSame) && medians.lo <= fast.center && fast.center <= medians.hi:
		told, s.Verdict = fast, direction(fast.center, better)
		s.Reason = "by the fastest tenth of each run, since their medians differ from run to run"
	default:
		s.Verdict = results.Inconclusive
		s.Reason = results.Plural(medians.pairs, "pair") + " of runs do not tell: more may"
	}
	s.Pairs, s.P, s.Ratio = told.pairs, &told.p, results.Finite(math.Exp(told.center))
	s.RatioLo, s.RatioHi = results.Finite(math.Exp(told.lo)), results.Finite(math.Exp(told.hi))
	s.from, s.to = math.Expm1(told.lo), math.Expm1(told.hi)
	return true
}

// shift is by how much the logarithms of one side's values are above the other's.
type shift struct {
	pairs          int
	center, lo, hi float64
	p              float64
}

// found tells whether there is a shift by more than margin, a share.
func (t shift) found(margin float64) bool {
	return t.p < alphaPairs && (t.lo > 0 || t.hi < 0) && math.Abs(math.Expm1(t.center)) > margin
}

// shift compares a percentile of the values of each pair that measured both. It is of no pairs
// where one is not above 0, or where there are too few.
func (p *pairs) shift(a, b *results.Metric, percent float64) (t shift) {
	x, y := levels(a, p.starts[0], percent), levels(b, p.starts[1], percent)
	var ratios []float64
	for k, n := 0, min(p.n, maxPairs); k < n; k++ {
		i := k * p.n / n
		ratio := math.Log(y[i] / x[i])
		switch {
		case math.IsNaN(x[i]) || math.IsNaN(y[i]):
			continue
		case !(x[i] > 0) || !(y[i] > 0) || !results.IsFinite(ratio):
			return t
		}
		ratios = append(ratios, ratio)
	}
	if len(ratios) >= minPairs {
		t.pairs, t.p = len(ratios), signedRank(ratios)
		t.center, t.lo, t.hi = pseudoMedian(ratios)
	}
	return t
}

// levels are a percentile of the values of each of the reports that began so, NaN where there are none.
func levels(m *results.Metric, starts []results.Start, percent float64) []float64 {
	values := make([][]float64, len(starts))
	for _, s := range m.Samples {
		after := sort.Search(len(starts), func(i int) bool { return starts[i].Run > s.Run })
		if after > 0 {
			values[after-1] = append(values[after-1], s.Value)
		}
	}
	all := make([]float64, len(starts))
	for i, v := range values {
		all[i] = math.NaN()
		if len(v) > 0 {
			all[i] = results.Percentile(v, percent)
		}
	}
	return all
}

// walsh are the means of each two differences, and of each with itself, in order.
func walsh(differences []float64) (means []float64) {
	for i, a := range differences {
		for _, b := range differences[i:] {
			means = append(means, a/2+b/2)
		}
	}
	slices.Sort(means)
	return means
}

// signedRank is Wilcoxon's signed-rank test of differences, two-sided: how likely ranks
// at least as uneven are when each difference may as well have the other sign. It is
// exact where no two differences are of one size; those share their ranks, as if the
// sizes differed. Differences of 0 say nothing and are left out. The ranks of the positive
// differences sum up to as many as there are means of two above 0 (Tukey).
func signedRank(differences []float64) (p float64) {
	d := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 })
	positive := 0.0
	for _, mean := range walsh(d) {
		switch {
		case mean > 0:
			positive++
		case mean == 0:
			positive += 0.5
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

// pseudoMedian is the Hodges-Lehmann estimate of where at least minPairs differences center,
// the median of the means of each two of them, with the 95 % interval that belongs to the
// signed-rank test.
func pseudoMedian(differences []float64) (center, lo, hi float64) {
	means := walsh(differences)
	outside, total := 0, 0.0 // of the means, on each side
	for _, share := range rankSums(len(differences)) {
		if total += share; 2*total > 1-results.Level {
			break
		}
		outside++
	}
	return results.Median(means), means[outside-1], means[len(means)-outside]
}
