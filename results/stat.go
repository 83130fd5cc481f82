package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchmath"
)

// MinSamples is the number of samples, or of effectively independent samples,
// below which the median gets no interval: with fewer, not even the range from
// minimum to maximum holds the median with 95 % confidence.
const MinSamples = 6

// Level is the confidence of every interval.
const Level = 0.95

// Reasons that Summarize gives for a missing interval.
const (
	ReasonNone    = "no samples"
	ReasonFew     = "fewer than 6 samples: minimum and maximum instead"
	ReasonAssumed = "assumed: no interval"
)

// outlierScore is the modified z-score above which a sample counts as an
// outlier (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993).
const outlierScore = 3.5

// SummaryOptions say how samples are summarized. The zero value is the default.
type SummaryOptions struct {
	// Resolution is the smallest difference that the clock behind the metric
	// can tell, in the metric's unit: no deviation below it makes an outlier.
	Resolution float64
	// NoInterval marks a simulated metric: its spread is the stand-in's, so an
	// interval around it would say nothing of any hardware.
	NoInterval bool
}

// FlagNoisy marks samples of a round in which other programs, or other guests of the host, took
// some of the CPU.
const FlagNoisy = "noisy"

// Noisy tells whether a sample is from such a round.
func (s Sample) Noisy() bool { return s.flagged(FlagNoisy) }

func (s Sample) flagged(flag string) bool { return slices.Contains(s.Flags, flag) }

// NoisyShare is the share of samples that are.
func NoisyShare(samples []Sample) float64 { return FlaggedShare(samples, FlagNoisy) }

// FlaggedShare is the share of samples that have a flag.
func FlaggedShare(samples []Sample, flag string) float64 {
	n := 0
	for _, s := range samples {
		if s.flagged(flag) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(samples)))
}

// Summarize fills in Median, Min, Max, Lo, Hi, Confidence, MAD, Outliers, Runs and
// Reason from the samples, which stand in the order in which they were taken.
// It may be called again after more samples. Samples that are not finite are
// removed and counted in Dropped. Without any sample all numbers are 0 and a
// Reason that is already there stays.
func Summarize(m *Metric, o SummaryOptions) {
	before := len(m.Samples)
	m.Samples = slices.DeleteFunc(m.Samples, func(s Sample) bool { return !IsFinite(s.Value) || !IsFinite(s.T) })
	m.Dropped += before - len(m.Samples)
	m.Median, m.Min, m.Max, m.MAD = 0, 0, 0, 0
	m.Lo, m.Hi, m.Confidence, m.Outliers, m.Runs = nil, nil, 0, 0, nil

	reason := ""
	if len(m.Samples) == 0 {
		reason = cmp.Or(m.Reason, ReasonNone)
	} else {
		values := SortedValues(m.Samples)
		m.Min, m.Max = values[0], values[len(values)-1]
		m.Median = Median(values)
		m.MAD, _ = stats.MedianAbsoluteDeviation(values)
		m.Outliers = outliers(values, m.Median, max(m.MAD, o.Resolution))
		reason = m.interval(values, o)
		m.Runs = summarizeRuns(m.Samples, o)
	}
	dropped := fmt.Sprintf("samples dropped because they were not finite: %d", m.Dropped)
	m.Reason = Join("; ", reason, known(m.Dropped > 0 && len(m.Samples) > 0, dropped))
}

// interval fills in Lo, Hi and Confidence, or returns why it cannot. values are
// the samples in ascending order.
func (m *Metric) interval(values []float64, o SummaryOptions) (reason string) {
	if o.NoInterval {
		return ReasonAssumed
	}
	if len(values) < MinSamples {
		return ReasonFew
	}
	independent := EffectiveSamples(m.Samples)
	lo, hi, ok := MedianInterval(values, independent)
	if !ok {
		return fmt.Sprintf("%d samples follow each other so closely that they count as %.1f: minimum and maximum "+
			"instead", len(values), independent)
	}
	m.Lo, m.Hi, m.Confidence = &lo, &hi, Level
	return ""
}

// HalfWidth is half the width of the median's interval over the median, the
// figure that decides whether sampling goes on. It is +Inf without an interval,
// and when the median is 0 unless the interval is 0 wide.
func HalfWidth(m *Metric) float64 {
	if m.Lo == nil || m.Hi == nil {
		return math.Inf(1)
	}
	width := *m.Hi/2 - *m.Lo/2
	if width == 0 {
		return 0
	}
	return math.Abs(width / m.Median)
}

// Finite returns a pointer to x, or nil when x is no finite number.
func Finite(x float64) *float64 {
	if !IsFinite(x) {
		return nil
	}
	return &x
}

// IsFinite tells whether x is neither infinite nor NaN.
func IsFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// SortedValues returns the samples' values in ascending order.
func SortedValues(samples []Sample) []float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = s.Value
	}
	slices.Sort(values)
	return values
}

// Median is that of values in any order, 0 of none.
func Median(values []float64) float64 { return Percentile(values, 50) }

// Percentile is that of values in any order, by linear interpolation between the
// closest ranks, 0 of none.
func Percentile(values []float64, percent float64) float64 {
	x, err := stats.Percentile(values, percent)
	if err != nil {
		return 0
	}
	return x
}

// Quantiles returns the p-quantiles of single observations, p in (0, 1), by
// linear interpolation between the closest ranks. A quantile is given only when
// at least ten observations are expected beyond it: p50 from 20 observations,
// p90 from 100, p99 from 1000, p99.9 from 10000. Others, and observations that
// are not finite, are left out.
func Quantiles(obs []float64, ps ...float64) []Quantile {
	values := slices.DeleteFunc(slices.Sorted(slices.Values(obs)), func(x float64) bool { return !IsFinite(x) })
	var qs []Quantile
	for _, p := range ps {
		// 1-p is not exact: the tolerance keeps 100 observations enough for 0.9.
		if p > 0 && p < 1 && float64(len(values))*min(p, 1-p) >= 10-1e-6 {
			qs = append(qs, Quantile{P: p, Value: Percentile(values, 100*p)})
		}
	}
	return qs
}

// outliers counts the values whose modified z-score exceeds outlierScore. A
// scale of 0, when most values are equal and the clock's resolution is unknown,
// gives no measure of what is far away: none is counted.
func outliers(values []float64, median, scale float64) (n int) {
	if scale <= 0 {
		return 0
	}
	for _, v := range values {
		// 0.6745 is the upper quartile of the normal distribution, where its
		// median absolute deviation lies.
		if 0.6745*math.Abs(v-median)/scale > outlierScore {
			n++
		}
	}
	return n
}

// MedianInterval returns an interval that holds the median with a confidence of at
// least Level; values are in ascending order and worth as many samples as independent
// says. ok is false when that is too few.
//
// Without assuming a distribution the interval runs from one order statistic to
// another, and their ranks follow from the number of independent samples alone.
// For n samples worth m the ranks for m are taken, as shares of m+1, and looked
// up among the n, the lower one rounded down and the upper one up. This needs no
// symmetry and never leaves the range of what was measured. Stretching the
// interval for n by sqrt(n/m) on both sides was tried: with the skewed times
// that are usual here its lower end falls below the minimum, even below 0.
func MedianInterval(values []float64, independent float64) (lo, hi float64, ok bool) {
	n, m := len(values), int(independent)
	if m < MinSamples {
		return 0, 0, false
	}
	ci := moremath.QuantileCI(m, 0.5, Level) // of at least MinSamples it leaves none out of the range
	scale := float64(n+1) / float64(m+1)     // 1 for samples that are all independent
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
	r := autocorrelation(samples)
	if r <= 0 {
		return n
	}
	return n * (1 - r) / (1 + r)
}

// autocorrelation is the lag-1 autocorrelation of the samples' ranks, in the
// order in which they were taken, from -1 to 1; 0 where it is undefined. Ranks,
// because one outlier among the values would hide that the others drift.
// Neighbours of different runs are not compared with each other, but all
// with the common mean: runs that differ make their samples alike.
func autocorrelation(samples []Sample) float64 {
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
	// damps its noise. Pairs lost between runs are made up for.
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

// Runs says how much the runs of a metric differ from each other, each of them
// taken as one observation: the median of its samples. Samples of one run are more
// alike than those of two, so that the interval of a metric, which counts samples,
// is too narrow for where the medians of further runs center. This one is not; a single
// further run may still lie outside of it.
type Runs struct {
	N int `json:"n"` // runs, at least 2
	// Lo and Hi are the 95 % interval of the mean of the medians (the geometric one where
	// all are above 0), by Student's t; absent below 3 runs and for simulated values.
	Lo  *float64 `json:"lo,omitempty"`
	Hi  *float64 `json:"hi,omitempty"`
	Min float64  `json:"min"` // least and greatest median of a run
	Max float64  `json:"max"`
}

// minRuns is the number of runs from which Runs has an interval: that of two
// reaches more than six times as far to each side as they lie apart.
const minRuns = 3

// summarizeRuns returns nil for samples of a single run.
func summarizeRuns(samples []Sample, o SummaryOptions) *Runs {
	medians := RunMedians(samples)
	if len(medians) < 2 {
		return nil
	}
	r := &Runs{N: len(medians), Min: slices.Min(medians), Max: slices.Max(medians)}
	if len(medians) >= minRuns && !o.NoInterval {
		if _, lo, hi := MeanInterval(medians); IsFinite(lo) && IsFinite(hi) {
			r.Lo, r.Hi = &lo, &hi
		}
	}
	return r
}

// RunMedians returns the median of each run, in the order in which the runs appear.
func RunMedians(samples []Sample) (medians []float64) {
	for _, run := range Grouped(samples, func(s Sample) int { return s.Run }) {
		medians = append(medians, Median(SortedValues(run)))
	}
	return medians
}

// MeanInterval returns the mean of at least two values and its 95 % interval by Student's t.
// Values above 0 are taken by their logarithms, so that no interval reaches below 0.
func MeanInterval(values []float64) (mean, lo, hi float64) {
	values = slices.Clone(values)
	positive := slices.Min(values) > 0
	if positive {
		for i, v := range values {
			values[i] = math.Log(v)
		}
	}
	s := benchmath.AssumeNormal.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), Level)
	if positive {
		return math.Exp(s.Center), math.Exp(s.Lo), math.Exp(s.Hi)
	}
	return s.Center, s.Lo, s.Hi
}
