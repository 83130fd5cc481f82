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

// pipeCases gathers the results of suite pipeline that keep accepts, in the order
// of the reports, those of one device together. A step that is no time is left out.
func pipeCases(reports []*results.Report, keep func(pipeCase) bool) []pipeCase {
	type key struct {
		report int
		results.PipelineParams
	}
	all := casesOf(reports, "pipeline", func(m measured) (pipeCase, bool) {
		c := pipeCaseOf(m)
		return c, c.Step >= 0 && keep(c)
	})
	all = firsts(all, func(c pipeCase) key { return key{c.report, c.PipelineParams} })
	return slices.Concat(groups(all, func(c pipeCase) key {
		return key{c.report, results.PipelineParams{Device: c.Device}}
	})...)
}

func pipeCaseOf(m measured) pipeCase {
	p := results.As[results.PipelineParams](m.Result.Params)
	p.Device, p.Mem = cmp.Or(clean(p.Device), "unnamed device"), clean(p.Mem)
	p.Strategy, p.DType = clean(p.Strategy), clean(p.DType)
	p.Free, p.Disk = cmp.Or(clean(p.Free), results.FreeNothing), cmp.Or(clean(p.Disk), results.RealDisk)
	if p.Cache != results.Direct {
		p.Cache = ""
	}
	p.CPUs, p.StepCPU = 0, 0
	return pipeCase{p, m}
}

// step is how long the device works on a batch, in s, 0 at top speed.
func (c pipeCase) step() float64 { return time.Duration(c.Step).Seconds() }

// copies is the device as charts of copies have it.
func (c pipeCase) copies() copies {
	return copies{report: c.report, Spec: c.Device, Link: linkTitle(c.Result, c.Device)}
}

// loads says what c loads batches from, and what of that takes no time.
func (c pipeCase) loads() []string {
	var parts []string
	if c.IsFree(results.PartRead) && c.IsFree(results.PartPreprocess) {
		parts = append(parts, "batches ready in memory")
		if c.IsFree(results.PartCopy) {
			parts = append(parts, "without copies")
		}
	} else {
		parts = append(parts, results.Clip(cmp.Or(c.Strategy, "unnamed strategy"), maxDevice))
		if c.Free != results.FreeNothing {
			parts = append(parts, results.Clip(c.Free, maxDevice)+" free")
		}
	}
	if c.Disk != results.RealDisk {
		parts = append(parts, "simulated disk "+results.Clip(c.Disk, maxDevice))
	}
	if c.Cache != "" {
		parts = append(parts, "past the page cache")
	}
	return parts
}

// pipeTitles names each case but for its device and its workers: how it loads, its memory and
// prefetch, then what else differs between cases.
func pipeTitles(cases []pipeCase) (all []string) {
	differ := func(same func(a, b pipeCase) bool) bool {
		return slices.ContainsFunc(cases, func(c pipeCase) bool { return !same(c, cases[0]) })
	}
	dtype := differ(func(a, b pipeCase) bool { return a.DType == b.DType })
	step := differ(func(a, b pipeCase) bool { return a.Step == b.Step })
	for _, c := range cases {
		parts := append(c.loads(), short(cmp.Or(c.Mem, "unnamed memory")), fmt.Sprint("prefetch ", c.Prefetch))
		if c.Prefetch == 0 {
			parts[len(parts)-1] += " (one after the other)"
		}
		if dtype {
			parts = append(parts, short(c.DType))
		}
		switch {
		case step && c.Step == 0:
			parts = append(parts, "no step")
		case step:
			parts = append(parts, "step "+results.FormatExact(c.step(), results.Seconds))
		}
		all = append(all, strings.Join(parts, ", "))
	}
	return all
}

// assumedParts lists what was simulated in the case: link, step, disk.
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

// pipeBars adds to v a group for each pipeline, whatever its device, its machine and its
// workers, and a row for each case by that metric, which fill completes.
func pipeBars(v bars, reports []*results.Report, cases []pipeCase, metric string, fill func(pipeCase, *barRow)) bars {
	v.captions = captions(reports)
	v.compare(reports)
	workers := slices.ContainsFunc(cases, func(c pipeCase) bool { return c.Workers != cases[0].Workers })
	type key struct{ title, assumed string }
	for i, title := range pipeTitles(cases) {
		c := cases[i]
		g := barGroup{Title: title, Assumed: c.assumedParts(), key: key{title, results.AssumedText(c.assumedParts())}}
		row := rowOf(c.measured, metric, v.quantity)
		if row.Detail = c.detail(reports[c.report]); workers {
			row.Detail += fmt.Sprint(", workers ", c.Workers)
		}
		if !row.Failed {
			fill(c, &row)
		}
		v.add(g, row)
	}
	v.pair()
	return v
}

// detail is the link, or the device where that is unknown.
func (c pipeCase) detail(rep *results.Report) string {
	if d := c.copies().detail(rep); d != "link unknown" {
		return d
	}
	return short(c.Device)
}
