package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Strokes of what lines are held against, in the colour of the line.
var (
	linearDashes  = []vg.Length{7 * px, 4 * px}
	controlDashes = []vg.Length{6 * px, 2.5 * px, 1.5 * px, 2.5 * px}
	fitStroke     = line(ink, 1.5, 1.5*px, 3*px)
)

// joinShade is behind the threads that other processors join.
var joinShade = color.Gray{246}

// join is a number of threads above which other processors are used.
type join struct {
	Above int64
	Title string
}

// joins are those of the one machine shown, from the lowest; none of several
// machines, whose legend says it.
func (d scaling) joins() []join {
	var cores, fast int64
	for _, l := range d.Lines {
		first(&cores, l.Cores)
		first(&fast, l.Fast)
	}
	var all []join
	if fast > 0 {
		all = append(all, join{fast, "slower cores"})
	}
	if cores > 0 {
		all = append(all, join{cores, "SMT siblings"})
	}
	if d.several() {
		return nil
	}
	return all
}

// scalingJoins shades where other processors join, below the grid, and names them
// above the data area, each on a line of its own.
type scalingJoins struct{ scaling }

// Plot implements plot.Plotter.
func (d scalingJoins) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	joins := d.joins()
	for i, j := range joins {
		at := x(max(float64(j.Above), p.X.Min))
		top := c.Max.Y + vg.Length(len(joins)-i)*(lineHeight(tickText)+2*px)
		fillBox(c, joinShade, at, c.Min.Y, c.Max.X, c.Max.Y)
		c.StrokeLine2(line(muted, 1.2, 2*px, 3*px), at, c.Min.Y, at, top)
		text := j.Title + " →"
		left := min(at+4*px, c.Max.X-width(tickText, text))
		write(c, tickText, left, top-tickText.FontExtents().Ascent, text)
	}
}

// scalingPlot draws demands, with their names right of the data area, and lines.
type scalingPlot struct{ scaling }

// Plot implements plot.Plotter.
func (d scalingPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	d.demandLines(c, y)
	if d.full() {
		for _, l := range d.Lines {
			l.against(c, p)
		}
	}
	step := 2.5 * px // side by side, so that intervals do not cover each other
	if d.full() {
		step = 0
	}
	for i, l := range d.Lines {
		s := diskStroke{Source: l.Source}
		pts := l.path(l.Points, x, y)
		for k := range pts {
			pts[k].X += step * vg.Length(2*i-len(d.Lines)+1) / 2
		}
		if len(pts) > 1 {
			c.StrokeLines(s.style(), pts)
		}
		for k, p := range l.Points {
			if p.Spread != (span{}) {
				s.interval(c, pts[k].X, y(p.Spread.Lo), y(p.Spread.Hi))
			}
			s.mark(c, pts[k], false)
		}
	}
	for _, l := range d.Lines {
		if from, to := l.drawn(); from < to && d.full() {
			for _, pts := range l.fitted(c, from, to, p) {
				c.StrokeLines(fitStroke, pts)
			}
		}
	}
}

func (scalingLine) path(points []scalingPoint, x, y func(float64) vg.Length) []vg.Point {
	var pts []vg.Point
	for _, p := range points {
		pts = append(pts, vg.Point{X: x(float64(p.Threads)), Y: y(p.Median)})
	}
	return pts
}

// fitted is the curve of the fit of l where it stays within the data area.
func (l scalingLine) fitted(c draw.Canvas, from, to float64, p *plot.Plot) [][]vg.Point {
	const steps = 100
	x, y := p.Transforms(&c)
	var all [][]vg.Point
	var pts []vg.Point
	for i := range steps + 1 {
		n := from + (to-from)*float64(i)/steps
		rate, _ := l.Fit.At(n)
		if rate >= p.Y.Min && rate <= p.Y.Max {
			pts = append(pts, vg.Point{X: x(n), Y: y(rate)})
			if i < steps {
				continue
			}
		}
		if len(pts) > 1 {
			all = append(all, pts)
		}
		pts = nil
	}
	return all
}

// against draws linear scaling from the fewest threads, up to the edge of the chart,
// and the control.
func (l scalingLine) against(c draw.Canvas, p *plot.Plot) {
	if len(l.Points) == 0 {
		return
	}
	x, y := p.Transforms(&c)
	col := deviceColor[l.Source%len(deviceColor)]
	n, rate := float64(l.Points[0].Threads), l.Points[0].Median
	end := min(p.X.Max, n*p.Y.Max/rate)
	if end > n {
		c.StrokeLine2(line(col, 1.2, linearDashes...), x(n), y(rate), x(end), y(rate*end/n))
	}
	if pts := l.path(l.Control, x, y); len(pts) > 1 {
		c.StrokeLines(line(col, 1.2, controlDashes...), pts)
	}
}

// demandLines draws demands. Their names keep clear of each other.
func (d scaling) demandLines(c draw.Canvas, y func(float64) vg.Length) {
	within := d.demands().Drawn
	var at []vg.Length
	for _, x := range within {
		at = append(at, y(x.Rate))
	}
	apart := spread(at, 2*lineHeight(tickText)+2*px, c.Min.Y+lineHeight(tickText), c.Max.Y-lineHeight(tickText)+8*px)
	for i, x := range within {
		c.StrokeLine2(line(ink, 1.4, 8*px, 3*px), c.Min.X, at[i], c.Max.X, at[i])
		c.StrokeLine2(line(muted, 0.8), c.Max.X+1*px, at[i], c.Max.X+8*px, apart[i])
		write(c, tickText, c.Max.X+11*px, apart[i]+2*px, fit(tickText, x.Title, demandStrip-12*px))
		write(c, tickText, c.Max.X+11*px, apart[i]+2*px-lineHeight(tickText), images.text(x.Rate))
	}
}
