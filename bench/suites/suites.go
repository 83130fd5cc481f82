// Package suites is the list of suites, which the command line and the benchmarks share.
package suites

import (
	"dlbench/bench"
	"dlbench/bench/disk"
	"dlbench/bench/external"
	"dlbench/bench/pcie"
	"dlbench/bench/pipeline"
	"dlbench/bench/preprocess"
)

// All is every suite, in the order in which a run does them.
var All = []bench.Suite{pcie.Suite, disk.Suite, preprocess.Suite, pipeline.Suite, external.Suite}
