package chart

import (
	"cmp"
	"fmt"
	"image/color"
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
	Levels          []level // what lines are compared with, from the lowest
	Stops           []mark  // upright lines with their names above, from the left
	Shades          []shaded
	spread          string  // what intervals are; "" for those of medians
	meanings        []entry // of what is drawn besides the lines, for the legend
	sideBySide      bool    // lines with intervals, which would cover each other
	under, outside  plot.Plotter
	strip           vg.Length // right of the data area, for what outside draws
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
	Assumed  []string // what of it a stand-in produced; drawn hollow
	Unproven bool     // crossed out
	bare     bool     // without a marker
}

// bare is a point of a line that has no marker.
func bare(x, y float64) curvePoint { return curvePoint{X: x, point: point{Median: y}, bare: true} }

// level is a reference that lies level. Its name and value stand right of the data
// area.
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

// shaded is an area behind the lines; a zero span is all of that axis.
type shaded struct {
	x, y span
	fill color.Color
}

// styled is the usual line of a series.
func (s series) styled(dashes []vg.Length) draw.LineStyle { return line(s.color(), 2, dashes...) }

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

// assumed is what stand-ins produced of any point, and whether others were measured.
func (d lines) assumed() (parts []string, measured bool) {
	d.each(func(p curvePoint) {
		parts = results.AppendNew(parts, p.Assumed...)
		measured = measured || len(p.Assumed) == 0
	})
	return parts, measured
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
	if parts, _ := d.assumed(); parts != nil {
		all = append(all, glyphEntry(assumedText(parts),
			func(c draw.Canvas, p vg.Point) { circle.at(c, p, 4*px, paper, ink) }))
	}
	if unproven {
		all = append(all, glyphEntry(unprovenMeaning, func(c draw.Canvas, p vg.Point) {
			circle.at(c, p, 4*px, paper, color.Gray{130})
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

// entry is the line of a legend for l, with the marker that all of its points have.
func (l curve) entry() entry {
	marked := slices.DeleteFunc(slices.Clone(l.Points), func(p curvePoint) bool { return p.bare })
	all := func(is func(curvePoint) bool) bool {
		return len(marked) > 0 && !slices.ContainsFunc(marked, func(p curvePoint) bool { return !is(p) })
	}
	s := series{l.Source, l.Hollow || all(func(p curvePoint) bool { return len(p.Assumed) > 0 })}
	unproven := all(func(p curvePoint) bool { return p.Unproven })
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
	parts, measured := d.assumed()
	f := &figure{
		title:    assumedTitle(d.title, parts, measured, "hollow"),
		subtitle: d.subtitle,
		legend:   d.legend(),
		plot:     newPlot(),
		x:        d.x.label,
		data:     360 * px,
		left:     lineHeight(labelText) + 4*px,
		right:    cmp.Or(d.strip, 8*px),
		top:      8*px + vg.Length(len(d.Stops))*stopHeight,
		caption:  d.captions,
	}
	if slices.ContainsFunc(d.Levels, func(l level) bool { return l.Name != "" }) {
		f.right = levelStrip
	}
	d.x.set(&f.plot.X)
	d.y.set(&f.plot.Y)
	grid := &plotter.Grid{Vertical: gridStroke, Horizontal: gridStroke}
	for _, p := range []plot.Plotter{d.under, shades(d.Shades), grid, upright{d.y.label}, linesPlot{d, f.right},
		d.outside} {
		if p != nil {
			f.plot.Add(p)
		}
	}
	return f
}

// shades draws areas below the grid.
type shades []shaded

// Plot implements plot.Plotter.
func (s shades) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, a := range s {
		r := c.Rectangle
		if a.x != (span{}) {
			r.Min.X, r.Max.X = x(max(a.x.Lo, p.X.Min)), x(min(a.x.Hi, p.X.Max))
		}
		if a.y != (span{}) {
			r.Min.Y, r.Max.Y = y(a.y.Lo), y(a.y.Hi)
		}
		fillBox(c, a.fill, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	}
}

// linesPlot draws levels, with their names right of the data area, stops and lines.
type linesPlot struct {
	lines
	right vg.Length
}

// Plot implements plot.Plotter.
func (d linesPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	d.levels(c, y)
	drawStops(c, x, dottedStroke, d.Stops, d.right)
	step, aside := d.aside()
	for _, l := range d.Lines {
		var moved vg.Length
		if l.whiskers() {
			moved, aside = aside, aside+step
		}
		l.draw(draw.Crop(c, moved, moved, 0, 0), p)
	}
}

// aside returns steps that set lines with intervals side by side, and where the first
// stands.
func (d lines) aside() (step, start vg.Length) {
	n := 0
	for _, l := range d.Lines {
		if l.whiskers() {
			n++
		}
	}
	if !d.sideBySide || n == 0 {
		return 0, 0
	}
	step = min(4*px, 20*px/vg.Length(n))
	return step, -step * vg.Length(n-1) / 2
}

// whiskers reports whether l has intervals.
func (l curve) whiskers() bool {
	return slices.ContainsFunc(l.Points, func(p curvePoint) bool { return p.Spread != span{} })
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
		c.StrokeLine2(l.style, c.Min.X, y(l.At), c.Max.X, y(l.At))
		if l.Name != "" {
			named, at = append(named, l), append(at, y(l.At))
		}
	}
	below := lineHeight(tickText)
	for i, to := range apart(at, 2*below+2*px, c.Min.Y+below, c.Max.Y-below+8*px) {
		c.StrokeLine2(line(muted, 0.8), c.Max.X+1*px, at[i], c.Max.X+8*px, to)
		write(c, tickText, c.Max.X+11*px, to+2*px, fit(tickText, named[i].Name, levelStrip-12*px))
		write(c, tickText, c.Max.X+11*px, to+2*px-below, named[i].Value)
	}
}
