package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"dlbench/results"
)

// pipeResult is a result of suite pipeline of the device, memory, prefetch, strategy, what
// is free, disk and step in params: every t seconds a step of a batch of 32, on which the
// device works for step, after waiting for loading.
func pipeResult(params string, t, wait float64) results.Result {
	p := strings.Fields(params)
	prefetch, _ := strconv.ParseInt(p[2], 10, 64)
	r := caseOf("pipeline", "device", p[0], "mem", p[1], "prefetch", prefetch, "workers", int64(7),
		"strategy", p[3], "free", p[4], "disk", p[5], "step", p[6], "dtype", "float32")
	d, _ := time.ParseDuration(p[6])
	add := func(name, unit string, v float64) { r.Metrics = append(r.Metrics, sampled(name, unit, v, 0.98, 1.03)) }
	add("step_time", results.Seconds, t)
	add("throughput", results.PerSecond, 32/t)
	add("wait", results.Seconds, wait)
	r.References = demanded()
	if d > 0 {
		add("utilisation", results.Ratio, d.Seconds()/t)
		r.References = append(r.References, against("step", "step_time", d.Seconds()))
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
	for i, link := range []string{"sim:gen3x4", "sim:gen3x8", "sim:gen3x16"} {
		copied := []float64{6.19e-3, 3.11e-3, 1.57e-3}[i]
		rep.Results = append(rep.Results,
			standIn(pipeResult(link+" pinned 0 online read+preprocess real 216ms", 0.216+copied, 1e-7), "link", "step"),
			standIn(pipeResult(link+" pinned 2 online read+preprocess real 216ms", 0.216, 1e-7), "link", "step"))
	}
	rep.Results = append(rep.Results,
		standIn(pipeResult("sim:gen3x16 pinned 2 online nothing real 0s", 47.26e-3, 47e-3), "link"),
		pipeResult("sim:gen3x16 pinned 2 online read+copy real 0s", 40e-3, 39e-3),
		standIn(pipeResult("sim:gen3x16 pinned 2 online nothing real 216ms", 0.216, 4e-6), "link", "step"),
		standIn(pipeResult("sim:gen3x16 pinned 2 tensor nothing real 0s", 3.225e-3, 3e-3), "link"),
		standIn(pipeResult("sim:gen3x16 pinned 0 tensor nothing stream100 216ms", 413.8e-3, 196.2e-3),
			"disk", "link", "step"),
		standIn(pipeResult("sim:gen3x16 pinned 2 tensor nothing stream100 216ms", 0.216, 77e-3), "disk",
			"link", "step"))
	return rep
}

// gpuPipeReport is a machine with a GPU that the loader feeds with short steps too.
func gpuPipeReport(label string) *results.Report {
	rep := newReport(label)
	rep.Host.GPUs = []results.GPU{{Index: new(0), Name: "Fake GPU 0"}}
	rep.Results = []results.Result{
		pipeResult("cuda:0 pinned 2 online nothing real 0s", 20e-3, 19.5e-3),
		pipeResult("cuda:0 pinned 2 online nothing real 10ms", 20.5e-3, 9.5e-3),
		pipeResult("cuda:0 pinned 2 online nothing real 50ms", 50.1e-3, 1e-5),
		pipeResult("cuda:0 pageable 2 online nothing real 50ms", 51e-3, 1e-5),
		failing(pipeResult("cuda:0 pinned 0 online nothing real 50ms", 75e-3, 24e-3)),
	}
	return rep
}

// Parts of a step add up to it and none is negative, whatever a report says.
func TestStepPartsOfOddTimes(t *testing.T) {
	for _, c := range []struct {
		step    string
		t, wait float64
		want    [3]float64
	}{
		{"50ms", 0.06, 0.004, [3]float64{0.05, 0.004, 0.006}},
		{"50ms", 0.06, 0.5, [3]float64{0.05, 0.01, 0}},
		{"50ms", 0.04, 0.5, [3]float64{0.04, 0, 0}},
		{"50ms", 0.06, -1, [3]float64{0.05, 0, 0.01}},
		{"50ms", 0.06, math.NaN(), [3]float64{0.05, 0, 0.01}},
	} {
		odd := pipeResult("cuda:0 pinned 1 online nothing real "+c.step, c.t, c.wait)
		usual := pipeResult("cuda:0 pinned 2 online nothing real 50ms", 0.06, 0)
		for i, have := range stepTimes(with(odd, usual))[0].(bars).Rows[0].Parts {
			if math.Abs(have-c.want[i]) > 1e-12 {
				t.Errorf("%+v: part %d is %g", c, i, have)
			}
		}
	}
}

// pipeOfMachines are two machines, whose numbers of workers differ.
func pipeOfMachines(workers int64) []*results.Report {
	a, b := simPipeReport("a"), gpuPipeReport("b")
	for i := range b.Results {
		b.Results[i].Params = b.Results[i].Params.With("workers", workers)
	}
	return []*results.Report{a, b}
}

// pastTheCache is a machine with a case past the page cache, which is another loader.
func pastTheCache() []*results.Report {
	rep := simPipeReport("")
	cold := standIn(pipeResult("sim:gen3x16 pinned 2 online nothing real 0s", 60e-3, 59e-3),
		"link")
	cold.Params = append(cold.Params, results.Param{Key: "cache", Value: "direct"})
	cold.Name = cold.Params.Name(cold.Suite)
	rep.Results = append(rep.Results, cold)
	return one(rep)
}

// A chart has at most so many rows, and says how many more there are.
func TestCut(t *testing.T) {
	var v bars
	for i := range 3 {
		for range maxRows / 2 {
			v.add(fmt.Sprint(i), "", "", barRow{point: point{Median: 1}})
		}
	}
	cut := v.pictures()[0].(bars)
	if n := len(cut.Rows); n != maxRows || cut.Rows[n-1].Group != "1" || !strings.Contains(cut.subtitle, "30 more") {
		t.Errorf("%d rows, %q", n, cut.subtitle)
	}
}
