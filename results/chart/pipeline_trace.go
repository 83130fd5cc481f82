package chart

import (
	"slices"

	"dlbench/results"
)

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
		return c.Free == nothing && !c.Failed() && len(t) > 1
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
		device, link := c.copies().title(reports[c.Report])
		name := device + ", " + title
		if link != "link unknown" {
			name = device + ", " + link + ", " + title
		}
		l, n := traceLine(c, name, i)
		d.Lines = append(d.Lines, l)
		restarts = restarts || n > 1
		if c.Step > 0 {
			steps = results.AppendNew(steps, c.Step)
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
