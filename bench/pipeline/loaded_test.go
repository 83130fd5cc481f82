//go:build linux && (amd64 || arm64) && !nocuda

package pipeline

import (
	"slices"
	"strings"
	"testing"

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
	devices, _, err := cuda.Open([]theory.Device{benchtest.Spec(t, "cuda:0:link=gen3x4"),
		benchtest.Spec(t, "cuda:0:link=gen3x8")})
	benchtest.Must(t, err)
	env := pipelineEnv(t)
	env.Devices, env.Quick = devices, true
	env.Batch = theory.ArticleBatch
	env.Batch.Images = 8 // 4.86 MB, 1.54 ms over Gen3 x4, for a step of 2 ms
	env.Axes = map[string][]string{"free": {results.FreeLoading}, "prefetch": {"0"}, "step": {"2ms"},
		"mem": {"pinned", "pageable", results.Staged}}
	cases := benchtest.Cases(t, Suite, env)
	cfg := benchtest.Config(6)
	cfg.Env = env
	measured := benchtest.Measure(t, cfg, cases...)
	n := 0
	for _, r := range measured {
		p := paramsOf(r)
		if p.Mem == "pageable" && strings.Contains(r.Reason, "slower than the link asked for") {
			continue // by the host's clock, and this host is busy
		}
		late := r.Status == results.Failed && strings.Contains(r.Reason, "missed its time")
		if !slices.Equal(r.Assumed, []string{"link"}) || r.Status == results.Failed && !late {
			t.Errorf("%s: %s %s, assumed %v", r.Name, r.Status, r.Reason, r.Assumed)
		}
		if load := results.As[results.PipelineProof](r.Proof).TimeLoaded; r.Status == results.OK && load != nil {
			rate := map[string]float64{"cuda:0:link=gen3x4": 3.938e9, "cuda:0:link=gen3x8": 7.877e9}[p.Device] * 0.80
			if p.Mem == "pageable" {
				rate /= 2
			}
			n++
			if want := float64(env.Batch.Bytes()) / rate; *load.Achieved < 0.99*want {
				t.Errorf("%s: copies took %v, want %v", r.Name, *load.Achieved, want)
			}
		}
	}
	if n == 0 {
		t.Error("no case has a loaded link")
	}
}
