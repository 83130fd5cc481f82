package pipeline

import (
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

func TestPipelineFindings(t *testing.T) {
	env := bench.Env{Step: bench.DefaultStep, Batch: theory.ArticleBatch, Devices: []cuda.Device{benchtest.Sim(t, "sim:gen3x16"), benchtest.Sim(t, "sim:gen3x4")}}
	lanesOf := func(prefetch string, x4, x16 float64) []results.Result {
		return []results.Result{benchtest.PipelineCase("sim:gen3x4", prefetch, results.Online, results.FreeLoading, "real", "216ms", x4), benchtest.PipelineCase("sim:gen3x16", prefetch, results.Online, results.FreeLoading, "real", "216ms", x16)}
	}
	for _, c := range []struct {
		name, claim, verdict string
		rs                   []results.Result
		says                 string
	}{
		{"the article's practice", "A2", results.Holds, lanesOf("0", 0.225, 0.218), "gains 3.21 %"},
		{"no gain at all", "A2", results.Fails, lanesOf("0", 0.216, 0.216), "gains 0.00 %"},
		{"hidden", "A3", results.Holds, lanesOf("1", 0.216, 0.216), "gains 0.00 %"},
		{"hidden, as asked", "A3", results.Holds, append(lanesOf("4", 0.216, 0.216), lanesOf("2", 0.216, 0.216)...), "pinned, prefetch 2"},
		{"not hidden", "A3", results.Fails, lanesOf("1", 0.225, 0.216), "gains 4.17 %"},
		{"the slower link is faster", "A3", results.Fails, lanesOf("1", 0.216, 0.225), "gains -4.00 %"},
		{"one device", "A2", results.NotMeasured, lanesOf("0", 0.225, 0.218)[:1], ""},
		{"disk hidden", "A9", results.Holds, []results.Result{benchtest.PipelineCase("sim:gen3x16", "0", results.StrategyTensor, results.FreeNothing, "stream100", "216ms", 0.4104),
			benchtest.PipelineCase("sim:gen3x16", "2", results.StrategyTensor, results.FreeNothing, "stream100", "216ms", 0.216)}, "194.4 ms longer"},
		{"disk not hidden", "A9", results.Fails, []results.Result{benchtest.PipelineCase("sim:gen3x16", "0", results.StrategyTensor, results.FreeNothing, "hdd", "216ms", 0.65),
			benchtest.PipelineCase("sim:gen3x16", "2", results.StrategyTensor, results.FreeNothing, "hdd", "216ms", 0.44)}, "224.0 ms with prefetch 2"},
		{"feeds", "feeds", results.Holds, []results.Result{benchtest.PipelineCase("sim:gen3x16", "2", results.Online, results.FreeNothing, "real", "0s", 0.04)}, "up to 800 images/s: any step of batch 32 longer than 40 ms"},
		{"not enough", "feeds", results.Holds, []results.Result{benchtest.PipelineCase("sim:gen3x16", "2", results.Online, results.FreeNothing, "real", "0s", 0.04)}, "Not for ResNet-50 on A100 (920), ResNet-50 on H100 (1786)"},
		{"nothing", "feeds", results.NotMeasured, nil, "not measured"},
	} {
		var found results.Finding
		for _, f := range pipelineFindings(env, c.rs) {
			if f.Claim == c.claim {
				found = f
			}
		}
		if found.Verdict != c.verdict || !strings.Contains(found.Text, c.says) {
			t.Errorf("%s: %s: %s; want %s and %q", c.name, found.Verdict, found.Text, c.verdict, c.says)
		}
	}
	parts := map[string]float64{results.FreeNothing: 0.040, results.PartRead: 0.038, results.PartPreprocess: 0.002, results.PartCopy: 0.040, results.FreeLoading: 0.0015,
		results.PartRead + "+" + results.PartCopy: 0.0375, results.PartPreprocess + "+" + results.PartCopy: 0.001, results.FreeAll: 0.0001}
	var rs []results.Result
	for free, seconds := range parts {
		rs = append(rs, benchtest.PipelineCase("sim:gen3x16", "2", results.Online, free, "real", "0s", seconds))
	}
	f := finished{results.PipelineCases{Rs: rs}, env}.parts()
	if f.Verdict != results.Holds || !strings.HasPrefix(f.Text, "preprocess bounds the loader") || !strings.Contains(f.Text, "copy 0 s to 1.400 ms") {
		t.Errorf("%s: %s", f.Verdict, f.Text)
	}
}
