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
		parts = append(parts, "assumed disk "+results.Clip(c.Disk, maxDevice))
	}
	if c.Cache != "" {
		parts = append(parts, "past the page cache")
	}
	return parts
}

// pipeTitles names each case within its device: how it loads, its memory and
// prefetch, then what else differs between cases.
func pipeTitles(cases []pipeCase) (all []string) {
	differ := func(same func(a, b pipeCase) bool) bool {
		return slices.ContainsFunc(cases, func(c pipeCase) bool { return !same(c, cases[0]) })
	}
	workers := differ(func(a, b pipeCase) bool { return a.Workers == b.Workers })
	dtype := differ(func(a, b pipeCase) bool { return a.DType == b.DType })
	step := differ(func(a, b pipeCase) bool { return a.Step == b.Step })
	for _, c := range cases {
		parts := append(c.loads(), short(cmp.Or(c.Mem, "unnamed memory")), fmt.Sprint("prefetch ", c.Prefetch))
		if c.Prefetch == 0 {
			parts[len(parts)-1] += " (one after the other)"
		}
		if workers {
			parts = append(parts, fmt.Sprint("workers ", c.Workers))
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

// pipeBars adds to v a group for each device of one machine or each pipeline of
// several, whatever its device and its workers, and a row for each case by that metric,
// which fill completes.
func pipeBars(v bars, reports []*results.Report, cases []pipeCase, metric string, fill func(pipeCase, *barRow)) bars {
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
	type key struct {
		results.PipelineParams
		assumed string
	}
	for i, c := range cases {
		k := key{alike[i].PipelineParams, results.AssumedText(c.assumedParts())}
		k.Device = ""
		g := barGroup{Title: titles[i], Assumed: c.assumedParts()}
		row := rowOf(c.measured, metric, v.quantity)
		row.Detail = c.detail(reports, devices)
		switch {
		case v.above:
			k.PipelineParams = results.PipelineParams{Device: c.Device}
			row.Detail, g.Title = titles[i], strings.TrimSuffix(c.copies().named(reports[c.report]), ", link unknown")
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

// stepParts are the parts of a step, from the axis on.
var stepParts = []part{
	{text: "the device works (the step)", fill: seriesColor[0]},
	{text: "stall while the loop waited for a batch", fill: seriesColor[1]},
	{text: "other stall: copy, launch", fill: seriesColor[4]},
}

// stepTimes are the times from one step to the next of pipelines with a device that
// works.
func stepTimes(reports []*results.Report) bars {
	cases := pipeCases(reports, func(c pipeCase) bool {
		return c.Step > 0 && (has(c.Result, "step_time") || c.Failed())
	})
	v := bars{title: "Time of a training step and what the device waits for", quantity: timePerStep, parts: stepParts}
	if len(cases) > 0 {
		v.subtitle = upper(imagesText(reports) + "from the end of one step to the end of the next; " +
			"% is the utilisation: the share that the device works; median, shorter is better")
	}
	return pipeBars(v, reports, cases, "step_time", stepRow)
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
		row.Value += ", " + percent(min(m.Median, 1))
	}
}

// maxDemands is how many demands one chart names.
const maxDemands = 8

// allFeeds are the loaders with each number of images in a batch, without a step.
func allFeeds(reports []*results.Report) (all []bars) {
	cases := pipeCases(reports, func(c pipeCase) bool {
		return c.Step == 0 && c.Free == results.FreeNothing && (has(c.Result, "throughput") || c.Failed())
	})
	batch := func(c pipeCase) int { return reports[c.report].Config.Batch }
	for _, same := range groups(cases, batch) {
		if n := batch(same[0]); n > 0 {
			all = append(all, feeds(reports, same, n))
		}
	}
	return all
}

// feeds are loaders with n images in a batch.
func feeds(reports []*results.Report, cases []pipeCase, n int) bars {
	var compared []*results.Result
	v := bars{
		title: "Images that the loader feeds to the device",
		subtitle: fmt.Sprintf("Top speed, batch of %d images; time: the shortest step with which the device is "+
			"kept busy; median, longer is better", n),
		quantity: throughput,
	}
	v = pipeBars(v, reports, cases, "throughput", func(c pipeCase, row *barRow) {
		row.Value += ", " + results.FormatValue(float64(n)/row.Median, results.Seconds)
		compared = append(compared, c.Result)
	})
	demands := demandsOf(compared)
	for _, d := range demands[:min(len(demands), maxDemands)] {
		v.Demands = append(v.Demands, mark{At: d.Rate,
			Text: fmt.Sprintf("%s: %s, %s", d.Title, throughput.value(d.Rate),
				results.FormatValue(float64(n)/d.Rate, results.Seconds))})
	}
	return v
}

// Limits of a chart of traces.
const (
	maxTraces = 6    // lines; more go to another chart
	maxTrace  = 4000 // steps of a line, those after are not drawn
)

// stepTraces are the times of steps as they followed each other, in one chart or more
// for more than maxTraces cases. Cases in which a part is free are no loader's. Traces of
// several machines are read one by one.
func stepTraces(reports []*results.Report) []lines {
	if len(reports) > 1 {
		return nil
	}
	cases := pipeCases(reports, func(c pipeCase) bool {
		t, _, _ := traceOf(c.Result, "step_time")
		return c.Free == results.FreeNothing && !c.Failed() && len(t) > 1
	})
	var all []lines
	for part := range slices.Chunk(cases, maxTraces) {
		all = append(all, traceChart(reports, part))
	}
	return all
}

func traceChart(reports []*results.Report, cases []pipeCase) lines {
	d := lines{
		title:    "Step time over the run",
		subtitle: "Each step, from the end of the one before; without a step the loader's top speed; lower is better",
		captions: captions(reports, gpuText),
	}
	var steps []float64 // that the device works, each once
	restarts := false
	for i, title := range pipeTitles(cases) {
		c := cases[i]
		device, link := c.copies().title(reports[c.report])
		name := device + ", " + title
		if link != "link unknown" {
			name = device + ", " + link + ", " + title
		}
		l, n := traceLine(c, name, i)
		d.Lines = append(d.Lines, l)
		restarts = restarts || n > 1
		if c.Step > 0 {
			steps = results.AppendNew(steps, c.step())
		}
	}
	if restarts {
		d.subtitle += "; of a case that was restarted the last run"
	}
	ends, times := d.bounds()
	d.x = quantity{"time since the case began to measure", results.Seconds}.scale(ends.Hi, ends.Hi, 8)
	d.y = quantity{"step time", results.Seconds}.scale(times.Lo, times.Hi, 8)
	slices.Sort(steps)
	dots := line(ink, 1.2, dashes[4]...)
	for i, s := range steps {
		if s >= d.y.min && s <= d.y.max {
			d.Levels = append(d.Levels, level{At: s, style: dots})
		}
		switch {
		case i < 2:
			d.meanings = append(d.meanings,
				strokeEntry("the device works "+results.FormatExact(s, results.Seconds), dots))
		case i == 2:
			d.meanings = append(d.meanings, strokeEntry("other steps", dots))
		}
	}
	return d
}

// traceLine is one case, marked at both ends; of restarts the last, n are all. It is
// dashed, as lines at the time of the step cover each other, but for many steps, which
// jitter.
func traceLine(c pipeCase, name string, source int) (l curve, n int) {
	t, v, n := traceOf(c.Result, "step_time")
	l = curve{Name: name, series: series{Source: source}}
	width, pattern := 1.6, dashes[source%len(dashes)]
	if len(t) > 100 {
		width, pattern = 1, nil
	}
	l.style = line(l.color(), width, pattern...)
	for i := range t {
		l.Points = append(l.Points, curvePoint{X: t[i], point: point{Median: v[i]}, Assumed: c.assumedParts(),
			bare: i > 0 && i < len(t)-1})
	}
	return l, n
}

// traceOf reads the last series of that name, up to where its time no longer grows,
// and counts those that there are.
func traceOf(r *results.Result, name string) (t, v []float64, n int) {
	var last results.Series
	for _, s := range r.Series {
		if s.Name == name && s.Unit == results.Seconds {
			last = s
			n++
		}
	}
	for i := range min(len(last.T), len(last.V), maxTrace) {
		at := last.T[i]
		if !(at >= 0) || at >= 1e18 || i > 0 && at <= last.T[i-1] {
			break
		}
		if positive(last.V[i]) {
			t, v = append(t, at), append(v, last.V[i])
		}
	}
	return t, v, n
}
