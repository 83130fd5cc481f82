package results

import (
	"math"
	"slices"
	"time"
)

// minPairs is the fewest pairs of runs whose signed-rank test can reach Alpha.
const minPairs = 8

// methodTurns is what Comparison.Method adds where runs were made in turn.
const methodTurns = "; runs made in turn: in pairs, ratio by Hodges and Lehmann, Wilcoxon's signed-rank test at 0.01, " +
	"over their medians, and where these do not tell over the fastest tenth of each run"

// turn is a run of the base and the run of another side that was made beside it.
type turn struct{ base, other int }

// inTurn pairs the runs of two merged reports that were made in turn, one of each and
// then the next two, in whichever order. It returns nil for others. What a machine does
// from minute to minute is in both runs of a pair.
func inTurn(a, b *Report) (turns []turn) {
	if a.Merged < minPairs || a.Merged != b.Merged || len(a.Starts) != a.Merged || len(b.Starts) != b.Merged {
		return nil
	}
	type start struct {
		at   time.Time
		side int
		run  int
	}
	var all []start
	for side, r := range []*Report{a, b} {
		for run, at := range r.Starts {
			all = append(all, start{at, side, run})
		}
	}
	slices.SortStableFunc(all, func(x, y start) int { return x.at.Compare(y.at) })
	for i := 0; i < len(all); i += 2 {
		x, y := all[i], all[i+1]
		if x.side == y.side {
			return nil
		}
		if x.side == 1 {
			x, y = y, x
		}
		turns = append(turns, turn{x.run, y.run})
	}
	return turns
}

// compareTurns sets the ratio and the verdict of values that were measured in turn. It
// returns false, and sets nothing, where too few pairs have values above 0.
func (s *MetricSide) compareTurns(base *Estimate, better string, turns []turn) bool {
	medians := logRatios(base.metric, s.metric, turns, middle)
	if len(medians) < minPairs || !base.positive() || !s.positive() || base.Lo == nil || s.Lo == nil {
		return false
	}
	if s.paired(medians, better) {
		return true
	}
	median := *s
	if better == Lower || better == Higher {
		fast := logRatios(base.metric, s.metric, turns, func(sorted []float64) float64 { return fastest(sorted, better) })
		if s.paired(fast, better) {
			s.Reason = "by the fastest tenth of each run, since their medians differ from run to run"
			return true
		}
	}
	*s = median
	s.Verdict = Inconclusive
	if s.RatioLo != nil && s.RatioHi != nil && Inside(*s.RatioLo-1, *s.RatioHi-1, 0, MarginSame) {
		s.Verdict = Same
	}
	return true
}

// paired sets the ratio and what belongs to it from logarithms of the ratios of pairs,
// and tells whether they are better or worse, which it sets, too.
func (s *MetricSide) paired(ratios []float64, better string) bool {
	center, lo, hi, _ := pseudoMedian(ratios, DefaultConfidence)
	p := signedRank(ratios)
	s.Pairs, s.P = len(ratios), &p
	s.Ratio, s.RatioLo, s.RatioHi = Finite(math.Exp(center)), Finite(math.Exp(lo)), Finite(math.Exp(hi))
	effect := math.Expm1(center)
	if p >= Alpha || lo <= 0 && hi >= 0 || math.Abs(effect) <= MarginRuns {
		return false
	}
	if s.Verdict = direction(effect, better); s.Verdict == Worse {
		s.beyond = min(math.Abs(math.Expm1(lo)), math.Abs(math.Expm1(hi)))
	}
	return true
}

// logRatios are the logarithms of the ratios of b to a in each pair of runs that have
// values above 0, by a level of a run's sorted values.
func logRatios(a, b *Metric, turns []turn, level func(sorted []float64) float64) (ratios []float64) {
	of := [2]map[int][]float64{valuesByRun(a), valuesByRun(b)}
	for _, t := range turns {
		x, y := of[0][t.base], of[1][t.other]
		if len(x) == 0 || len(y) == 0 || x[0] <= 0 || y[0] <= 0 {
			continue
		}
		if r := math.Log(level(y) / level(x)); isFinite(r) {
			ratios = append(ratios, r)
		}
	}
	return ratios
}

// valuesByRun are the sorted values of each run.
func valuesByRun(m *Metric) map[int][]float64 {
	runs := map[int][]float64{}
	for _, s := range m.Samples {
		runs[s.Run] = append(runs[s.Run], s.Value)
	}
	for _, values := range runs {
		slices.Sort(values)
	}
	return runs
}

// fastest is the value that a tenth of sorted ones are better than: what disturbs a
// machine only ever makes it slower.
func fastest(sorted []float64, better string) float64 {
	at := tenth * float64(len(sorted)-1)
	if better == Higher {
		at = (1 - tenth) * float64(len(sorted)-1)
	}
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

const tenth = 0.1
