package results

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Runs says how much the restarts of a metric differ from each other, each of them
// taken as one observation: the median of its samples. Samples of one run are more
// alike than those of two, so that the interval of a metric, which counts samples,
// is too narrow for where the medians of further runs center. This one is not; a single
// further run may still lie outside of it.
type Runs struct {
	N int `json:"n"` // restarts, at least 2
	// Lo and Hi are the 95 % interval of the mean of the medians (the geometric one where
	// all are above 0), by Student's t; absent below 3 restarts and for assumed values.
	Lo  *float64 `json:"lo,omitempty"`
	Hi  *float64 `json:"hi,omitempty"`
	Min float64  `json:"min"` // least and greatest median of a restart
	Max float64  `json:"max"`
}

// minRuns is the number of restarts from which Runs has an interval: that of two
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
		_, lo, hi := MeanInterval(medians, o.Confidence)
		if IsFinite(lo) && IsFinite(hi) {
			r.Lo, r.Hi = &lo, &hi
		}
	}
	return r
}

// RunMedians returns the median of each run, in the order in which the runs appear.
func RunMedians(samples []Sample) []float64 {
	at := map[int]int{}
	var values [][]float64
	for _, s := range samples {
		i, ok := at[s.Run]
		if !ok {
			i = len(values)
			at[s.Run] = i
			values = append(values, nil)
		}
		values[i] = append(values[i], s.Value)
	}
	medians := make([]float64, len(values))
	for i, v := range values {
		medians[i] = Median(v)
	}
	return medians
}

// MeanInterval returns the mean of at least two values and its interval by Student's t.
// Values above 0 are taken by their logarithms, so that no interval reaches below 0.
func MeanInterval(values []float64, confidence float64) (mean, lo, hi float64) {
	values = slices.Clone(values)
	positive := slices.Min(values) > 0
	if positive {
		for i, v := range values {
			values[i] = math.Log(v)
		}
	}
	s := benchmath.AssumeNormal.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), confidence)
	if positive {
		return math.Exp(s.Center), math.Exp(s.Lo), math.Exp(s.Hi)
	}
	return s.Center, s.Lo, s.Hi
}
