package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/results"
)

// pipeCase is one result of suite pipeline, without the parameters that charts leave
// alone.
type pipeCase struct {
	results.PipelineParams
	measured
}

// pipeCases gathers the results of suite pipeline that have the metric or failed and keep
// accepts. A step that is no time is left out.
func pipeCases(reports []*results.Report, metric string, keep func(pipeCase) bool) []pipeCase {
	return casesOf(reports, "pipeline", func(m measured) (pipeCase, any, bool) {
		p := results.As[results.PipelineParams](m.Result.Params)
		p.Device, p.Mem = cmp.Or(clean(p.Device), "unnamed device"), cmp.Or(short(p.Mem), "unnamed memory")
		p.Strategy, p.DType = cmp.Or(short(p.Strategy), "unnamed strategy"), short(p.DType)
		p.Free, p.Disk = cmp.Or(short(p.Free), results.FreeNothing), strings.TrimPrefix(short(p.Disk), results.RealDisk)
		p.Cache = map[string]string{results.Direct: "past the page cache",
			results.Remote: "over the network"}[p.Cache]
		p.CPUs = 0
		c := pipeCase{p, m}
		return c, p, p.Step >= 0 && p.Soak == 0 && m.has(metric) && keep(c)
	})
}

// step is how long the device works on a batch, in s, 0 at top speed.
func (c pipeCase) step() float64 { return time.Duration(c.Step).Seconds() }

// title names c but for its device and its workers: how it loads, its memory and prefetch, then what else differs
// between cases.
func (c pipeCase) title(cases []pipeCase) string {
	from := map[string]string{
		results.FreeNothing: c.Strategy,
		results.FreeLoading: "batches ready in memory",
		results.FreeAll:     "batches ready in memory, without copies",
	}[c.Free]
	prefetch := fmt.Sprint("prefetch ", c.Prefetch)
	if c.Prefetch == 0 {
		prefetch += " (one after the other)"
	}
	var special [][]string
	for _, o := range cases {
		special = append(special, o.special())
	}
	differs := results.Without(c.special(), results.Common(special)...)
	return results.List(append([]string{cmp.Or(from, c.Strategy+", "+c.Free+" free"),
		results.After("simulated disk ", c.Disk), c.Cache, c.Mem, prefetch}, differs...)...)
}

// special is what a title of c says where it differs between cases.
func (c pipeCase) special() []string {
	return []string{c.DType, "step " + results.FormatExact(c.step(), results.Seconds),
		"beside " + results.Plural(c.StepCPU, "busy thread")}
}

// pipeBars adds to v a group for each pipeline, whatever its device, its machine and its
// workers, and a row for each case by that metric, which complete completes.
func pipeBars(v *bars, cases []pipeCase, metric string, complete func(pipeCase, *barRow)) {
	workers := slices.ContainsFunc(cases, func(c pipeCase) bool { return c.Workers != cases[0].Workers })
	for _, c := range cases {
		row := rowOf(c.measured, metric, v.quantity)
		if !row.Failed {
			complete(c, &row)
		}
		detail := deviceText(c.Result, c.Device)
		if workers {
			detail = results.List(detail, fmt.Sprint("workers ", c.Workers))
		}
		v.add(c.title(cases), "", detail, row)
	}
}

// stepParts are the parts of a step, from the axis on.
var stepParts = []part{
	{text: "the GPU works (the step)", fill: partColor["step"]},
	{text: "it waits for a batch", fill: partColor["wait"]},
	{text: "it waits for copy or launch", fill: partColor[results.PartCopy]},
}

// stepTimes are the times from one step to the next of pipelines with a device that
// works.
func stepTimes(reports []*results.Report) []picture {
	v := bars{
		title:    "Time of a training step and what the GPU waits for",
		subtitle: "From the end of one step to the end of the next; %: the share that the GPU works; median",
		quantity: timePerStep,
		reports:  reports,
		parts:    stepParts,
	}
	cases := pipeCases(reports, "step_time", func(c pipeCase) bool { return c.Step > 0 })
	pipeBars(&v, cases, "step_time", stepRow)
	return v.pictures()
}

// stepRow completes the row of a case: the device works; it stands still, and the loop
// waited that long for a batch; it stands still else, all of it where waits are unknown.
func stepRow(c pipeCase, row *barRow) {
	works := min(c.step(), row.Median)
	wait, rest := 0.0, row.Median-works
	if m := c.Result.Metric("wait"); m != nil && m.Median > 0 {
		wait = min(m.Median, rest)
		rest -= wait
	}
	row.Parts = []float64{works, wait, rest}
	if m := c.Result.Metric("utilisation"); m != nil && m.Median > 0 && m.Median <= 1.001 {
		row.Value += fmt.Sprintf(", %.3g %%", 100*min(m.Median, 1))
	}
}

// feeds are loaders without a step, and what GPUs need.
func feeds(reports []*results.Report) []picture {
	v := bars{
		title:    "Images that the loader feeds",
		subtitle: "When nothing waits, and the time of a batch; median, longer is better; needs of ResNet-50: emulated GPUs",
		quantity: throughput,
		reports:  reports,
	}
	batch := func(c pipeCase) float64 { return float64(reports[c.report].Config.Batch) }
	cases := pipeCases(reports, "throughput", func(c pipeCase) bool {
		return c.Step == 0 && c.Free == results.FreeNothing && batch(c) > 0
	})
	pipeBars(&v, cases, "throughput", func(c pipeCase, row *barRow) {
		row.Value += ", " + results.FormatValue(batch(c)/row.Median, results.Seconds)
	})
	for _, m := range demandsOf(reports) {
		v.Needs = append(v.Needs, mark{At: m.At, Text: m.Text + ": " + throughput.value(m.At)})
	}
	return v.pictures()
}
