package results

// Parts of the pipeline that can be made free.
const (
	PartRead, PartPreprocess, PartCopy = "read", "preprocess", "copy"
	FreeNothing                        = "nothing"
	FreeAll                            = PartRead + "+" + PartPreprocess + "+" + PartCopy
	FreeLoading                        = PartRead + "+" + PartPreprocess
)

// strategyTensor reads whole batches that were prepared before.
const StrategyTensor = "tensor"

// cacheUsed reads through the page cache, whatever it holds.
const CacheUsed = "used"

const MostPrefetch = 1024

// find returns the OK cases with these parameters, in order.
func (p PipelineCases) Find(pairs ...string) []*Result {
	return Pick(p.Rs, func(r *Result) bool {
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
func SameBut(a, b *Result, but string) bool {
	for _, q := range a.Params {
		if q.Key != but && a.Params.Text(q.Key) != b.Params.Text(q.Key) {
			return false
		}
	}
	return len(a.Params) == len(b.Params)
}

// fastest is the case of the loader's top speed that feeds most.
func (p PipelineCases) Fastest() *Result {
	var best *Result
	for _, r := range p.Find("step", "0s", "free", FreeNothing) {
		if r.Metric("throughput") != nil && (best == nil || r.Metric("throughput").Median > best.Metric("throughput").Median) &&
			(best == nil || alike(r, best)) {
			best = r
		}
	}
	return best
}

// alike tells whether two cases load the same data in the same way, whatever else
// differs.
func alike(a, b *Result) bool {
	for _, key := range []string{"strategy", "disk", "cache", "cpus"} {
		if a.Params.Text(key) != b.Params.Text(key) {
			return false
		}
	}
	return true
}

// runs are the medians of a metric in each restart.
func MediansOfRuns(m *Metric) []float64 { return RunMedians(m.Samples) }

// pipelineFinished finds the OK cases of the pipeline suite.
type PipelineCases struct{ Rs []Result }

// bypassed tells whether a case of the pipeline reads past the page cache.
func Bypassed(r *Result) bool { return r.Params.Text("cache") == Direct }

// provenCold tells whether a case past the page cache is one, as far as is known.
func ProvenCold(r *Result) bool {
	proven, told := r.Proof["proven"].(bool)
	return Bypassed(r) && (proven || !told)
}
