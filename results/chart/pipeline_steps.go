package chart

import (
	"fmt"
	"slices"

	"dlbench/results"
)

// maxTraces is how many lines a chart has, maxTrace how many steps of each are drawn.
const maxTraces, maxTrace = 6, 4000

// stepTraces are the times of steps as they followed each other, in one chart or more
// for more than maxTraces cases. Cases in which a part is free are no loader's. Traces of
// several machines are read one by one.
func stepTraces(reports []*results.Report) []lines {
	if len(reports) > 1 {
		return nil
	}
	cases := pipeCases(reports, func(c pipeCase) bool {
		t, _ := traceOf(c.Result)
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
		subtitle: "Each step, from the end of the one before; of several runs the last; lower is better",
		captions: captions(reports),
	}
	var steps []float64 // that the device works, each once
	for i, title := range pipeTitles(cases) {
		c := cases[i]
		device, link := c.copies().title(reports[c.report])
		name := device + ", " + title
		if link != "link unknown" {
			name = device + ", " + link + ", " + title
		}
		d.Lines = append(d.Lines, traceLine(c, name, i))
		if c.Step > 0 {
			steps = results.AppendNew(steps, c.step())
		}
	}
	ends, times := d.bounds()
	d.x = quantity{"time since the case began to measure", results.Seconds}.scale(ends.Hi, ends.Hi, 8)
	d.y = quantity{"step time", results.Seconds}.scale(times.Lo, times.Hi, 8)
	for _, t := range steps {
		if t >= d.y.min && t <= d.y.max {
			d.Levels = addLevel(d.Levels, level{"the GPU works", results.FormatExact(t, results.Seconds), t, thinStroke})
		}
	}
	return d
}

// traceLine is one case, marked at both ends.
func traceLine(c pipeCase, name string, source int) curve {
	t, v := traceOf(c.Result)
	l := curve{Name: name, series: series{Source: source}}
	l.style = line(l.color(), 1.2)
	for i := range t {
		l.Points = append(l.Points, curvePoint{X: t[i], point: point{Median: v[i]}, Assumed: c.assumedParts(),
			bare: i > 0 && i < len(t)-1})
	}
	return l
}

// traceOf reads the last series of step times, up to where its time no longer grows.
func traceOf(r *results.Result) (t, v []float64) {
	var last results.Series
	for _, s := range r.Series {
		if s.Name == "step_time" && s.Unit == results.Seconds {
			last = s
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
	return t, v
}

// stepParts are the parts of a step, from the axis on.
var stepParts = []part{
	{text: "the GPU works (the step)", fill: partColor["step"]},
	{text: "it waits for a batch", fill: partColor["wait"]},
	{text: "it waits for copy or launch", fill: partColor[results.PartCopy]},
}

// stepTimes are the times from one step to the next of pipelines with a device that
// works.
func stepTimes(reports []*results.Report) bars {
	cases := pipeCases(reports, func(c pipeCase) bool {
		return c.Step > 0 && (has(c.Result, "step_time") || c.Failed())
	})
	v := bars{
		title:    "Time of a training step and what the GPU waits for",
		subtitle: "From the end of one step to the end of the next; %: the share that the GPU works; median",
		quantity: timePerStep,
		parts:    stepParts,
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

// maxNeeds is how many needs of GPUs one chart names.
const maxNeeds = 8

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
		title:    "Images that the loader feeds",
		subtitle: fmt.Sprintf("When nothing waits, and the time of a batch of %d images; median, longer is better", n),
		quantity: throughput,
	}
	v = pipeBars(v, reports, cases, "throughput", func(c pipeCase, row *barRow) {
		row.Value += ", " + results.FormatValue(float64(n)/row.Median, results.Seconds)
		compared = append(compared, c.Result)
	})
	demands := demandsOf(compared)
	for _, d := range demands[:min(len(demands), maxNeeds)] {
		v.Needs = append(v.Needs, mark{At: d.Rate,
			Text: fmt.Sprintf("%s: %s, %s", d.Title, throughput.value(d.Rate),
				results.FormatValue(float64(n)/d.Rate, results.Seconds))})
	}
	return v
}
