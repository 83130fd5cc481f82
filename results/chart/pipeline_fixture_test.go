package chart

import (
	"math"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// pipeResult is a result of suite pipeline: every t seconds a step of a batch of
// 32, on which the device works for step, after waiting for loading.
func pipeResult(device, mem string, prefetch int64, strategy, free, disk, step string, t, wait float64) results.Result {
	r := results.Result{
		Suite: "pipeline", Status: results.OK,
		Params: results.Params{
			{Key: "device", Value: device}, {Key: "mem", Value: mem}, {Key: "prefetch",
				Value: prefetch}, {Key: "workers", Value: int64(7)},
			{Key: "strategy", Value: strategy}, {Key: "free", Value: free, Implied: free == nothing}, {Key: "disk",
				Value: disk, Implied: disk == "real"},
			{Key: "step", Value: step}, {Key: "dtype", Value: "float32", Implied: true},
		},
	}
	r.Name = r.Params.Name(r.Suite)
	d, err := time.ParseDuration(step)
	if err != nil {
		return r
	}
	add := func(name, unit, better string, v float64) {
		r.Metrics = append(r.Metrics, results.Metric{Name: name, Unit: unit, Better: better, Median: v, Min: v * 0.95,
			Max: v * 1.1, Lo: new(v * 0.98), Hi: new(v * 1.03)})
	}
	add("step_time", results.Seconds, results.Lower, t)
	add("throughput", results.PerSecond, results.Higher, 32/t)
	add("stall", results.Seconds, results.Lower, t-d.Seconds())
	add("wait", results.Seconds, results.Lower, wait)
	if d > 0 {
		add("utilisation", results.Ratio, results.Higher, d.Seconds()/t)
		r.References = append(r.References,
			results.Reference{Name: "step", Metric: "step_time", Value: new(d.Seconds())})
	}
	for _, d := range theory.Demands {
		r.References = append(r.References,
			results.Reference{Name: results.DemandPrefix + d.Name, Metric: "throughput", Value: new(d.Rate()),
				Source: d.Source})
	}
	for _, s := range []struct {
		name string
		v    float64
	}{{"step_time", t}, {"wait", wait}} {
		trace := results.Series{Name: s.name, Unit: results.Seconds}
		for i := range 40 {
			trace.T = append(trace.T, float64(i+1)*t)
			trace.V = append(trace.V, s.v*(1+0.05*math.Sin(float64(i*i))))
		}
		r.Series = append(r.Series, trace)
	}
	return r
}

// standIn says which parts of a result a stand-in produced.
func standIn(r results.Result, parts ...string) results.Result {
	r.Assumed = parts
	for i := range r.Metrics {
		r.Metrics[i].Lo, r.Metrics[i].Hi = nil, nil
	}
	return r
}

// simPipeReport is a machine without a GPU that ran the whole suite.
func simPipeReport(label string) *results.Report {
	rep := newReport(label)
	const loading = "read+preprocess"
	for i, link := range []string{"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"} {
		copied := []float64{6.19e-3, 3.11e-3, 1.57e-3}[i]
		rep.Results = append(rep.Results,
			standIn(pipeResult(link, "pinned", 0, "online", loading, "real", "216ms", 0.216+copied, 1e-7), "link",
				"step"),
			standIn(pipeResult(link, "pinned", 2, "online", loading, "real", "216ms", 0.216, 1e-7), "link", "step"))
	}
	rep.Results = append(rep.Results,
		standIn(pipeResult("sim:gen3x16", "pinned", 2, "online", nothing, "real", "0s", 47.26e-3, 47e-3), "link"),
		pipeResult("sim:gen3x16", "pinned", 2, "online", "read+copy", "real", "0s", 40e-3, 39e-3),
		standIn(pipeResult("sim:gen3x16", "pinned", 2, "online", nothing, "real", "216ms", 0.216, 4e-6), "link",
			"step"),
		standIn(pipeResult("sim:gen3x16", "pinned", 2, "tensor", nothing, "real", "0s", 3.225e-3, 3e-3), "link"),
		standIn(pipeResult("sim:gen3x16", "pinned", 0, "tensor", nothing, "stream100", "216ms", 413.8e-3, 196.2e-3),
			"disk", "link", "step"),
		standIn(pipeResult("sim:gen3x16", "pinned", 2, "tensor", nothing, "stream100", "216ms", 0.216, 77e-3), "disk",
			"link", "step"))
	return rep
}

// gpuPipeReport is a machine with a GPU that the loader feeds with short steps too.
func gpuPipeReport(label string) *results.Report {
	rep := newReport(label)
	rep.Host.GPUs = []results.GPU{{Index: new(0), Name: "Fake GPU 0"}}
	rep.Results = []results.Result{
		pipeResult("cuda:0", "pinned", 2, "online", nothing, "real", "0s", 20e-3, 19.5e-3),
		pipeResult("cuda:0", "pinned", 2, "online", nothing, "real", "10ms", 20.5e-3, 9.5e-3),
		pipeResult("cuda:0", "pinned", 2, "online", nothing, "real", "50ms", 50.1e-3, 1e-5),
		pipeResult("cuda:0", "pageable", 2, "online", nothing, "real", "50ms", 51e-3, 1e-5),
		failing(pipeResult("cuda:0", "pinned", 0, "online", nothing, "real", "50ms", 75e-3, 24e-3)),
	}
	return rep
}
