package advise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dlbench/bench/benchtest"
	"dlbench/results"
)

// Data brought into RAM is predicted from a case past the page cache: from its steps and
// what its reads took, not from what it is held against.
func TestPredictCold(t *testing.T) {
	of := func(free, cache string, seconds, read float64) results.Result {
		r := benchtest.PipelineCase("sim:gen3x16", "2", results.Online, free, "real", "0s", seconds)
		r.Params = append(r.Params, results.Param{Key: "cache", Value: cache}, results.Param{Key: "dtype",
			Value: "float32"}, results.Param{Key: "step-cpu", Value: int64(1)})
		if read > 0 {
			m := results.Metric{Name: "read", Unit: results.Seconds}
			for i := range 6 {
				m.Samples = append(m.Samples, results.Sample{Value: read, N: 1, T: float64(i)})
			}
			results.Summarize(&m, results.SummaryOptions{})
			r.Metrics = append(r.Metrics, m)
		}
		return r
	}
	for _, c := range []struct {
		name       string
		cold, read float64 // s a batch
		want       float64 // s a batch in RAM; 0 for no prediction
	}{
		{"reads and the rest add up", 0.060, 0.011, 0.050},
		{"what others made slower is no read", 0.070, 0.011, 0.060},
		{"reads take all that is more", 0.090, 0.041, 0.050},
		{"reads unknown", 0.060, 0, 0},
		{"unproven", 0.060, 0.011, 0},
	} {
		rep := &results.Report{Config: results.Config{Batch: 32, Shape: []int{225, 225, 3}, DType: "float32"}}
		rep.Host.CPU.Usable = 2
		rep.Results = []results.Result{of(results.FreeNothing, results.CacheUsed, 0.050, 0.001),
			of(results.FreeNothing, results.Direct, c.cold, c.read)}
		if c.name == "unproven" {
			rep.Results[1].Proof = results.RecordOf(map[string]any{"proven": false})
		}
		for free, s := range map[string]float64{results.FreeLoading: 0.001,
			results.PartRead + "+" + results.PartCopy: 0.049, results.PartPreprocess + "+" + results.PartCopy: 0.001} {
			rep.Results = append(rep.Results, of(free, results.CacheUsed, s, 0))
		}
		m, err := newModel(rep)
		if err != nil {
			t.Fatal(err)
		}
		if m.base != &rep.Results[0] {
			t.Fatalf("the base is %s", m.base.Name)
		}
		checks := m.checks()
		i := slices.IndexFunc(checks, func(k check) bool { return strings.Contains(k.Change, "into RAM") })
		if c.want == 0 {
			if i >= 0 {
				t.Errorf("%s: %+v", c.name, checks[i])
			}
			continue
		}
		if i < 0 {
			t.Fatalf("%s: not predicted: %+v", c.name, checks)
		}
		k := checks[i]
		if got := 32 / *k.Value; math.Abs(got/c.want-1) > 0.02 || *k.Measured != 32/0.050 || k.Kind != kindRead {
			t.Errorf("%s: %g s a batch, want %g; %+v", c.name, got, c.want, k.Prediction)
		}
	}
}
