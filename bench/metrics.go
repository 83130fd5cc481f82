package bench

import "dlbench/results"

// Metrics that several suites have.
var (
	metricTime      = MetricDef{Name: "time", Unit: results.Seconds, Better: results.Lower, Resolution: 0.5e-6} // of a batch
	metricBandwidth = MetricDef{Name: "bandwidth", Unit: results.BytesPerSecond, Better: results.Higher}
	metricImages    = MetricDef{Name: "throughput", Unit: results.PerSecond, Better: results.Higher}              // images
	metricLateness  = MetricDef{Name: "lateness", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-7} // against a simulated deadline
)
