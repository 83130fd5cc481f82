package chart

import (
	"cmp"
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
	Prefetch string
	Workers  string
	Strategy string // online, offline, tensor
	Free     string // nothing; read+preprocess: parts that take no time
	Disk     string // real; stream100: an assumed one
	Cold     bool   // past the page cache
	DType    string
}

// pipeCase is one result of suite pipeline.
type pipeCase struct {
	pipe
	Step   float64 // s that the device works on a batch, 0 at top speed
	Result *results.Result
}

// Failed tells that the case has no numbers to read.
func (c pipeCase) Failed() bool { return c.Result.Status == results.Failed }

// Assumed tells that a stand-in produced a part of the case.
func (c pipeCase) Assumed() bool { return len(c.Result.Assumed) > 0 }

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
	text := func(key string) string { return clean(r.Params.Text(key)) }
	step, err := time.ParseDuration(cmp.Or(text("step"), "0s"))
	return pipeCase{
		pipe: pipe{
			Report: report, Device: cmp.Or(text("device"),
				"unnamed device"), Mem: text("mem"), Prefetch: text("prefetch"), Workers: text("workers"),
			Strategy: text("strategy"), Free: cmp.Or(text("free"), nothing), Disk: cmp.Or(text("disk"),
				"real"), Cold: text("cache") == "direct", DType: text("dtype"),
		},
		Step:   step.Seconds(),
		Result: r,
	}, err == nil && step >= 0
}

// copies is the device as charts of copies have it.
func (c pipeCase) copies() copies {
	return copies{report: c.Report, Spec: c.Device, Link: linkTitle(c.Result)}
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
	if p.Prefetch == "0" {
		return "prefetch 0 (one after the other)"
	}
	return "prefetch " + results.Clip(cmp.Or(p.Prefetch, "unknown"), maxDevice)
}

// pipeTitles names each case within its device: how it loads, its memory and
// prefetch, then what else differs between cases.
func pipeTitles(cases []pipeCase) []string {
	differ := func(of func(pipeCase) string) bool {
		return slices.ContainsFunc(cases, func(c pipeCase) bool { return of(c) != of(cases[0]) })
	}
	workers := func(c pipeCase) string { return c.Workers }
	dtype := func(c pipeCase) string { return c.DType }
	step := func(c pipeCase) string { return stepText(c.Step) }
	var all []string
	for _, c := range cases {
		parts := append(c.loads(), results.Clip(cmp.Or(c.Mem, "unnamed memory"), maxDevice), c.ahead())
		if differ(workers) {
			parts = append(parts, "workers "+results.Clip(c.Workers, maxDevice))
		}
		if differ(dtype) {
			parts = append(parts, results.Clip(c.DType, maxDevice))
		}
		if differ(step) {
			parts = append(parts, step(c))
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
	if have == nil && c.Assumed() {
		return []string{"parts"}
	}
	return have
}

// pipeKey is what pipelines have in common that are held against each other: on one
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
	if !v.above {
		v.title, v.machines = v.title+", by machine", machines(reports)
	}
	var devices []copies
	alike := slices.Clone(cases)
	for i, c := range cases {
		devices = append(devices, c.copies())
		if !v.above {
			alike[i].Workers = ""
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
			row.Detail += ", workers " + short(c.Workers)
		}
		g.key = k
		if !row.Failed {
			fill(c, &row)
		}
		v.add(g, row)
	}
	if !v.above { // measured and assumed side by side
		slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
			return cmp.Or(cmp.Compare(slices.Index(titles, a.Title), slices.Index(titles, b.Title)),
				cmp.Compare(len(a.Assumed), len(b.Assumed)))
		})
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
