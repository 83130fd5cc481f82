package chart

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// diskReadersCharts shows what more readers bring.
func diskReadersCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range diskReadersOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("disk-readers", figures)
}

func (d diskReaders) figure() *figure {
	least, most, counts := d.bounds()
	for _, p := range d.Peaks {
		least, most = min(least, p.Rate), max(most, p.Rate)
	}
	u := ratesFor(most)
	f := &figure{
		title: "Bandwidth of reading from disk by number of readers" + assumedWhere(
			slices.ContainsFunc(d.Lines, func(l readersLine) bool { return l.Assumed }),
			slices.ContainsFunc(d.Lines, func(l readersLine) bool { return !l.Assumed }), "hollow"),
		subtitle: "Each reader reads batch after batch; median, higher is better",
		legend:   d.legend(),
		plot:     newPlot(),
		x:        "readers (logarithmic)",
		data:     360 * px,
		right:    8 * px,
		top:      8 * px,
		caption:  diskCaptions(d.reports),
	}
	if d.What != "" {
		f.title += ", by machine"
		f.subtitle = d.What + ". " + f.subtitle
		f.caption = shared(f.caption)
	}
	if len(d.Peaks) > 0 {
		f.right = linkStrip
	}
	p := f.plot
	p.X.Scale = plot.LogScale{}
	p.X.Min, p.X.Max = float64(counts[0])/1.25, float64(counts[len(counts)-1])*1.25
	p.X.Tick.Marker = countTicks(counts, 0.06)
	p.Y.Min, p.Y.Max = 0, most*1.06
	p.Y.Tick.Marker = u.ticks(7)
	label := "bandwidth (" + u.name + ")"
	if d.logarithmic() {
		p.Y.Scale = plot.LogScale{}
		p.Y.Min, p.Y.Max = least/1.5, most*1.5
		p.Y.Tick.Marker = logTicks(12, u.rateLabel)
		label = "bandwidth (" + u.name + ", logarithmic)"
	}
	f.left = lineHeight(labelText) + 4*px
	p.Add(grid(true, true), upright{label}, readersPlot{d})
	return f
}

// dodge returns steps that set lines with intervals side by side, so that those at
// one number of readers do not cover each other, and where the first stands.
func (d diskReaders) dodge() (step, start vg.Length) {
	n := 0
	for _, l := range d.Lines {
		if l.whiskers() {
			n++
		}
	}
	step = min(4*px, 20*px/vg.Length(max(n, 1)))
	return step, -step * vg.Length(n-1) / 2
}

// whiskers tells whether l has intervals.
func (l readersLine) whiskers() bool {
	return slices.ContainsFunc(l.Points, func(p readersPoint) bool { return p.Spread != span{} })
}

// readersPlot draws the peaks, with their names right of the data area, and the
// lines.
type readersPlot struct{ diskReaders }

// Plot implements plot.Plotter.
func (d readersPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var at []vg.Length
	for _, p := range d.Peaks {
		at = append(at, y(p.Rate))
	}
	apart := spread(at, 2*lineHeight(tickText)+2*px, c.Min.Y+lineHeight(tickText), c.Max.Y-lineHeight(tickText)+8*px)
	for i, p := range d.Peaks {
		c.StrokeLine2(line(ink, 1.4, 8*px, 3*px), c.Min.X, at[i], c.Max.X, at[i])
		c.StrokeLine2(line(muted, 0.8), c.Max.X+1*px, at[i], c.Max.X+8*px, apart[i])
		write(c, tickText, c.Max.X+11*px, apart[i]+2*px, fit(tickText, p.Title, linkStrip-12*px))
		write(c, tickText, c.Max.X+11*px, apart[i]+2*px-lineHeight(tickText), results.FormatExact(p.Rate, results.BytesPerSecond))
	}
	step, next := d.dodge()
	for _, l := range d.Lines {
		var aside vg.Length
		if l.whiskers() {
			aside, next = next, next+step
		}
		var pts []vg.Point
		for _, p := range l.Points {
			pts = append(pts, vg.Point{X: x(float64(p.Readers)) + aside, Y: y(p.Median)})
		}
		if len(pts) > 1 {
			c.StrokeLines(l.style(), pts)
		}
		for i, p := range l.Points {
			if p.Spread != (span{}) {
				l.interval(c, pts[i].X, y(p.Spread.Lo), y(p.Spread.Hi))
			}
			l.mark(c, pts[i], p.Unproven)
		}
	}
}

// legend names each line and explains its marks.
func (d diskReaders) legend() []entry {
	var all []entry
	var assumed, unproven, intervals, ranges bool
	for _, l := range d.Lines {
		all = append(all, l.entry(l.legendName(), false))
		assumed = assumed || l.Assumed
		for _, p := range l.Points {
			unproven = unproven || p.Unproven
			intervals, ranges = intervals || p.Spread != span{} && !p.Range, ranges || p.Range
		}
	}
	if assumed {
		all = append(all, hollowEntry)
	}
	if unproven {
		all = append(all, unprovenEntry)
	}
	if text := spreadText(intervals, ranges); text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawInterval(c, c.Center().X, c.Min.Y, c.Max.Y) }})
	}
	return all
}
