package compare

import (
	"cmp"
	"math"
	"slices"
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

// pairs says which of the reports that two sides were merged of are compared: the
// numbered ones of both, in the order in which they were given.
type pairs struct {
	starts  [2][]results.Start
	numbers []int
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
	p := &pairs{starts: [2][]results.Start{a.Starts, b.Starts}}
	var made []time.Time // when the reports of each pair were
	for i := range n {
		x, y := a.Starts[i].At, b.Starts[i].At
		if y.Before(x) {
			x, y = y, x
		}
		made = append(made, x, y)
	}
	inOrder := slices.SortedFunc(slices.Values(made), time.Time.Compare)
	for i := 0; i < len(made); i += 2 {
		if at, _ := slices.BinarySearchFunc(inOrder, made[i], time.Time.Compare); inOrder[at+1] != made[i+1] {
			return nil // another report was made in between
		}
	}
	for i := range min(n, maxPairs) {
		p.numbers = append(p.numbers, i*n/min(n, maxPairs))
	}
	return p
}

// comparePairs sets the ratio and the verdict of values that were measured in pairs. It
// returns false, and sets nothing, for values not above 0 and where too few pairs have
// any.
func (s *MetricSide) comparePairs(base *Estimate, better string, p *pairs) bool {
	if p == nil || !base.positive() || !s.positive() || base.Lo == nil || s.Lo == nil {
		return false
	}
	medians := p.logRatios(base.metric, s.metric, results.Median)
	if len(medians) < minPairs {
		return false
	}
	if s.paired(medians, better, MarginRuns) {
		return true
	}
	byMedians := *s
	if s.RatioLo != nil && s.RatioHi != nil && within(*s.RatioLo-1, *s.RatioHi-1) {
		s.Verdict = Same
		return true
	}
	// What disturbs a machine only ever makes it slower: the tenth that is fastest tells more.
	percent, ok := map[string]float64{results.Lower: 10, results.Higher: 90}[better]
	if ok {
		tenth := func(values []float64) float64 { return results.Percentile(values, percent) }
		fast := p.logRatios(base.metric, s.metric, tenth)
		if len(fast) == len(medians) && s.paired(fast, better, MarginSame) && byMedians.contains(s.Ratio) {
			s.Reason = "by the fastest tenth of each run, since their medians differ from run to run"
			return true
		}
	}
	*s = byMedians
	s.Verdict, s.Reason = results.Inconclusive, results.Plural(s.Pairs, "pair")+" of runs do not tell: more may"
	return true
}

// contains tells whether x lies in the interval of the ratio.
func (s *MetricSide) contains(x *float64) bool {
	return x != nil && s.RatioLo != nil && s.RatioHi != nil && *s.RatioLo <= *x && *x <= *s.RatioHi
}

// paired sets the ratio and what belongs to it from logarithms of the ratios of pairs,
// and tells whether they are better or worse by more than margin, which it sets, too.
func (s *MetricSide) paired(ratios []float64, better string, margin float64) bool {
	center, lo, hi := pseudoMedian(ratios)
	p := signedRank(ratios)
	s.Pairs, s.P = len(ratios), &p
	s.Ratio = results.Finite(math.Exp(center))
	s.RatioLo, s.RatioHi = results.Finite(math.Exp(lo)), results.Finite(math.Exp(hi))
	effect := math.Expm1(center)
	if p >= alphaPairs || lo <= 0 && hi >= 0 || math.Abs(effect) <= margin {
		return false
	}
	if s.Verdict = direction(effect, better); s.Verdict == Worse {
		s.beyond = min(math.Abs(math.Expm1(lo)), math.Abs(math.Expm1(hi)))
	}
	return true
}

// logRatios are the logarithms of the ratios of b to a in each pair that measured both,
// by a level of values; nil where a level is not above 0.
func (p *pairs) logRatios(a, b *results.Metric, level func([]float64) float64) (ratios []float64) {
	x, y := levels(a, p.starts[0], level), levels(b, p.starts[1], level)
	for _, i := range p.numbers {
		base, other := x[i], y[i]
		if math.IsNaN(base) || math.IsNaN(other) {
			continue
		}
		r := math.Log(other / base)
		if !(base > 0) || !(other > 0) || !results.IsFinite(r) {
			return nil
		}
		ratios = append(ratios, r)
	}
	return ratios
}

// levels are those of a metric in each of the reports that began so, NaN where it has
// no samples.
func levels(m *results.Metric, starts []results.Start, level func([]float64) float64) []float64 {
	values := make([][]float64, len(starts))
	for _, s := range m.Samples {
		byRun := func(s results.Start, run int) int { return cmp.Compare(s.Run, run) }
		i, found := slices.BinarySearchFunc(starts, s.Run, byRun)
		if !found {
			i-- // a run of the report before
		}
		if i >= 0 {
			values[i] = append(values[i], s.Value)
		}
	}
	all := make([]float64, len(starts))
	for i, v := range values {
		all[i] = math.NaN()
		if len(v) > 0 {
			all[i] = level(v)
		}
	}
	return all
}

// signedRank is Wilcoxon's signed-rank test of differences, two-sided: how likely ranks
// at least as uneven are when each difference may as well have the other sign. It is
// exact where no two differences are of one size; those share their ranks, as if the
// sizes differed. Differences of 0 say nothing and are left out.
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

// pseudoMedian is the Hodges-Lehmann estimate of where at least minPairs differences center,
// the median of the means of each two of them, with the 95 % interval that belongs to the
// signed-rank test.
func pseudoMedian(differences []float64) (center, lo, hi float64) {
	n := len(differences)
	means := make([]float64, 0, n*(n+1)/2)
	for i, a := range differences {
		for _, b := range differences[i:] {
			means = append(means, a/2+b/2)
		}
	}
	slices.Sort(means)
	outside, total := 0, 0.0 // of the means, on each side
	for _, share := range rankSums(n) {
		if total += share; 2*total > 1-results.Level {
			break
		}
		outside++
	}
	return results.Median(means), means[outside-1], means[len(means)-outside]
}
