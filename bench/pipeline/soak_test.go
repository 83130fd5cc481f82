//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package pipeline

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/cuda/fakecuda"
	"dlbench/results"
)

// onGPU measures serial steps of 30 ms, and a soak where one is asked for, over the fake driver.
func onGPU(t *testing.T, soak time.Duration) (rs []results.Result, findings map[string]results.Finding) {
	t.Helper()
	devices, _, err := cuda.Open([]theory.Device{benchtest.Spec(t, "cuda:0")})
	if err != nil {
		t.Fatal(err)
	}
	env := pipelineEnv(t)
	env.Devices, env.Quick, env.Soak = devices, true, soak
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
	rs, findings := onGPU(t, 0)
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
	if f := findings["A13"]; f.Verdict != results.NotMeasured || !strings.Contains(f.Text, "--soak 60s") {
		t.Errorf("A13: %+v", f)
	}
	if polling, blocking := r.Metric(metricPolling), r.Metric(metricBlocking); polling.Median <= blocking.Median {
		t.Errorf("CPU time: %v by polling, %v by sleeping", polling.Median, blocking.Median)
	}
	if f := findings["A16"]; f.Verdict == results.NotMeasured || len(f.Assumed) > 0 || f.Value == nil {
		t.Errorf("A16: %+v", f)
	}
}

// A soak in which the GPU gets hot: the same work takes 1.25 times as long then.
func TestSoak(t *testing.T) {
	hot := filepath.Join(t.TempDir(), "hot")
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "DLBENCH_LIBNVML="+fakecuda.BuildNVML(t), "FAKE_NVML_HOT="+hot,
		"FAKE_CUDA_HOT="+hot+":150:1000000") {
		return
	}
	rs, findings := onGPU(t, 4*time.Second)
	soak := rs[len(rs)-1]
	if !strings.HasSuffix(soak.Name, "/soak=4s") || soak.Status != results.OK {
		t.Fatalf("%s: %s %s", soak.Name, soak.Status, soak.Reason)
	}
	samples := soak.Metric("step_time").Samples
	if lasted := samples[len(samples)-1].T - samples[0].T; lasted < 3.5 {
		t.Errorf("%d samples in %v s", len(samples), lasted)
	}
	f := findings["A13"]
	if f.Value == nil || math.Abs(*f.Value-0.25) > 0.01 || f.Verdict != results.Fails {
		t.Errorf("A13: %+v", f)
	}
	for _, want := range []string{"cuda:0 was throttled after", "at 83 C", "heat", "61 to 83 C"} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("A13 lacks %q: %s", want, f.Text)
		}
	}
}

// What NVML does not tell is said; all is measured, and A13 says why it is not judged.
func TestSoakOfUnreadableGPUs(t *testing.T) {
	for _, c := range []struct {
		name, deny, lacks string
		library           func(t *testing.T) string
		verdict           string // of A13
	}{
		{"denied", "1", "no permission", func(t *testing.T) string { return fakecuda.BuildNVML(t) }, results.NotMeasured},
		{"old", "", "throttle reasons (not in this driver)",
			func(t *testing.T) string { return fakecuda.BuildNVML(t, "-DFAKE_NVML_OLD") }, results.NotMeasured},
		{"none", "", "no NVML", func(t *testing.T) string { return "/nonexistent/libnvidia-ml.so.1" }, results.NotMeasured},
		{"no power", "power", "power (no permission)",
			func(t *testing.T) string { return fakecuda.BuildNVML(t) }, results.Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "DLBENCH_LIBNVML="+c.library(t), "FAKE_NVML_DENY="+c.deny) {
				return
			}
			rs, findings := onGPU(t, 300*time.Millisecond)
			for _, r := range rs {
				g := results.As[results.PipelineProof](r.Proof).GPU
				if r.Status != results.OK || g == nil || !strings.Contains(g.Lacks, c.lacks) {
					t.Errorf("%s: %s %s, the GPU told %+v", r.Name, r.Status, r.Reason, g)
				}
			}
			f := findings["A13"]
			if f.Verdict != c.verdict || c.verdict == results.NotMeasured && !strings.Contains(f.Text, c.lacks) {
				t.Errorf("A13: %+v", f)
			}
		})
	}
}
