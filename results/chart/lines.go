package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// lines is a chart of lines.
type lines struct {
	title, subtitle string
	reports         []*results.Report
	x, y            scale
	Lines           []curve // the last is drawn over the others
	Levels          []level // what stands right of the data area, from the lowest
	Stops           []mark  // upright lines with their names above, from the left
	meanings        []entry // of what is drawn besides the lines, for the legend
	under           []plot.Plotter
}

// curve is one line.
type curve struct {
	Name   string
	Source int // the number of its colour and its marker
	Points []point
	cases  []lineCase
}

// lineCase is a case of a line.
type lineCase struct {
	measured
	line any    // comparable: cases with equal ones are of one line
	name string // of the line
	x    int    // what the line goes over: threads, readers, bytes
}

// maxLines is how many lines of one machine a chart has; more go to others. minPoints is how
// many points make a line.
const maxLines, minPoints = 8, 3

// linesOf are the lines of cases by a metric over what x counts: of one report up to maxLines
// in a chart, of several a chart for each line that two machines have, with a line for each.
func linesOf(reports []*results.Report, cases []lineCase, metric, counted string) (charts []lines) {
	groups := results.Grouped(cases, func(c lineCase) any { return c.line })
	groups = slices.DeleteFunc(groups, func(same []lineCase) bool { return len(same) < minPoints })
	pages := slices.Collect(slices.Chunk(groups, maxLines))
	if len(reports) > 1 {
		pages = nil
		for _, same := range groups {
			pages = append(pages, results.Grouped(same, func(c lineCase) int { return c.report }))
		}
	}
	for _, page := range pages {
		d := lines{reports: reports}
		for i, same := range page {
			l := curve{Name: same[0].name, Source: i}
			if len(reports) > 1 {
				l.Source, d.subtitle = same[0].report, same[0].name+". "
				l.Name = machines(reports)[l.Source]
			}
			if l.add(same, metric, counted); len(l.Points) >= minPoints {
				d.Lines = append(d.Lines, l)
			}
		}
		if len(d.Lines) >= min(len(reports), 2) {
			charts = append(charts, d)
		}
	}
	return charts
}

// add adds cases in ascending order; the name then says which of them failed.
func (l *curve) add(cases []lineCase, metric, counted string) {
	var failed []string
	slices.SortStableFunc(cases, func(a, b lineCase) int { return cmp.Compare(a.x, b.x) })
	l.cases = slices.CompactFunc(cases, func(a, b lineCase) bool { return a.x == b.x })
	for _, c := range l.cases {
		if c.Failed() {
			failed = append(failed, fmt.Sprint(c.x))
		} else if p, ok := pointOf(c.Result, metric); ok {
			p.X = float64(c.x)
			l.Points = append(l.Points, p)
		}
	}
	if failed != nil {
		l.Name += ": failed with " + results.List(failed...) + " " + counted
	}
}

// level is what has its name and its value right of the data area: a reference that lies
// level, or the end of a line where the stroke has no width.
type level struct {
	Name, Value string
	At          float64
	style       draw.LineStyle
}

// addLevel adds l to the levels, once.
func (d *lines) addLevel(l level) {
	same := func(o level) bool { return o.Name == l.Name && o.Value == l.Value }
	if !slices.ContainsFunc(d.Levels, same) {
		d.Levels = append(d.Levels, l)
	}
	slices.SortStableFunc(d.Levels, func(a, b level) int { return cmp.Compare(a.At, b.At) })
}

// refer adds those levels that are not far from what was measured.
func (d *lines) refer(all ...level) {
	_, y := d.bounds()
	for _, l := range all {
		if l.At >= y.Hi/40 && l.At <= 1.5*y.Hi && len(d.Levels) < maxNeeds {
			d.addLevel(l)
		}
	}
}

// points are those of all lines.
func (d lines) points() (all []point) {
	for _, l := range d.Lines {
		all = append(all, l.Points...)
	}
	return all
}

// bounds are the ranges of the points of all lines, with their intervals, and of the levels.
func (d lines) bounds() (x, y span) {
	var counts, values []float64
	for _, p := range d.points() {
		counts = append(counts, p.X)
		values = append(values, p.Median, cmp.Or(p.Spread.Lo, p.Median), cmp.Or(p.Spread.Hi, p.Median))
	}
	for _, l := range d.Levels {
		values = append(values, l.At)
	}
	return span{slices.Min(counts), slices.Max(counts)}, span{slices.Min(values), slices.Max(values)}
}

// over makes x an axis of the counts that there are points of, with labels as far as there is room.
func (d *lines) over(counted string, log bool) {
	ends, _ := d.bounds()
	d.x = scale{label: counted, max: ends.Hi * 1.06}
	at := func(n float64) float64 { return n / d.x.max } // a share of the axis
	if log {
		d.x = scale{label: counted + " (logarithmic)", min: ends.Lo / 1.25, max: ends.Hi * 1.25, log: true}
		at = func(n float64) float64 { return math.Log(n/d.x.min) / math.Log(d.x.max/d.x.min) }
	}
	var ticks plot.ConstantTicks
	for _, p := range d.points() {
		ticks = append(ticks, plot.Tick{Value: p.X})
	}
	slices.SortFunc(ticks, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	ticks = slices.Compact(ticks)
	last := -1.0
	for i, t := range ticks {
		if at(t.Value) >= last+0.06 {
			ticks[i].Label, last = fmt.Sprintf("%.0f", t.Value), at(t.Value)
		}
	}
	d.x.ticks = ticks
}

// entry is the line of a legend for l, with the marker that its first point has.
func (l curve) entry() entry {
	return entry{l.Name, func(c draw.Canvas) {
		c.StrokeLine2(line(seriesFill(l.Source), 2), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		drawSeries(c, c.Center(), l.Source, len(l.Points[0].Assumed) > 0, l.Points[0].Unproven)
	}}
}

// levelStrip is the space right of the data area for the names of levels.
const levelStrip = 126 * px

func (d lines) figure() *figure {
	f := &figure{
		title:    d.title,
		subtitle: d.subtitle,
		plot:     newPlot(),
		x:        d.x.label,
		y:        d.y.label,
		data:     300 * px,
		right:    8 * px,
		top:      8*px + vg.Length(len(d.Stops))*stopHeight,
		reports:  d.reports,
	}
	for _, l := range d.Lines {
		f.legend = append(f.legend, l.entry())
	}
	f.legend = append(f.legend, d.meanings...)
	f.explain(d.points(), "", func(c draw.Canvas, hollow bool) {
		circle.at(c, c.Center(), 4*px, filled(muted, !hollow), muted)
	})
	if slices.ContainsFunc(d.points(), func(p point) bool { return p.Unproven }) {
		f.legend = append(f.legend, glyphEntry("unproven: the state of the cache could not be shown", drawCross))
	}
	if d.Levels != nil {
		f.right = levelStrip
	}
	d.x.set(&f.plot.X)
	d.y.set(&f.plot.Y)
	f.plot.Add(d.under...)
	f.plot.Add(&plotter.Grid{Vertical: gridStroke, Horizontal: gridStroke}, d)
	return f
}

// Plot implements plot.Plotter: levels, with their names right of the data area, stops and lines.
func (d lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	d.levels(c, y)
	drawStops(c, x, thinStroke, d.Stops, 0)
	for _, s := range d.Stops {
		c.StrokeLine2(thinStroke, x(s.At), c.Min.Y, x(s.At), c.Max.Y)
	}
	for _, l := range d.Lines {
		d.draw(c, p, l)
	}
}

// draw draws l: the line, the intervals and the markers.
func (d lines) draw(c draw.Canvas, p *plot.Plot, l curve) {
	x, y := p.Transforms(&c)
	path := &plotter.Line{LineStyle: line(seriesFill(l.Source), 2)}
	intervals := &plotter.YErrorBars{LineStyle: line(seriesFill(l.Source), 1.2), CapWidth: 6 * px}
	for _, q := range l.Points {
		at := plotter.XY{X: q.X, Y: q.Median}
		path.XYs = append(path.XYs, at)
		if q.Spread != (span{}) {
			intervals.XYs = append(intervals.XYs, at)
			intervals.YErrors = append(intervals.YErrors,
				struct{ Low, High float64 }{q.Median - q.Spread.Lo, q.Spread.Hi - q.Median})
		}
	}
	path.Plot(c, p)
	intervals.Plot(c, p)
	for _, q := range l.Points {
		drawSeries(c, vg.Point{X: x(q.X), Y: y(q.Median)}, l.Source, len(q.Assumed) > 0, q.Unproven)
	}
}

// levels draws the levels. Their names keep clear of each other.
func (d lines) levels(c draw.Canvas, y func(float64) vg.Length) {
	var at []vg.Length
	for _, l := range d.Levels {
		at = append(at, y(l.At))
		if l.style.Width > 0 {
			c.StrokeLine2(l.style, c.Min.X, y(l.At), c.Max.X, y(l.At))
		}
	}
	below := lineHeight(tickText)
	for i, to := range apart(at, 2*below+2*px, c.Min.Y+below, c.Max.Y-below) {
		c.StrokeLine2(line(muted, 0.8), c.Max.X+1*px, at[i], c.Max.X+8*px, to)
		write(c, tickText, c.Max.X+11*px, to+2*px, fit(tickText, d.Levels[i].Name, levelStrip-12*px))
		write(c, tickText, c.Max.X+11*px, to+2*px-below, fit(tickText, d.Levels[i].Value, levelStrip-12*px))
	}
}
