package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// feedCharts shows which devices loaders keep busy.
func feedCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range feedsOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("pipeline-feed", figures)
}

// feedRow is the height of a label above the data area.
var feedRow = lineHeight(tickText) + 1*px

func (d feeds) figure() *figure {
	marks := d.marks()
	f := &figure{
		title: "Utilisation of the device by the time that it works on a batch" + assumedTitle(d.cases, "hollow"),
		subtitle: fmt.Sprintf("Batch of %d images; curves follow from the loader's top speed: it keeps up with steps that take longer than its batches",
			d.Batch),
		legend:  d.legend(),
		plot:    newPlot(),
		x:       "step: time that the device works on a batch (logarithmic)",
		data:    300 * px,
		left:    lineHeight(labelText) + 4*px,
		right:   8 * px,
		top:     vg.Length(len(marks))*feedRow + 4*px,
		caption: pipeCaptions(d.reports),
	}
	if slices.ContainsFunc(d.Curves, func(f feedCurve) bool { return len(f.Points) > 0 }) {
		f.subtitle += "; other points: measured with a step"
	}
	p := f.plot
	p.X.Scale = plot.LogScale{}
	p.X.Min, p.X.Max = d.bounds()
	p.X.Tick.Marker = logTicks(9, timeLabel)
	p.Y.Min, p.Y.Max = 0, 1.04
	p.Y.Tick.Marker = plot.TickerFunc(func(_, _ float64) []plot.Tick { return shares.ticks(5).Ticks(0, 1) })
	p.Add(grid(true, true), upright{"utilisation (" + shares.name + ")"}, feedPlot{d})
	return f
}

// bounds are the ends of the axis: room on both sides of what is drawn, and on the
// right of the labels, each of which begins at its mark.
func (d feeds) bounds() (lo, hi float64) {
	lo = math.Inf(1)
	see := func(t float64) {
		if t >= tiny {
			lo, hi = min(lo, t), max(hi, t)
		}
	}
	for _, m := range d.marks() {
		see(m.Step)
	}
	for _, f := range d.Curves {
		see(f.Spread.Lo)
		see(f.Spread.Hi)
		for _, p := range f.Points {
			see(p.Step)
		}
	}
	lo, hi = lo/8, hi*2
	const axis = layoutWidth*px - 2*margin - 80*px
	for _, m := range d.marks() {
		share := float64((axis - feedLabel(m) - 8*px) / axis)
		hi = max(hi, lo*math.Pow(m.Step/lo, 1/share))
	}
	return lo, hi
}

// feedLabel is the width of a label.
func feedLabel(m feedMark) vg.Length { return width(tickText, m.text()) }

// text is the label, no wider than leaves room for the chart.
func (m feedMark) text() string { return fit(tickText, m.Text, 330*px) }

// feedPlot draws the curves, and above them the labels of knees and demands: the
// leftmost highest, so that no line to a label crosses another label.
type feedPlot struct{ feeds }

// Plot implements plot.Plotter.
func (d feedPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	marks := d.marks()
	for i, m := range marks {
		at, top := x(m.Step), c.Max.Y+vg.Length(len(marks)-i)*feedRow
		sty, from := line(ink, 1.2, 8*px, 3*px), c.Min.Y
		if m.Curve >= 0 {
			sty, from = line(deviceColor[m.Curve], 1), y(1)
		}
		c.StrokeLine2(sty, at, from, at, top)
		write(c, tickText, at+4*px, top-tickText.FontExtents().Ascent, m.text())
	}
	for _, i := range d.order() {
		c.StrokeLines(line(deviceColor[i], 2, feedDashes(i)...), d.Curves[i].path(p, x, y))
	}
	for _, i := range d.order() {
		f := d.Curves[i]
		s := diskStroke{Source: i, Assumed: f.Assumed}
		if f.Spread != (span{}) {
			drawWhisker(c, x(f.Spread.Lo), x(f.Spread.Hi), y(1))
		}
		s.mark(c, vg.Point{X: x(f.Knee), Y: y(1)}, false)
		for _, q := range f.Points {
			s.Assumed = q.Assumed
			if q.Spread != (span{}) {
				s.interval(c, x(q.Step), y(q.Spread.Lo), y(q.Spread.Hi))
			}
			s.mark(c, vg.Point{X: x(q.Step), Y: y(q.Median)}, false)
		}
	}
}

// order has the curves by their knees, so that where several keep up the line is of
// the one that began to last.
func (d feeds) order() []int {
	var all []int
	for _, m := range d.marks() {
		if m.Curve >= 0 {
			all = append(all, m.Curve)
		}
	}
	return all
}

// feedDashes are the line patterns of curves; the first is solid.
func feedDashes(i int) []vg.Length {
	return [][]vg.Length{nil, {9 * px, 3 * px}, {6 * px, 3 * px, 1.5 * px, 3 * px}, {4 * px, 3 * px}, {1.5 * px, 2.5 * px}, {12 * px, 3 * px, 3 * px, 3 * px}}[i%maxFeeds]
}

// path is f from one end of the axis to the other.
func (f feedCurve) path(p *plot.Plot, x, y func(float64) vg.Length) []vg.Point {
	const steps = 120
	var pts []vg.Point
	for i := range steps + 1 {
		step := p.X.Min * math.Pow(f.Knee/p.X.Min, float64(i)/steps)
		pts = append(pts, vg.Point{X: x(step), Y: y(f.at(step))})
	}
	return append(pts, vg.Point{X: x(p.X.Max), Y: y(1)})
}

// legend names each curve and explains its marks.
func (d feeds) legend() []entry {
	var all []entry
	var assumed, intervals, ranges bool
	for i, f := range d.Curves {
		s := diskStroke{Source: i, Assumed: f.Assumed}
		all = append(all, entry{f.Name, func(c draw.Canvas) {
			c.StrokeLine2(line(deviceColor[i], 2, feedDashes(i)...), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
			s.mark(c, c.Center(), false)
		}})
		assumed = assumed || f.Assumed
		intervals, ranges = intervals || f.Spread != span{} && !f.Range, ranges || f.Range
		for _, p := range f.Points {
			assumed = assumed || p.Assumed
			intervals, ranges = intervals || p.Spread != span{} && !p.Range, ranges || p.Range
		}
	}
	if assumed {
		all = append(all, entry{assumedText(d.cases), hollowEntry.sample})
	}
	if text := spreadText(intervals, ranges); text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawWhisker(c, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y) }})
	}
	if len(d.Demands) > 0 {
		all = append(all, entry{"demand: the step of a model on a GPU, for this batch", func(c draw.Canvas) {
			c.StrokeLine2(line(ink, 1.2, 8*px, 3*px), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		}})
	}
	return all
}
