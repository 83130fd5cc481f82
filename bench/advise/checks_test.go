package advise

import (
	"math"
	"testing"

	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/results"
)

// A case that was measured in turn with the base is held against it restart by restart,
// and one restart that went otherwise does not decide.
func TestPredictRestarts(t *testing.T) {
	restarts := func(free string, seconds ...float64) results.Result {
		r := benchtest.PipelineCase("sim:gen3x16", "2", results.Online, free, "real", "0s", 1)
		r.Params = append(r.Params, results.Param{Key: "dtype", Value: "float32"}, results.Param{Key: "step-cpu",
			Value: int64(1)})
		for k, m := range []*results.Metric{r.Metric("step_time"), r.Metric("throughput")} {
			for i := range m.Samples {
				s := seconds[m.Samples[i].Run]
				m.Samples[i].Value = []float64{s, 32 / s}[k]
			}
			results.Summarize(m, results.SummaryOptions{})
		}
		return r
	}
	rep := &results.Report{Config: results.Config{Batch: 32, Shape: []int{225, 225, 3}, DType: "float32"}}
	rep.Host.CPU.Usable = 2
	rep.Results = []results.Result{
		restarts(results.FreeNothing, 0.050, 0.080, 0.060),
		restarts(results.PartRead, 0.050, 0.080, 0.020), // which reading has no part in
	}
	for free, s := range map[string]float64{results.FreeLoading: 0.001,
		results.PartRead + "+" + results.PartCopy: 0.049, results.PartPreprocess + "+" + results.PartCopy: 0.001} {
		rep.Results = append(rep.Results, restarts(free, s, s, s))
	}
	m, err := newModel(rep)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := m.checkRestarts(&m.report.Results[1])
	if !ok || math.Abs(*c.Error) > 0.05 {
		t.Errorf("%+v, error %v", c.Prediction, *c.Error)
	}
}

// Fewer busy cores leave more to each by the control, more of them less by the loader.
func TestCrowded(t *testing.T) {
	m := &model{cores: 2, parts: loader{workers: 1, busy: 1},
		controls: []theory.Rate{{Threads: 1, Value: 100}, {Threads: 2, Value: 160}},
		rates:    []theory.Rate{{Threads: 1, Value: 800}, {Threads: 2, Value: 1200}, {Threads: 4, Value: 1600}}}
	for _, c := range []struct {
		threads     int
		cores, want float64
	}{
		{2, 2, 1}, {2, 1, 1 / 0.8}, {1, 2, 1 / 0.8}, {4, 4, 0.5 / 0.75}, {4, 2, 1}, {3, 3, 0.625 / 0.75}, {2, 0.5,
			1 / 0.8},
	} {
		if got := m.crowding(c.threads, c.cores); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d threads on %g cores: %g, want %g", c.threads, c.cores, got, c.want)
		}
	}
	if got := (&model{cores: 2, parts: m.parts}).crowding(2, 1); got != 1 {
		t.Errorf("without a control: %g", got)
	}
}

// A loader is told the rate of copies that nothing disturbs.
func TestMemoryRateIsThatOfCopiesAlone(t *testing.T) {
	at := func(rate float64, params ...string) results.Result {
		p := results.Params{{Key: "device", Value: "cuda:0"}, {Key: "dir", Value: results.H2D}, {Key: "mem",
			Value: "pinned"}, {Key: "dtype", Value: "float32"},
			{Key: "source", Value: results.SourceWarm}, {Key: "bytes", Value: theory.ArticleBatch.Bytes()}}
		for i := 0; i < len(params); i += 2 {
			p = p.With(params[i], params[i+1])
		}
		return results.Result{Suite: "pcie", Params: p, Status: results.OK,
			Metrics: []results.Metric{{Name: "bandwidth", Median: rate}}}
	}
	m := model{batch: theory.ArticleBatch, params: results.PipelineParams{Device: "cuda:0"}}
	m.report = &results.Report{Results: []results.Result{at(5e9, "concurrent", results.ConcurrentDevices), at(6e9,
		"numa", results.NUMARemote), at(7e9, "source", results.SourceCold), at(12e9)}}
	if rate := m.memoryRate("pinned"); rate != 12e9 {
		t.Errorf("%g B/s", rate)
	}
}
