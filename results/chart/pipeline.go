package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dlbench/results"
)

// nothing is the parameter free of a pipeline that does all its work.
const nothing = "nothing"

// pipe is a pipeline, apart from the time of its step: what a case of suite
// pipeline loads from, through and to.
type pipe struct {
	Report   int
	Device   string // sim:gen3x16, cuda:0
	Mem      string
	Prefetch int
	Workers  int
	Strategy string // online, offline, tensor
	Free     string // nothing; read+preprocess: parts that take no time
	Disk     string // real; stream100: an assumed one
	Cold     bool   // past the page cache
	DType    string
}

// pipeCase is one result of suite pipeline.
type pipeCase struct {
	pipe
	Step float64 // s that the device works on a batch, 0 at top speed
	measured
}

// pipeCases gathers the results of suite pipeline that keep accepts, in the order
// of the reports, those of one device together. Of cases that differ in other
// parameters the first counts, which is the plain one.
func pipeCases(reports []*results.Report, keep func(pipeCase) bool) []pipeCase {
	var all []pipeCase
	for i, rep := range reports {
		var here []pipeCase
		var devices []string
		for j := range rep.Results {
			r := &rep.Results[j]
			if r.Suite != "pipeline" || r.Status == results.Skipped {
				continue
			}
			c, ok := pipeCaseOf(i, r)
			if !ok || !keep(c) || slices.ContainsFunc(here,
				func(o pipeCase) bool { return o.pipe == c.pipe && o.Step == c.Step }) {
				continue
			}
			if !slices.Contains(devices, c.Device) {
				devices = append(devices, c.Device)
			}
			here = append(here, c)
		}
		slices.SortStableFunc(here, func(a, b pipeCase) int {
			return cmp.Compare(slices.Index(devices, a.Device), slices.Index(devices, b.Device))
		})
		all = append(all, here...)
	}
	return all
}

// pipeCaseOf reads the parameters of r; ok is false where the step is no time.
func pipeCaseOf(report int, r *results.Result) (c pipeCase, ok bool) {
	p := results.As[results.PipelineParams](r.Params)
	c = pipeCase{Step: time.Duration(p.Step).Seconds(), measured: measured{r}}
	c.pipe = pipe{
		Report:   report,
		Device:   cmp.Or(clean(p.Device), "unnamed device"),
		Mem:      clean(p.Mem),
		Prefetch: p.Prefetch,
		Workers:  p.Workers,
		Strategy: clean(p.Strategy),
		Free:     cmp.Or(clean(p.Free), nothing),
		Disk:     cmp.Or(clean(p.Disk), "real"),
		Cold:     p.Cache == results.Direct,
		DType:    clean(p.DType),
	}
	given := cmp.Or(r.Params.Text("step"), "0s")
	return c, c.Step > 0 || given == "0s"
}

// copies is the device as charts of copies have it.
func (c pipeCase) copies() copies {
	return copies{report: c.Report, Spec: c.Device, Link: linkTitle(c.Result, c.Device)}
}

// loads says what p loads batches from, and what of that takes no time.
func (p pipe) loads() []string {
	var parts []string
	if free := strings.Split(p.Free, "+"); slices.Contains(free, "read") && slices.Contains(free, "preprocess") {
		parts = append(parts, "batches ready in memory")
		if slices.Contains(free, "copy") {
			parts = append(parts, "without copies")
		}
	} else {
		parts = append(parts, results.Clip(cmp.Or(p.Strategy, "unnamed strategy"), maxDevice))
		if p.Free != nothing {
			parts = append(parts, results.Clip(p.Free, maxDevice)+" free")
		}
	}
	if p.Disk != "real" {
		parts = append(parts, "assumed disk "+results.Clip(p.Disk, maxDevice))
	}
	if p.Cold {
		parts = append(parts, "past the page cache")
	}
	return parts
}

// ahead says how far loading runs ahead of the step.
func (p pipe) ahead() string {
	if p.Prefetch == 0 {
		return "prefetch 0 (one after the other)"
	}
	return fmt.Sprint("prefetch ", p.Prefetch)
}

// pipeTitles names each case within its device: how it loads, its memory and
// prefetch, then what else differs between cases.
func pipeTitles(cases []pipeCase) []string {
	differ := func(same func(a, b pipeCase) bool) bool {
		return slices.ContainsFunc(cases, func(c pipeCase) bool { return !same(c, cases[0]) })
	}
	workers := differ(func(a, b pipeCase) bool { return a.Workers == b.Workers })
	dtype := differ(func(a, b pipeCase) bool { return a.DType == b.DType })
	step := differ(func(a, b pipeCase) bool { return a.Step == b.Step })
	var all []string
	for _, c := range cases {
		parts := append(c.loads(), short(cmp.Or(c.Mem, "unnamed memory")), c.ahead())
		if workers {
			parts = append(parts, fmt.Sprint("workers ", c.Workers))
		}
		if dtype {
			parts = append(parts, short(c.DType))
		}
		if step {
			parts = append(parts, stepText(c.Step))
		}
		all = append(all, strings.Join(parts, ", "))
	}
	return all
}

// stepText says how long the device works on a batch.
func stepText(step float64) string {
	if step == 0 {
		return "no step"
	}
	return "step " + results.FormatExact(step, results.Seconds)
}

// assumedParts lists what stand-ins produced in the case: link, step, disk.
func (c pipeCase) assumedParts() []string {
	var have []string
	for _, p := range []string{"link", "step", "disk"} {
		if slices.Contains(c.Result.Assumed, p) {
			have = append(have, p)
		}
	}
	if have == nil && len(c.Result.Assumed) > 0 {
		return []string{"parts"}
	}
	return have
}

// pipeKey is what pipelines have in common that are compared: on one
// machine the device, of several all but the machine, its device, and how many workers
// it has.
type pipeKey struct {
	pipe
	step    float64
	assumed string
}

// pipeBars adds to v a group for each device of one machine or each pipeline of
// several, and a row for each case, which fill completes.
func pipeBars(v bars, reports []*results.Report, cases []pipeCase, fill func(pipeCase, *barRow)) bars {
	v.captions, v.above = captions(reports, gpuText), len(reports) < 2
	v.compare(reports)
	var devices []copies
	alike := slices.Clone(cases)
	for i, c := range cases {
		devices = append(devices, c.copies())
		if !v.above {
			alike[i].Workers = 0
		}
	}
	workers := slices.ContainsFunc(cases, func(c pipeCase) bool { return c.Workers != cases[0].Workers })
	titles := pipeTitles(alike)
	for i, c := range cases {
		k := pipeKey{alike[i].pipe, c.Step, results.AssumedText(c.assumedParts())}
		k.Report, k.Device = 0, ""
		g := barGroup{Title: titles[i], Assumed: c.assumedParts()}
		row := barRow{Machine: c.Report, Failed: c.Failed(), Detail: c.detail(reports, devices)}
		switch {
		case v.above:
			k.pipe, k.step = pipe{Device: c.Device}, 0
			row.Detail, g.Title = titles[i], strings.TrimSuffix(c.copies().named(reports[c.Report]), ", link unknown")
		case workers:
			row.Detail += fmt.Sprint(", workers ", c.Workers)
		}
		g.key = k
		if !row.Failed {
			fill(c, &row)
		}
		v.add(g, row)
	}
	if !v.above {
		v.pair()
	}
	return v
}

// detail is the link, and the device where its machine has several.
func (c pipeCase) detail(reports []*results.Report, all []copies) string {
	if d := c.copies().detail(reports, all); d != "link unknown" {
		return d
	}
	return short(c.Device)
}

// batchSizes are the different numbers of images in the batches of reports.
func batchSizes(reports []*results.Report) []int {
	var all []int
	for _, r := range reports {
		if r.Config.Batch > 0 {
			all = results.AppendNew(all, r.Config.Batch)
		}
	}
	return all
}
