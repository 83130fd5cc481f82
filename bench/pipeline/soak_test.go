//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package pipeline

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// onGPU measures serial steps of 30 ms over the fake driver.
func onGPU(t *testing.T) (rs []results.Result, findings map[string]results.Finding) {
	t.Helper()
	devices, _, err := cuda.Open([]theory.Device{benchtest.Spec(t, "cuda:0")})
	if err != nil {
		t.Fatal(err)
	}
	env := pipelineEnv(t)
	env.Devices, env.Quick = devices, true
	env.Step.Time = 30 * time.Millisecond
	env.Axes = map[string][]string{"free": {results.FreeLoading}, "prefetch": {"0"}, "step": {"30ms"}}
	rs = benchtest.Run(t, Suite, env, 20)
	findings = map[string]results.Finding{}
	for _, f := range Suite.Findings(env, rs) {
		findings[f.Claim] = f
	}
	return rs, findings
}

// A GPU that throttles in the middle of a case, at the 25th kernel of the process, until the 45th:
// the samples of then are flagged, and the proof has both states.
func TestThrottlesInTheMiddle(t *testing.T) {
	hot := filepath.Join(t.TempDir(), "hot")
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "DLBENCH_LIBNVML="+fakecuda.BuildNVML(t), "FAKE_NVML_HOT="+hot,
		"FAKE_CUDA_HOT="+hot+":25:45") {
		return
	}
	rs, findings := onGPU(t)
	r := &rs[0]
	if r.Status != results.OK {
		t.Fatal(r.Reason)
	}
	for _, m := range r.Metrics {
		if m.Name == "first_batch" {
			continue
		}
		throttled := func(s results.Sample) bool { return s.Throttled() }
		last := len(m.Samples) - 1
		if m.Samples[0].Throttled() || m.Samples[last].Throttled() || !slices.ContainsFunc(m.Samples, throttled) {
			t.Errorf("%s: samples %+v", m.Name, m.Samples)
		}
	}
	g := results.As[results.PipelineProof](r.Proof).GPU
	if g == nil || *g.Temperature != (results.Range{Min: 61, Max: 83}) ||
		*g.Power != (results.Range{Min: 250, Max: 300}) ||
		*g.SMClock != (results.Range{Min: 1410e6, Max: 1980e6}) || *g.From != 83 || g.CPU <= 0 || g.Lacks != "" ||
		g.Throttled == 0 || g.Throttled == g.Readings || !slices.Contains(g.Reasons, "heat") {
		t.Errorf("the GPU told %+v", g)
	}
	if polling, blocking := r.Metric(metricPolling), r.Metric(metricBlocking); polling.Median <= blocking.Median {
		t.Errorf("CPU time: %v by polling, %v by sleeping", polling.Median, blocking.Median)
	}
	if f := findings["A16"]; f.Verdict == results.NotMeasured || len(f.Assumed) > 0 || f.Value == nil {
		t.Errorf("A16: %+v", f)
	}
}
