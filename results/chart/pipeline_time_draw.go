package chart

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// stepTraceCharts shows whether steps come evenly.
func stepTraceCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range stepTracesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("pipeline-time", figures)
}

func (d stepTraces) figure() *figure {
	least, most, end := d.bounds()
	u, seconds := secondsFor(most), secondsFor(end)
	f := &figure{
		title:    "Step time over the run" + assumedTitle(d.cases, "hollow"),
		subtitle: "Each step, from the end of the one before; without a step the loader's top speed; lower is better",
		legend:   d.legend(),
		plot:     newPlot(),
		x:        "time since the case began to measure (" + seconds.name + ")",
		data:     320 * px,
		left:     lineHeight(labelText) + 4*px,
		right:    8 * px,
		top:      8 * px,
		caption:  pipeCaptions(d.reports),
	}
	if slices.ContainsFunc(d.Lines, func(l stepTrace) bool { return l.Restarts }) {
		f.subtitle += "; of a case that was restarted the last run"
	}
	p := f.plot
	p.X.Min, p.X.Max = 0, end*1.03
	p.X.Tick.Marker = seconds.ticks(8)
	label := "step time (" + u.name + ")"
	if most > traceLogFrom*least {
		p.Y.Scale = plot.LogScale{}
		p.Y.Min, p.Y.Max = least/1.5, most*1.5
		p.Y.Tick.Marker = logTicks(10, timeLabel)
		label = "step time (logarithmic)"
	} else {
		p.Y.Min, p.Y.Max = 0, most*1.06
		p.Y.Tick.Marker = u.ticks(7)
	}
	p.Add(grid(true, true), upright{label}, stepTraceLines{d})
	return f
}

// traceLogFrom is logFrom for lines that each change little.
const traceLogFrom = 20

// style is the stroke of the i-th line: dashed, as lines at the time of the step
// cover each other, but for many steps, which jitter.
func (l stepTrace) style(i int) draw.LineStyle {
	if len(l.T) > 100 {
		return line(deviceColor[i], 1)
	}
	return line(deviceColor[i], 1.6, feedDashes(i)...)
}

// stepTraceLines draws the lines and, dotted, the steps that they cannot fall below.
type stepTraceLines struct{ stepTraces }

// Plot implements plot.Plotter.
func (d stepTraceLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, s := range d.Steps {
		if s >= p.Y.Min && s <= p.Y.Max {
			c.StrokeLine2(line(ink, 1.2, 1.5*px, 3*px), c.Min.X, y(s), c.Max.X, y(s))
		}
	}
	for i, l := range d.Lines {
		var pts []vg.Point
		for k := range l.T {
			pts = append(pts, vg.Point{X: x(l.T[k]), Y: y(l.V[k])})
		}
		c.StrokeLines(l.style(i), pts)
	}
	for i, l := range d.Lines {
		s := diskStroke{Source: i, Assumed: l.Assumed}
		n := len(l.T) - 1
		for _, k := range []int{0, n} {
			s.mark(c, vg.Point{X: x(l.T[k]), Y: y(l.V[k])}, false)
		}
	}
}

// legend names each line and explains the rest.
func (d stepTraces) legend() []entry {
	var all []entry
	for i, l := range d.Lines {
		s := diskStroke{Source: i, Assumed: l.Assumed}
		all = append(all, entry{l.Name, func(c draw.Canvas) {
			c.StrokeLine2(l.style(i), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
			s.mark(c, c.Center(), false)
		}})
	}
	if slices.ContainsFunc(d.Lines, func(l stepTrace) bool { return l.Assumed }) {
		all = append(all, entry{assumedText(d.cases), hollowEntry.sample})
	}
	for i, s := range d.Steps {
		text := "the device works " + timeLabel(s)
		if i == 2 {
			text = "other steps"
		}
		if i <= 2 {
			all = append(all, entry{text, func(c draw.Canvas) {
				c.StrokeLine2(line(ink, 1.2, 1.5*px, 3*px), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
			}})
		}
	}
	return all
}
