package results

import (
	"slices"

	"github.com/montanaflynn/stats"
)

// Quantiles returns the p-quantiles of single observations, p in (0, 1), by
// linear interpolation between the closest ranks. A quantile is given only when
// at least ten observations are expected beyond it: p50 from 20 observations,
// p90 from 100, p99 from 1000, p99.9 from 10000. Others, and observations that
// are not finite, are left out.
func Quantiles(obs []float64, ps ...float64) []Quantile {
	values := make([]float64, 0, len(obs))
	for _, x := range obs {
		if IsFinite(x) {
			values = append(values, x)
		}
	}
	slices.Sort(values)
	var qs []Quantile
	for _, p := range ps {
		if !(p > 0 && p < 1) {
			continue
		}
		// 1-p is not exact: the tolerance keeps 100 observations enough for 0.9.
		if float64(len(values))*min(p, 1-p) < 10-1e-6 {
			continue
		}
		if v, err := stats.Percentile(values, 100*p); err == nil {
			qs = append(qs, Quantile{P: p, Value: v})
		}
	}
	return qs
}
