package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// lines is a chart of lines, or of points where lines have no width.
type lines struct {
	title, subtitle string
	captions        [][]string
	x, y            scale
	Lines           []curve // the last is drawn over the others
	Levels          []level // what stands right of the data area, from the lowest
	Stops           []mark  // upright lines with their names above, from the left
	spread          string  // what intervals are; "" for those of medians
	meanings        []entry // of what is drawn besides the lines, for the legend
	under           []plot.Plotter
}

// curve is one line.
type curve struct {
	Name string // for the legend, "" for none
	series
	style  draw.LineStyle
	Points []curvePoint
	failed []int // places of cases that failed
}

// add adds the metric of a case at x.
func (l *curve) add(m measured, x int64, metric string) {
	if m.Failed() {
		l.failed = append(l.failed, int(x))
		return
	}
	p, _ := pointOf(m.Result, metric)
	l.Points = append(l.Points, curvePoint{X: float64(x), point: p, Assumed: m.Result.Assumed, Unproven: m.unproven()})
}

// named is the name of l with what failed, such as "4, 8 threads", and what else is to be
// said.
func (l curve) named(what string, more ...string) string {
	if len(l.Points) == 0 {
		return l.Name + ": failed"
	}
	failed := strings.ReplaceAll(strings.Trim(fmt.Sprint(l.failed), "[]"), " ", ", ")
	if failed != "" {
		failed = "failed with " + failed + " " + what
	}
	return l.Name + results.After(": ", results.List(append([]string{failed}, more...)...))
}

// curvePoint is one point of a line. Its Median is on the y axis.
type curvePoint struct {
	X float64
	point
	Assumed  []string // what of it was simulated; drawn hollow
	Unproven bool     // crossed out
	bare     bool     // without a marker
}

// bare is a point of a line that has no marker.
func bare(x, y float64) curvePoint { return curvePoint{X: x, point: point{Median: y}, bare: true} }

// level is what has its name and its value right of the data area: a reference that lies
// level, or the end of a line where the stroke has no width.
type level struct {
	Name, Value string
	At          float64
	style       draw.LineStyle
}

// addLevel adds l to all, which are from the lowest, or its name to the one of its rate.
func addLevel(all []level, l level) []level {
	k := slices.IndexFunc(all, func(o level) bool { return near(o.At, l.At) })
	switch {
	case k < 0:
		all = append(all, l)
	case l.Name != "" && !slices.Contains(strings.Split(all[k].Name, ", "), l.Name):
		all[k].Name = results.List(all[k].Name, l.Name)
	}
	slices.SortStableFunc(all, func(a, b level) int { return cmp.Compare(a.At, b.At) })
	return all
}

// styled is the usual line of a series.
func (s series) styled() draw.LineStyle { return line(s.color(), 2) }

// compare makes d a chart of machines, of what, where there are several.
func (d *lines) compare(reports []*results.Report, what string) {
	if len(reports) > 1 {
		d.title, d.subtitle = d.title+", by machine", what+". "+d.subtitle
	}
}

// each calls f with every point that has a marker.
func (d lines) each(f func(curvePoint)) {
	for _, l := range d.Lines {
		for _, p := range l.Points {
			if !p.bare {
				f(p)
			}
		}
	}
}

// bounds are the ranges of the points of all lines, with their intervals.
func (d lines) bounds() (x, y span) {
	x, y = span{Lo: math.Inf(1)}, span{Lo: math.Inf(1)}
	for _, l := range d.Lines {
		for _, p := range l.Points {
			x = span{min(x.Lo, p.X), max(x.Hi, p.X)}
			y = span{min(y.Lo, p.Median), max(y.Hi, p.Median, p.Spread.Hi)}
			if p.Spread != (span{}) {
				y.Lo = min(y.Lo, p.Spread.Lo)
			}
		}
	}
	return x, y
}

// counts are the different places of the points, as whole numbers.
func (d lines) counts() (all []int) {
	d.each(func(p curvePoint) { all = append(all, int(p.X)) })
	slices.Sort(all)
	return slices.Compact(all)
}

// simulated is what was simulated of any point, and how many points of how many that is.
func (d lines) simulated() (parts []string, n, of int) {
	d.each(func(p curvePoint) {
		parts = results.AppendNew(parts, p.Assumed...)
		if of++; len(p.Assumed) > 0 {
			n++
		}
	})
	return parts, n, of
}

// legend names each line and explains its marks.
func (d lines) legend() []entry {
	var all []entry
	for _, l := range d.Lines {
		if l.Name != "" {
			all = append(all, l.entry())
		}
	}
	all = append(all, d.meanings...)
	var unproven, intervals, ranges bool
	d.each(func(p curvePoint) {
		unproven = unproven || p.Unproven
		intervals, ranges = intervals || p.Spread != span{} && !p.Range, ranges || p.Range
	})
	if _, n, _ := d.simulated(); n > 0 {
		all = append(all, glyphEntry("simulated", func(c draw.Canvas, p vg.Point) { circle.at(c, p, 4*px, paper, ink) }))
	}
	if unproven {
		all = append(all, glyphEntry("unproven: the state of the cache could not be shown",
			func(c draw.Canvas, p vg.Point) {
				circle.at(c, p, 4*px, paper, muted)
				drawCross(c, p)
			}))
	}
	if text := spreadText(intervals, ranges); text != "" {
		all = append(all, intervalEntry(cmp.Or(d.spread, text)))
	}
	return all
}

// intervalEntry explains the intervals of points.
func intervalEntry(text string) entry {
	return entry{text, func(c draw.Canvas) {
		x := c.Center().X
		c.StrokeLine2(whiskerStroke, x, c.Min.Y, x, c.Max.Y)
		for _, y := range []vg.Length{c.Min.Y, c.Max.Y} {
			c.StrokeLine2(whiskerStroke, x-3*px, y, x+3*px, y)
		}
	}}
}

// entry is the line of a legend for l, with the marker that its first point has.
func (l curve) entry() entry {
	s, unproven := l.series, false
	if i := slices.IndexFunc(l.Points, func(p curvePoint) bool { return !p.bare }); i >= 0 {
		s.Hollow, unproven = len(l.Points[i].Assumed) > 0, l.Points[i].Unproven
	}
	return entry{l.Name, func(c draw.Canvas) {
		if l.style.Width > 0 {
			c.StrokeLine2(l.style, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		}
		s.mark(c, c.Center(), unproven)
	}}
}

// levelStrip is the space right of the data area for the names of levels.
const levelStrip = 126 * px

func (d lines) figure() *figure {
	parts, n, of := d.simulated()
	f := &figure{
		title:    simulatedTitle(d.title, parts, n < of),
		subtitle: d.subtitle,
		legend:   d.legend(),
		plot:     newPlot(),
		x:        d.x.label,
		data:     300 * px,
		left:     lineHeight(labelText) + 4*px,
		right:    8 * px,
		top:      8*px + vg.Length(len(d.Stops))*stopHeight,
		caption:  d.captions,
	}
	if slices.ContainsFunc(d.Levels, func(l level) bool { return l.Name != "" }) {
		f.right = levelStrip
	}
	d.x.set(&f.plot.X)
	d.y.set(&f.plot.Y)
	f.plot.Add(d.under...)
	f.plot.Add(&plotter.Grid{Vertical: gridStroke, Horizontal: gridStroke}, upright{d.y.label}, linesPlot{d})
	return f
}

// linesPlot draws levels, with their names right of the data area, stops and lines.
type linesPlot struct{ lines }

// Plot implements plot.Plotter.
func (d linesPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	d.levels(c, y)
	drawStops(c, x, thinStroke, d.Stops, 0)
	for _, s := range d.Stops {
		c.StrokeLine2(thinStroke, x(s.At), c.Min.Y, x(s.At), c.Max.Y)
	}
	for _, l := range d.Lines {
		l.draw(c, p)
	}
}

// draw draws l: the line, the intervals and the markers.
func (l curve) draw(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	path := &plotter.Line{LineStyle: l.style}
	intervals := &plotter.YErrorBars{LineStyle: line(l.color(), 1.2), CapWidth: 6 * px}
	for _, q := range l.Points {
		at := plotter.XY{X: q.X, Y: q.Median}
		path.XYs = append(path.XYs, at)
		if q.Spread != (span{}) {
			intervals.XYs = append(intervals.XYs, at)
			intervals.YErrors = append(intervals.YErrors,
				struct{ Low, High float64 }{q.Median - q.Spread.Lo, q.Spread.Hi - q.Median})
		}
	}
	if l.style.Width > 0 && len(path.XYs) > 1 {
		path.Plot(c, p)
	}
	intervals.Plot(c, p)
	for _, q := range l.Points {
		if !q.bare {
			s := series{l.Source, len(q.Assumed) > 0}
			s.mark(c, vg.Point{X: x(q.X), Y: y(q.Median)}, q.Unproven)
		}
	}
}

// levels draws the levels. Their names keep clear of each other.
func (d lines) levels(c draw.Canvas, y func(float64) vg.Length) {
	var named []level
	var at []vg.Length
	for _, l := range d.Levels {
		if l.style.Width > 0 {
			c.StrokeLine2(l.style, c.Min.X, y(l.At), c.Max.X, y(l.At))
		}
		if l.Name != "" {
			named, at = append(named, l), append(at, y(l.At))
		}
	}
	below := lineHeight(tickText)
	for i, to := range apart(at, 2*below+2*px, c.Min.Y+below, c.Max.Y-below) {
		c.StrokeLine2(line(muted, 0.8), c.Max.X+1*px, at[i], c.Max.X+8*px, to)
		write(c, tickText, c.Max.X+11*px, to+2*px, fit(tickText, named[i].Name, levelStrip-12*px))
		write(c, tickText, c.Max.X+11*px, to+2*px-below, fit(tickText, named[i].Value, levelStrip-12*px))
	}
}
