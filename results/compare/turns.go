package compare

import (
	"cmp"
	"math"
	"slices"

	"dlbench/results"
)

// Bounds of the pairs of reports that are compared in turn.
const (
	minPairs = 9   // whose signed-rank test can reach alphaTurns
	maxPairs = 100 // find whatever a verdict needs: of more some are taken, evenly spread
	// pairedShare is the share of reports that must have found another in turn: a few
	// may have been lost.
	pairedShare = 0.8
)

// alphaTurns is the level of each of two signed-rank tests, so that both together have
// Alpha.
const alphaTurns = Alpha / 2

// methodTurns is what Comparison.Method adds where reports were made in turn.
const methodTurns = "; reports made in turn: in pairs, ratio by Hodges and Lehmann, Wilcoxon's signed-rank tests at 0.005, " +
	"over their medians, and where these do not tell over the fastest tenth of each, if that lies within the medians' interval and beyond 2 %"

// turns are pairs of reports, by their number in Starts of the base and of another side,
// that were made one after the other.
type turns struct {
	starts [2][]results.Start
	pairs  [][2]int
}

// inTurn pairs the reports that two merged ones were made of and that were made in turn,
// one of each and then the next two, in whichever order. It returns nil for others. What
// a machine does from minute to minute is in both reports of a pair.
func inTurn(a, b *results.Report) *turns {
	if len(a.Starts) != a.Merged || len(b.Starts) != b.Merged || a.Merged < minPairs || b.Merged < minPairs {
		return nil
	}
	type start struct {
		results.Start
		side, number int
	}
	var all []start
	for side, r := range []*results.Report{a, b} {
		for i, s := range r.Starts {
			all = append(all, start{s, side, i})
		}
	}
	slices.SortStableFunc(all, func(x, y start) int { return x.At.Compare(y.At) })
	t := &turns{starts: [2][]results.Start{a.Starts, b.Starts}}
	for i := 0; i+1 < len(all); i++ {
		x, y := all[i], all[i+1]
		if x.side == y.side {
			continue
		}
		pair := [2]int{x.number, y.number}
		if x.side == 1 {
			pair = [2]int{y.number, x.number}
		}
		t.pairs = append(t.pairs, pair)
		i++
	}
	n := len(t.pairs)
	if n < minPairs || float64(n) < pairedShare*float64(max(a.Merged, b.Merged)) {
		return nil
	}
	if n > maxPairs {
		some := make([][2]int, maxPairs)
		for i := range some {
			some[i] = t.pairs[i*n/maxPairs]
		}
		t.pairs = some
	}
	return t
}

// compareTurns sets the ratio and the verdict of values that were measured in turn. It
// returns false, and sets nothing, for values not above 0 and where too few pairs have
// any.
func (s *MetricSide) compareTurns(base *Estimate, better string, t *turns) bool {
	if t == nil || !base.positive() || !s.positive() || base.Lo == nil || s.Lo == nil {
		return false
	}
	medians := t.logRatios(base.metric, s.metric, results.Median)
	if len(medians) < minPairs {
		return false
	}
	if s.paired(medians, better, MarginRuns) {
		return true
	}
	byMedians := *s
	if s.RatioLo != nil && s.RatioHi != nil && results.Inside(*s.RatioLo-1, *s.RatioHi-1, 0, MarginSame) {
		s.Verdict = Same
		return true
	}
	if better == results.Lower || better == results.Higher {
		fast := t.logRatios(base.metric, s.metric, func(values []float64) float64 { return results.Percentile(values, fastest(better)) })
		if len(fast) == len(medians) && s.paired(fast, better, MarginSame) && byMedians.holds(s.Ratio) {
			s.Reason = "by the fastest tenth of each run, since their medians differ from run to run"
			return true
		}
	}
	*s = byMedians
	s.Verdict, s.Reason = results.Inconclusive, results.Plural(s.Pairs, "pair")+" of runs do not tell: more may"
	return true
}

// holds tells whether the interval of the ratio holds x.
func (s *MetricSide) holds(x *float64) bool {
	return x != nil && s.RatioLo != nil && s.RatioHi != nil && *s.RatioLo <= *x && *x <= *s.RatioHi
}

// paired sets the ratio and what belongs to it from logarithms of the ratios of pairs,
// and tells whether they are better or worse by more than margin, which it sets, too.
func (s *MetricSide) paired(ratios []float64, better string, margin float64) bool {
	center, lo, hi, _ := pseudoMedian(ratios, results.DefaultConfidence)
	p := signedRank(ratios)
	s.Pairs, s.P = len(ratios), &p
	s.Ratio, s.RatioLo, s.RatioHi = results.Finite(math.Exp(center)), results.Finite(math.Exp(lo)), results.Finite(math.Exp(hi))
	effect := math.Expm1(center)
	if p >= alphaTurns || lo <= 0 && hi >= 0 || math.Abs(effect) <= margin {
		return false
	}
	if s.Verdict = direction(effect, better); s.Verdict == Worse {
		s.beyond = min(math.Abs(math.Expm1(lo)), math.Abs(math.Expm1(hi)))
	}
	return true
}

// logRatios are the logarithms of the ratios of b to a in each pair that measured both,
// by a level of values; nil where a level is not above 0.
func (t *turns) logRatios(a, b *results.Metric, level func([]float64) float64) (ratios []float64) {
	x, y := levels(a, t.starts[0], level), levels(b, t.starts[1], level)
	for _, p := range t.pairs {
		base, other := x[p[0]], y[p[1]]
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
		i, found := slices.BinarySearchFunc(starts, s.Run, func(s results.Start, run int) int { return cmp.Compare(s.Run, run) })
		if !found {
			i-- // a restart of the report before
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

// fastest is the percentile that a tenth of values are better than: what disturbs a
// machine only ever makes it slower.
func fastest(better string) float64 {
	if better == results.Higher {
		return 90
	}
	return 10
}
