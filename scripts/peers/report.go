//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"dlbench/bench/host"
	"dlbench/loader"
	"dlbench/results"
)

// Metrics of a case. The ratios are against the baseline on as many cores, round by
// round: above 1 the baseline is faster.
const (
	throughput      = "throughput"       // images/s
	cpu             = "cpu"              // s of CPU time an image
	throughputRatio = "throughput_ratio" // the baseline's throughput / the peer's
	cpuRatio        = "cpu_ratio"        // the peer's CPU time / the baseline's
)

// report is the report of a comparison, and what only the table says.
type report struct {
	results.Report
	Load   string // average, when the comparison began
	Rounds int
	Images int // in a pass
	cases  []*measuredCase
}

func newReport(o options, set *loader.Set) *report {
	r := &report{Load: loadAverage()}
	r.SchemaVersion, r.Status = results.SchemaVersion, results.Complete
	r.Tool = tool()
	r.Started = time.Now()
	r.Label = o.label
	r.Config = results.Config{Suites: []string{"peers"}, Batch: batch, Shape: []int{height, width, 3}, DType: "float32",
		Count: o.rounds, Repeat: 1}
	r.Host = host.Read("/")
	r.Host.Disks = []results.Disk{host.DiskOf("/", o.data)}
	r.Dataset = &results.Dataset{Store: set.Store, Images: int64(len(set.Samples)), Bytes: set.Bytes}
	return r
}

// tool is this program; its version has the commit in it.
func tool() results.Tool {
	t := results.Tool{Name: "dlbench scripts/peers", Version: "unknown", Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		t.Version = info.Main.Version
	}
	return t
}

// loadAverage is that of the last minute; a busy machine makes intervals wide.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(text), " ")
	return load
}

// add takes in what was measured.
func (r *report) add(m measured) {
	r.Rounds, r.cases = m.rounds, m.cases
	for _, c := range m.cases {
		r.Results = append(r.Results, c.result(baseline(m.cases, c)))
		if len(c.passes) > 0 {
			r.Images = c.hello.Images
		}
	}
	if n, of := waited(m.cases); 10*n > of {
		r.Warnings = append(r.Warnings, fmt.Sprintf("in %d of %d passes on one core the wall time was more than "+
			"1.1 times the CPU time: other programs ran; trust CPU time", n, of))
	}
}

// baseline is what a case is compared with: the first of the known peers that was
// measured on as many cores; nil for the baseline itself and for decoding alone.
func baseline(cases []*measuredCase, c *measuredCase) *measuredCase {
	if !c.whole() {
		return nil
	}
	var base *measuredCase
	for _, b := range cases {
		if b.cores == c.cores && len(b.passes) > 0 && strings.HasPrefix(b.name, own) &&
			(base == nil || slices.Index(known, b.name) < slices.Index(known, base.name)) {
			base = b
		}
	}
	if base == c {
		return nil
	}
	return base
}

// result is the case as a report has it; base may be nil.
func (c *measuredCase) result(base *measuredCase) results.Result {
	params := results.Params{{Key: "peer", Value: c.name}, {Key: "cores", Value: int64(c.cores)}}
	r := results.Result{Suite: "peers", Name: params.Name("peers"), Params: params, Status: results.OK,
		Proof: results.RecordOf(map[string]any{"does": c.hello.Does, "software": c.hello.Software,
			"environment": c.env})}
	if c.hello.Skip != "" {
		r.Status, r.Reason, r.Proof = results.Skipped, c.hello.Skip, results.Record{}
		return r
	}
	rate := func(i int) float64 { return float64(c.passes[i].Images) / c.passes[i].Wall }
	each := func(i int) float64 { return c.passes[i].CPU / float64(c.passes[i].Images) }
	r.Metrics = []results.Metric{
		c.metric(throughput, results.PerSecond, results.Higher, rate),
		c.metric(cpu, results.Seconds, results.Lower, each),
	}
	if base != nil {
		wall := func(i int) float64 { return c.passes[i].Wall / base.passes[i].Wall }
		time := func(i int) float64 { return c.passes[i].CPU / base.passes[i].CPU }
		r.Metrics = append(r.Metrics, c.metric(throughputRatio, results.Ratio, "", wall), c.metric(cpuRatio,
			results.Ratio, "", time))
	}
	return r
}

// metric summarizes a value of each round.
func (c *measuredCase) metric(name, unit, better string, value func(round int) float64) results.Metric {
	m := results.Metric{Name: name, Unit: unit, Better: better}
	for i, p := range c.passes {
		m.Add(results.Sample{Value: value(i), N: p.Images, T: p.at})
	}
	results.Summarize(&m, results.SummaryOptions{})
	return m
}

// waited counts the passes on one core that lasted clearly longer than their CPU time.
func waited(cases []*measuredCase) (n, of int) {
	for _, c := range cases {
		if c.cores != 1 {
			continue
		}
		for _, p := range c.passes {
			of++
			if p.Wall > 1.1*p.CPU {
				n++
			}
		}
	}
	return n, of
}
