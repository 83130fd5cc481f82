package pipeline

import (
	"slices"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/results"
)

// finishedCase is a case of these parameters whose steps took so many seconds.
func finishedCase(p params, seconds float64) results.Result {
	list, _ := results.ParamsOf(p, func(string, string) bool { return false })
	m := func(name, unit string, v float64) results.Metric {
		m := results.Metric{Name: name, Unit: unit}
		for i := range 18 {
			m.Samples = append(m.Samples, results.Sample{Value: v, N: 1, Run: i / 6})
		}
		results.Summarize(&m, results.SummaryOptions{})
		return m
	}
	return results.Result{Suite: "pipeline", Name: list.Name("pipeline"), Params: list, Status: results.OK,
		Metrics: []results.Metric{m("step_time", results.Seconds, seconds),
			m("throughput", results.PerSecond, 32/seconds)}}
}

func TestMemoryFinding(t *testing.T) {
	for _, c := range []struct {
		gpus    []results.GPU
		ram     int64
		verdict string
		says    string
	}{
		{nil, 1 << 34, results.NotMeasured, "there is no GPU here"},
		{[]results.GPU{{}}, 1 << 34, results.NotMeasured, "the memory of the GPUs is not known"},
		{[]results.GPU{{Memory: 1 << 34}}, 0, results.NotMeasured, "how much RAM there is cannot be read"},
		{[]results.GPU{{Memory: 1 << 34}}, 1 << 34, results.Holds, "16 GiB of RAM"},
	} {
		env := bench.Env{Host: results.Host{GPUs: c.gpus, Memory: results.Memory{Total: c.ram}}}
		benchtest.WantFinding(t, benchtest.Finding(Suite.Findings(env, nil), "A5"), c.verdict, c.says)
	}
}

func TestPipelineFindings(t *testing.T) {
	env := bench.Env{Options: bench.Options{Step: bench.DefaultStep, Batch: theory.ArticleBatch}}
	usual := params{Device: "sim:gen3x16", Mem: "pinned", Prefetch: 2, Workers: 1, Strategy: results.Online,
		Free: results.FreeNothing, Disk: results.RealDisk, Step: results.Duration(env.Step.Time)}
	links := func(prefetch int, x4, x16 float64) (rs []results.Result) {
		p := usual
		p.Prefetch, p.Free = prefetch, results.FreeLoading
		rs = append(rs, finishedCase(p, x16))
		p.Device = "sim:gen3x4"
		return append(rs, finishedCase(p, x4))
	}
	tensors := func(disk string, serial, ahead float64) (rs []results.Result) {
		p := usual
		p.Strategy, p.Disk = results.StrategyTensor, disk
		rs = append(rs, finishedCase(p, ahead))
		p.Prefetch = 0
		return append(rs, finishedCase(p, serial))
	}
	fastest := func(free string, step float64) results.Result {
		p := usual
		p.Free, p.Step = free, 0
		return finishedCase(p, step)
	}
	top := []results.Result{fastest(results.FreeNothing, 0.04)}
	var parts []results.Result
	for free, seconds := range map[string]float64{results.FreeNothing: 0.040, results.PartRead: 0.038,
		results.PartPreprocess: 0.002, results.PartCopy: 0.040, results.FreeLoading: 0.0015,
		results.PartRead + "+" + results.PartCopy:       0.0375,
		results.PartPreprocess + "+" + results.PartCopy: 0.001, results.FreeAll: 0.0001} {
		parts = append(parts, fastest(free, seconds))
	}
	waits := func(polling, blocking float64, more ...results.Result) []results.Result {
		r := links(0, 0.225, 0.218)[0]
		for name, v := range map[string]float64{metricPolling: polling, metricBlocking: blocking} {
			m := r.Metrics[0]
			m.Name, m.Unit, m.Samples = name, results.Ratio, slices.Clone(m.Samples)
			for i := range m.Samples {
				m.Samples[i].Value = v
			}
			results.Summarize(&m, results.SummaryOptions{})
			r.Metrics = append(r.Metrics, m)
		}
		return append(more, r)
	}
	spun := func(threads, workers int, step float64) results.Result {
		p := usual
		p.Step, p.StepCPU, p.Workers = 0, threads, workers
		return finishedCase(p, step)
	}
	soaked := func(temperature float64, hot int, times ...float64) []results.Result {
		p := usual
		p.Device, p.Free, p.Soak = "cuda:0", results.FreeLoading, results.Duration(time.Minute)
		r := finishedCase(p, 1)
		m := &r.Metrics[0]
		g := &results.GPUWatch{Readings: 9, Temperature: &results.Range{Min: 50, Max: temperature}, From: &temperature}
		for i := range m.Samples {
			m.Samples[i].Value, m.Samples[i].T = times[i*len(times)/len(m.Samples)], float64(i)
			if i >= hot {
				m.Samples[i].Flags, g.Throttled, g.Reasons = []string{results.FlagThrottled}, 1, []string{"heat"}
			}
		}
		r.Proof = results.RecordOf(results.PipelineProof{Watched: results.Watched{GPU: g}})
		return []results.Result{r}
	}
	const never = 99
	for _, c := range []struct {
		name, claim, verdict string
		rs                   []results.Result
		says                 string
	}{
		{"the article's practice", "A2", results.Holds, links(0, 0.225, 0.218), "gains 3.21 %"},
		{"no gain at all", "A2", results.Fails, links(0, 0.216, 0.216), "gains 0.00 %"},
		{"hidden", "A3", results.Holds, links(1, 0.216, 0.216), "gains 0.00 %"},
		{"hidden, as asked", "A3", results.Holds, append(links(2, 0.216, 0.216), links(4, 0.216, 0.216)...),
			"pinned, prefetch 2"},
		{"not hidden", "A3", results.Fails, links(1, 0.225, 0.216), "gains 4.17 %"},
		{"the slower link is faster", "A3", results.Fails, links(1, 0.216, 0.225), "gains -4.00 %"},
		{"one device", "A2", results.NotMeasured, links(0, 0.225, 0.218)[:1], ""},
		{"disk hidden", "A9", results.Holds, tensors("stream100", 0.4104, 0.216), "194.4 ms longer"},
		{"disk not hidden", "A9", results.Fails, tensors("hdd", 0.65, 0.44), "224.0 ms longer with prefetch 2"},
		{"feeds", "feeds", results.Holds, top, "up to 800 images/s (800 to 800 in 3 runs), with 1 worker"},
		{"not enough", "feeds", results.Holds, top,
			"longer than 40 ms for a batch of 32; enough for ResNet-152 (148 images/s), not enough for ResNet-50 on A100"},
		{"nothing", "feeds", results.NotMeasured, nil, "not measured"},
		{"what bounds", "bound", results.Holds, parts, "the bottleneck is preprocess"},
		{"what does not", "bound", results.Holds, parts, "copy 0 s to 1.400 ms"},
		{"a busy wait", "A16", results.Holds, waits(0.99, 0.01, spun(1, 1, 0.04), spun(0, 2, 0.02)),
			"feeds 800 images/s with 1 worker, without it 1600 images/s with 2 workers: 0.50 times"},
		{"asked for without a busy wait", "A16", results.Holds, waits(0.99, 0.01, spun(0, 2, 0.02), spun(1, 1, 0.04)),
			"feeds 800 images/s with 1 worker, without it 1600 images/s with 2 workers: 0.50 times"},
		{"several busy waits", "A16", results.Holds,
			waits(0.99, 0.01, spun(0, 2, 0.02), spun(1, 1, 0.04), spun(2, 1, 0.05)),
			"feeds 800 images/s with 1 worker, without it 1600 images/s with 2 workers: 0.50 times"},
		{"a wait that always spins", "A16", results.Inconclusive, waits(0.99, 0.98), "costs the loader was not measured"},
		{"a wait that never spins", "A16", results.Inconclusive, waits(0.02, 0.01), "2.000 % of a CPU where it asks"},
		{"no wait", "A16", results.NotMeasured, top, "was not measured"},
		{"throttled", "A13", results.Holds, soaked(83, 9, 0.2, 0.21), "at 83 C"},
		{"throttled a lot", "A13", results.Fails, soaked(83, 9, 0.2, 0.25), "took 25.0 % longer"},
		{"throttled from the first step on", "A13", results.Inconclusive, soaked(83, 0, 0.2, 0.2), "took 0.0 % longer"},
		{"hot, and not throttled", "A13", results.Fails, soaked(85, never, 0.2, 0.2), "was not throttled"},
		{"never hot", "A13", results.Inconclusive, soaked(70, never, 0.2, 0.2), "got from 50 to 70 C"},
		{"no GPU", "A13", results.NotMeasured, top, "no GPU worked without a pause"},
	} {
		t.Run(c.name, func(t *testing.T) {
			benchtest.WantFinding(t, benchtest.Finding(Suite.Findings(env, c.rs), c.claim), c.verdict, c.says)
		})
	}
}
