package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/mathx"
	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchmath"

	"dlbench/results"
)

// Estimate is what one report says of a metric.
type Estimate struct {
	// Median of the samples; with several runs the mean of the runs' medians
	// (the geometric one where all are above 0).
	Median float64 `json:"median"`
	// Lo and Hi are the 95 % interval of Median: with several runs by Student's t
	// over the runs, with one run that of a Metric, or minimum and maximum where
	// samples follow each other too closely for it. Absent where samples are
	// too few, and for simulated values.
	Lo *float64 `json:"lo,omitempty"`
	Hi *float64 `json:"hi,omitempty"`
	N  int      `json:"n"` // samples
	// Effective is what the samples are worth, see EffectiveSamples.
	Effective float64 `json:"effective"`
	Runs      int     `json:"runs"`

	few     string    // why there is no interval
	medians []float64 // of the runs
	metric  *results.Metric
}

// Bounds of what a median and its interval are believed for.
const (
	// fewestEffective is the number of independent samples below which minimum
	// and maximum tell nothing either: a drift has not shown its range.
	fewestEffective = 3
	// steadyRuns is the relative standard deviation of the medians of runs up to
	// which they are taken for what they are. Where they differ more, the machine is
	// busy with something else, and may be so in another way at the time of the other
	// report: see apart, and pairsOf for runs that were made at the same time.
	steadyRuns = 0.025
	// noisyShare is the share of samples taken while the machine was busy above
	// which a run is believed by its whole range alone.
	noisyShare = 0.5
	// tail is the share of samples on each side that a range leaves out else.
	tail = 0.05
	// farRatio is that of medians from which on samples may be left out of noisy runs as
	// well, farTail the share of them on each side.
	farRatio = 1.5
	farTail  = 0.1
)

// estimate sums up a metric.
func estimate(m *results.Metric, assumed bool) Estimate {
	e := Estimate{Median: m.Median, N: len(m.Samples), Effective: results.EffectiveSamples(m.Samples), metric: m}
	e.medians = results.RunMedians(m.Samples)
	e.Runs = len(e.medians)
	var lo, hi float64
	if e.Runs > 1 {
		mean, low, high := results.MeanInterval(e.medians)
		if lo, hi = low, high; results.IsFinite(mean) {
			e.Median = mean
		}
	}
	switch {
	case assumed:
		return e
	case e.N == 0 && m.Lo != nil && m.Hi != nil:
		lo, hi = *m.Lo, *m.Hi // derived from other metrics
	case e.N == 0:
		e.few = "no samples"
		return e
	case e.Runs > 1:
	case e.N < results.MinSamples:
		e.few = fmt.Sprintf("%s, of at least %d", results.Plural(e.N, "sample"), results.MinSamples)
		return e
	case e.Effective < fewestEffective:
		e.few = fmt.Sprintf("samples that follow each other so closely that they count as less than %d",
			fewestEffective)
		return e
	default:
		values := results.SortedValues(m.Samples)
		var ok bool
		if lo, hi, ok = results.MedianInterval(values, e.Effective); !ok {
			lo, hi = values[0], values[e.N-1]
		}
	}
	if !results.IsFinite(lo) || !results.IsFinite(hi) { // sums overflow
		e.few = "values out of range"
		return e
	}
	e.Lo, e.Hi = &lo, &hi
	return e
}

// steady tells whether the runs may stand for others of the same machine.
func (e *Estimate) steady() bool {
	if e.Runs < 2 {
		return false
	}
	mean, _ := stats.Mean(e.medians)
	deviation, _ := stats.StandardDeviationSample(e.medians)
	return deviation <= steadyRuns*math.Abs(mean)
}

// apart tells whether nearly all samples of one side lie beyond nearly all of
// the other's, which stands in for what runs at another time would differ by. Of
// 488 pairs of equal runs on two cores under a changing load of six, 5 % did, and
// 38 % had the middle halves of their samples apart.
func apart(a, b *Estimate) bool {
	far := a.positive() && b.positive() && math.Abs(math.Log(b.Median/a.Median)) >= math.Log(farRatio)
	x, y := a.mostSamples(far), b.mostSamples(far)
	return y[0] > x[len(x)-1] || y[len(y)-1] < x[0]
}

// mostSamples are the values of nine tenths of the samples, in order, or of all of a noisy run. Where the medians are
// far apart a sample or two cannot decide: a tenth on each side is left out, and one at least, of a noisy run too.
func (e *Estimate) mostSamples(far bool) []float64 {
	out := 0
	switch {
	case far:
		out = max(min(1, e.N/results.MinSamples), int(farTail*float64(e.N)))
	case results.NoisyShare(e.metric.Samples) <= noisyShare:
		out = int(tail * float64(e.N))
	}
	return results.SortedValues(e.metric.Samples)[out : e.N-out]
}

// positive tells whether logarithms can be had of all that is known.
func (e *Estimate) positive() bool { return e.Median > 0 && (e.Lo == nil || *e.Lo > 0) }

// around returns the estimate and its interval on a scale, math.Log or itself.
// Against a side of several runs a single run has at least as wide an interval as
// one of those would have.
func (e *Estimate) around(scale func(float64) float64, other *Estimate) (center, lo, hi float64) {
	center, lo, hi = scale(e.Median), scale(*e.Lo), scale(*e.Hi)
	if e.Runs <= 1 && other.Runs > 1 {
		_, _, above := results.MeanInterval(other.medians)
		half := (scale(above) - scale(other.Median)) * math.Sqrt(float64(other.Runs))
		lo, hi = min(lo, center-half), max(hi, center+half)
	}
	return center, lo, hi
}

// difference is b - a with its interval, by the method of variance estimates
// recovery (MOVER; Donner and Zou, "Closed-form confidence intervals for functions
// of the normal mean and standard deviation", 2012): each side's interval brings
// its own, perhaps unequal, reach.
func difference(a, loA, hiA, b, loB, hiB float64) (d, lo, hi float64) {
	d = b - a
	return d, d - math.Hypot(b-loB, hiA-a), d + math.Hypot(hiB-b, a-loA)
}

// Alpha is the level of the rank test.
const Alpha = 0.01

// rankTest is the Mann-Whitney test of benchmath. It takes the medians of the runs
// where both sides have so many that they can reach Alpha, else samples thinned
// to the number that they are worth. ok is false where no outcome could reach it.
func rankTest(a, b *Estimate) (p float64, ok bool) {
	x, y := slices.Clone(a.medians), slices.Clone(b.medians)
	if !reaches(len(x), len(y)) {
		x, y = a.thinned(), b.thinned()
	}
	if !reaches(len(x), len(y)) {
		return 1, false
	}
	thresholds := benchmath.Thresholds{CompareAlpha: Alpha}
	c := benchmath.AssumeNothing.Compare(benchmath.NewSample(x, &thresholds), benchmath.NewSample(y, &thresholds))
	return c.P, true
}

// reaches tells whether the rank test can find a difference between n and m
// values: all of one side above the other's has p = 2/(n+m choose n).
func reaches(n, m int) bool { return n > 0 && m > 0 && 2/mathx.Choose(n+m, n) <= Alpha }

// mostTested bounds the samples that go into a test: the time of an exact one grows
// with the fourth power, and so many find whatever a verdict needs.
const mostTested = 24

// thinned returns as many samples as they are worth, but at least MinSamples, spread
// evenly over the time.
func (e *Estimate) thinned() []float64 {
	n := len(e.metric.Samples)
	m := min(n, mostTested, max(results.MinSamples, int(e.Effective)))
	values := make([]float64, m)
	for i := range values {
		values[i] = e.metric.Samples[(2*i+1)*n/(2*m)].Value
	}
	return values
}
