package bench

import "dlbench/results"

// Parts of the pipeline that can be made free.
const (
	partRead, partPreprocess, partCopy = "read", "preprocess", "copy"
	nothing                            = "nothing"
	everything                         = partRead + "+" + partPreprocess + "+" + partCopy
	loading                            = partRead + "+" + partPreprocess
)

// strategyTensor reads whole batches that were prepared before.
const strategyTensor = "tensor"

// cacheUsed reads through the page cache, whatever it holds.
const cacheUsed = "used"

const MostPrefetch = 1024

// find returns the OK cases with these parameters, in order.
func (p pipelineFinished) find(pairs ...string) []*results.Result {
	return pick(p.rs, func(r *results.Result) bool {
		if r.Suite != "pipeline" || r.Metric("step_time") == nil {
			return false
		}
		for i := 0; i < len(pairs); i += 2 {
			if r.Params.Text(pairs[i]) != pairs[i+1] {
				return false
			}
		}
		return true
	})
}

// same tells whether two cases have the same parameters, but for one.
func same(a, b *results.Result, but string) bool {
	for _, q := range a.Params {
		if q.Key != but && a.Params.Text(q.Key) != b.Params.Text(q.Key) {
			return false
		}
	}
	return len(a.Params) == len(b.Params)
}

// fastest is the case of the loader's top speed that feeds most.
func (p pipelineFinished) fastest() *results.Result {
	var best *results.Result
	for _, r := range p.find("step", "0s", "free", nothing) {
		if r.Metric("throughput") != nil && (best == nil || r.Metric("throughput").Median > best.Metric("throughput").Median) &&
			(best == nil || alike(r, best)) {
			best = r
		}
	}
	return best
}

// alike tells whether two cases load the same data in the same way, whatever else
// differs.
func alike(a, b *results.Result) bool {
	for _, key := range []string{"strategy", "disk", "cache", "cpus"} {
		if a.Params.Text(key) != b.Params.Text(key) {
			return false
		}
	}
	return true
}

// runs are the medians of a metric in each restart.
func runs(m *results.Metric) []float64 { return results.RunMedians(m.Samples) }

// pipelineFinished finds the OK cases of the pipeline suite.
type pipelineFinished struct{ rs []results.Result }

// bypassed tells whether a case of the pipeline reads past the page cache.
func bypassed(r *results.Result) bool { return r.Params.Text("cache") == direct }

// provenCold tells whether a case past the page cache is one, as far as is known.
func provenCold(r *results.Result) bool {
	proven, told := r.Proof["proven"].(bool)
	return bypassed(r) && (proven || !told)
}
