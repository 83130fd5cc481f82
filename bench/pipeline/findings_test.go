package pipeline

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// finishedCase is a finished case of the suite.
func finishedCase(device, prefetch, strategy, free, disk, step string, seconds float64) results.Result {
	ahead, _ := strconv.Atoi(prefetch)
	each, _ := time.ParseDuration(step)
	p, _ := results.ParamsOf(params{Device: device, Mem: "pinned", Prefetch: ahead, Workers: 1,
		Strategy: strategy, Free: free, Disk: disk, Step: results.Duration(each)},
		func(string, string) bool { return false })
	m := func(name, unit string, v float64) results.Metric {
		m := results.Metric{Name: name, Unit: unit}
		for run := range 3 {
			for range 6 {
				m.Samples = append(m.Samples, results.Sample{Value: v, N: 1, Run: run})
			}
		}
		results.Summarize(&m, results.SummaryOptions{})
		return m
	}
	return results.Result{Suite: "pipeline", Name: p.Name("pipeline"), Params: p, Status: results.OK,
		Metrics: []results.Metric{m("step_time", results.Seconds, seconds),
			m("throughput", results.PerSecond, 32/seconds)}}
}

func TestPipelineFindings(t *testing.T) {
	env := bench.Env{Step: bench.DefaultStep, Batch: theory.ArticleBatch,
		Devices: []cuda.Device{benchtest.Sim(t, "sim:gen3x16"), benchtest.Sim(t, "sim:gen3x4")}}
	link := func(device, prefetch string, step float64) results.Result {
		return finishedCase(device, prefetch, results.Online, results.FreeLoading, results.RealDisk,
			"216ms", step)
	}
	links := func(prefetch string, x4, x16 float64) []results.Result {
		return []results.Result{link("sim:gen3x4", prefetch, x4), link("sim:gen3x16", prefetch, x16)}
	}
	tensors := func(disk string, serial, ahead float64) (rs []results.Result) {
		for prefetch, step := range map[string]float64{"0": serial, "2": ahead} {
			rs = append(rs, finishedCase("sim:gen3x16", prefetch, results.StrategyTensor, results.FreeNothing,
				disk, "216ms", step))
		}
		return rs
	}
	fastest := func(free string, step float64) results.Result {
		return finishedCase("sim:gen3x16", "2", results.Online, free, results.RealDisk, "0s", step)
	}
	top := []results.Result{fastest(results.FreeNothing, 0.04)}
	var parts []results.Result
	for free, seconds := range map[string]float64{results.FreeNothing: 0.040, results.PartRead: 0.038,
		results.PartPreprocess: 0.002, results.PartCopy: 0.040, results.FreeLoading: 0.0015,
		results.PartRead + "+" + results.PartCopy:       0.0375,
		results.PartPreprocess + "+" + results.PartCopy: 0.001, results.FreeAll: 0.0001} {
		parts = append(parts, fastest(free, seconds))
	}
	for _, c := range []struct {
		name, claim, verdict string
		rs                   []results.Result
		says                 string
	}{
		{"the article's practice", "A2", results.Holds, links("0", 0.225, 0.218), "gains 3.21 %"},
		{"no gain at all", "A2", results.Fails, links("0", 0.216, 0.216), "gains 0.00 %"},
		{"hidden", "A3", results.Holds, links("1", 0.216, 0.216), "gains 0.00 %"},
		{"hidden, as asked", "A3", results.Holds, append(links("4", 0.216, 0.216), links("2", 0.216, 0.216)...),
			"pinned, prefetch 2"},
		{"not hidden", "A3", results.Fails, links("1", 0.225, 0.216), "gains 4.17 %"},
		{"the slower link is faster", "A3", results.Fails, links("1", 0.216, 0.225), "gains -4.00 %"},
		{"one device", "A2", results.NotMeasured, links("0", 0.225, 0.218)[:1], ""},
		{"disk hidden", "A9", results.Holds, tensors("stream100", 0.4104, 0.216), "194.4 ms longer"},
		{"disk not hidden", "A9", results.Fails, tensors("hdd", 0.65, 0.44), "224.0 ms with prefetch 2"},
		{"feeds", "feeds", results.Holds, top, "up to 800 images/s: any step of batch 32 longer than 40 ms"},
		{"not enough", "feeds", results.Holds, top, "Not for ResNet-50 on A100 (920), ResNet-50 on H100 (1786)"},
		{"nothing", "feeds", results.NotMeasured, nil, "not measured"},
		{"what bounds", "bound", results.Holds, parts, "preprocess bounds the loader"},
		{"what does not", "bound", results.Holds, parts, "copy 0 s to 1.400 ms"},
	} {
		var found results.Finding
		for _, f := range Suite.Findings(env, c.rs) {
			if f.Claim == c.claim {
				found = f
			}
		}
		if found.Verdict != c.verdict || !strings.Contains(found.Text, c.says) {
			t.Errorf("%s: %s: %s; want %s and %q", c.name, found.Verdict, found.Text, c.verdict, c.says)
		}
	}
}
