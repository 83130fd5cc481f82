package bench

import (
	"dlbench/bench/theory"
	"dlbench/results"
)

// Metrics that several suites have.
var (
	MetricBandwidth = MetricDef{Name: "bandwidth", Unit: results.BytesPerSecond, Better: results.Higher}

	// MetricTime is that of a batch.
	MetricTime = MetricDef{Name: "time", Unit: results.Seconds, Better: results.Lower, Resolution: 0.5e-6}
	// MetricImages is a number of images in a time.
	MetricImages = MetricDef{Name: "throughput", Unit: results.PerSecond, Better: results.Higher}
	// MetricLateness is that against a simulated deadline.
	MetricLateness = MetricDef{Name: "lateness", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-7}
)

// Demands are the rates that GPUs take, as references of a throughput.
func Demands() (all []results.Reference) {
	for _, d := range theory.Demands {
		rate := d.Rate()
		all = append(all, results.Reference{Name: results.DemandPrefix + d.Name, Metric: MetricImages.Name,
			Value: &rate, Source: d.Source})
	}
	return all
}
