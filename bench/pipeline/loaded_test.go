//go:build linux && (amd64 || arm64) && !nocuda

package pipeline

import (
	"slices"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// A batch over a loaded link takes as long in the pipeline, which checks that itself.
func TestLoadedLinkInPipeline(t *testing.T) {
	if !benchtest.InChild(t, "FAKE_CUDA_DEVICES=1", "FAKE_CUDA_H2D_GBPS=12") {
		return
	}
	devices, _, err := cuda.Open([]cuda.Spec{benchtest.Spec(t, "cuda:0:link=gen3x4"), benchtest.Spec(t, "cuda:0:link=gen3x8")})
	if err != nil {
		t.Fatal(err)
	}
	env := pipelineEnv(t)
	env.Devices, env.Quick = devices, true
	env.Batch = theory.ArticleBatch
	env.Batch.Images = 8 // 4.86 MB, 1.54 ms over Gen3 x4, for a step of 2 ms
	env.Axes = map[string][]string{"free": {results.FreeLoading}, "prefetch": {"0"}, "step": {"2ms"}, "mem": {"pinned", "pageable", results.Staged}}
	cases, err := pipelineCases(env)
	if err != nil {
		t.Fatal(err)
	}
	cfg := benchtest.Config(6)
	cfg.Env = env
	n := 0
	if err := bench.Measure(t.Context(), cfg, "pipeline", cases, func(r results.Result) error {
		if r.Params.Text("mem") == "pageable" && strings.Contains(r.Reason, "slower than the link asked for") {
			return nil // by the host's clock, and this host is busy
		}
		if !slices.Contains(r.Assumed, "link") || slices.Contains(r.Assumed, "step") || r.Status == results.Failed && !strings.Contains(r.Reason, "missed its time") {
			t.Errorf("%s: %s %s, assumed %v", r.Name, r.Status, r.Reason, r.Assumed)
		}
		if load := results.As[results.PipelineProof](r.Proof).TimeLoaded; r.Status == results.OK && load != nil {
			rate := map[string]float64{"cuda:0:link=gen3x4": 0.80 * 3.938e9, "cuda:0:link=gen3x8": 0.80 * 7.877e9}[r.Params.Text("device")]
			if r.Params.Text("mem") == "pageable" {
				rate /= 2
			}
			n++
			if a := *load.Achieved; a < 0.99*float64(env.Batch.Bytes())/rate {
				t.Errorf("%s: copies took %v, want %v", r.Name, a, float64(env.Batch.Bytes())/rate)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Error("no case has a loaded link")
	}
}
