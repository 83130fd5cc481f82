package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/montanaflynn/stats"
)

// MinSamples is the number of samples, or of effectively independent samples,
// below which the median gets no interval: with fewer, not even the range from
// minimum to maximum holds the median with 95 % confidence.
const MinSamples = 6

// DefaultConfidence is the level of an interval unless another one is asked for.
const DefaultConfidence = 0.95

// Reasons that Summarize gives for a missing interval.
const (
	ReasonNone    = "no samples"
	ReasonFew     = "fewer than 6 samples: minimum and maximum instead"
	ReasonAssumed = "assumed: no interval"
)

// OutlierScore is the modified z-score above which a sample counts as an
// outlier (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993).
const OutlierScore = 3.5

// SummaryOptions say how samples are summarized. The zero value is the default.
type SummaryOptions struct {
	// Confidence of the median's interval; 0 for DefaultConfidence.
	Confidence float64
	// Resolution is the smallest difference that the clock behind the metric
	// can tell, in the metric's unit: no deviation below it makes an outlier.
	Resolution float64
	// NoInterval marks an assumed metric: its spread is the stand-in's, so an
	// interval around it would say nothing of any hardware.
	NoInterval bool
}

// Add appends a sample. A value that is not finite cannot be written as JSON
// and is refused: Add counts it in Dropped and returns false.
func (m *Metric) Add(s Sample) bool {
	if !IsFinite(s.Value) || !IsFinite(s.T) {
		m.Dropped++
		return false
	}
	m.Samples = append(m.Samples, s)
	return true
}

// Summarize fills in Median, Min, Max, Lo, Hi, Confidence, MAD, Outliers, Runs and
// Reason from the samples, which stand in the order in which they were taken.
// It may be called again after more samples. Samples that are not finite are
// removed and counted in Dropped. Without any sample all numbers are 0 and a
// Reason that is already there stays.
func Summarize(m *Metric, o SummaryOptions) {
	if o.Confidence <= 0 || o.Confidence >= 1 {
		o.Confidence = DefaultConfidence
	}
	before := len(m.Samples)
	m.Samples = slices.DeleteFunc(m.Samples, func(s Sample) bool {
		return !IsFinite(s.Value) || !IsFinite(s.T)
	})
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
		if !IsFinite(m.MAD) { // the deviations overflow
			m.MAD = math.MaxFloat64
		}
		m.Outliers = outliers(values, m.Median, max(m.MAD, o.Resolution))
		reason = m.interval(values, o)
		m.Runs = summarizeRuns(m.Samples, o)
	}
	if m.Dropped > 0 && len(m.Samples) > 0 {
		dropped := fmt.Sprintf("samples dropped because they were not finite: %d", m.Dropped)
		if reason != "" {
			dropped = reason + "; " + dropped
		}
		reason = dropped
	}
	m.Reason = reason
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
	lo, hi, ok := MedianInterval(values, independent, o.Confidence)
	if !ok {
		if independent < float64(len(values)) {
			return fmt.Sprintf("%d samples follow each other so closely that they count as %.1f: minimum and maximum instead",
				len(values), independent)
		}
		return fmt.Sprintf("%d samples are too few for a confidence of %g: minimum and maximum instead",
			len(values), o.Confidence)
	}
	m.Lo, m.Hi, m.Confidence = &lo, &hi, o.Confidence
	return ""
}

// HalfWidth is half the width of the median's interval over the median, the
// figure that decides whether sampling goes on. It is +Inf without an interval,
// and when the median is 0 unless the interval is 0 wide.
func HalfWidth(m *Metric) float64 {
	if m == nil || m.Lo == nil || m.Hi == nil {
		return math.Inf(1)
	}
	width := *m.Hi/2 - *m.Lo/2
	if width == 0 {
		return 0
	}
	if m.Median == 0 {
		return math.Inf(1)
	}
	return math.Abs(width / m.Median)
}

// Inside reports whether the whole interval from lo to hi lies within margin of
// center, the only ground on which two things are called the same. margin is in
// the unit of the other three: for "the same within 2 %" hold a ratio against 1
// with a margin of 0.02, for "a gain of 0 %" a gain against 0 with 0.01.
func Inside(lo, hi, center, margin float64) bool {
	return lo <= hi && lo >= center-margin && hi <= center+margin
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
		if !(p > 0 && p < 1) {
			continue
		}
		// 1-p is not exact: the tolerance keeps 100 observations enough for 0.9.
		if float64(len(values))*min(p, 1-p) < 10-1e-6 {
			continue
		}
		qs = append(qs, Quantile{P: p, Value: Percentile(values, 100*p)})
	}
	return qs
}

// outliers counts the values whose modified z-score exceeds OutlierScore. A
// scale of 0, when most values are equal and the clock's resolution is unknown,
// gives no measure of what is far away: none is counted.
func outliers(values []float64, median, scale float64) (n int) {
	if scale <= 0 {
		return 0
	}
	for _, v := range values {
		// 0.6745 is the upper quartile of the normal distribution, where its
		// median absolute deviation lies.
		if 0.6745*math.Abs(v-median)/scale > OutlierScore {
			n++
		}
	}
	return n
}
