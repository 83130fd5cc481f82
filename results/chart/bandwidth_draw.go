package chart

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// bandwidthCharts shows how bandwidth grows with the size of a copy.
func bandwidthCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, s := range sweepsOf(reports) {
		figures = append(figures, s.figure)
	}
	return numbered("pcie-bandwidth-size", figures)
}

// linkStrip is the space right of the data area, for the names of line rates.
const linkStrip = 112 * px

func (s sweep) figure() *figure {
	f := &figure{
		title:    "Bandwidth of copies to the GPU by their size",
		subtitle: "Host to device, warm source; median, higher is better",
		legend:   s.legend(),
		plot:     newPlot(),
		x:        "size of a copy (bytes)",
		data:     360 * px,
		right:    8 * px,
		top:      8 * px,
		caption:  captions(s.reports, "float32"),
	}
	if s.Versus {
		f.title += " and machine"
		f.caption = shared(f.caption)
	}
	if s.Mem != "" {
		f.title += ", " + s.Mem + " memory"
	}
	assumed := slices.ContainsFunc(s.Lines, func(l sweepLine) bool { return l.Assumed })
	measured := slices.ContainsFunc(s.Lines, func(l sweepLine) bool { return !l.Assumed })
	switch {
	case assumed && measured:
		f.title += ", links assumed where hollow"
	case assumed:
		f.title += " over assumed links"
	}
	if len(s.Links) > 0 {
		f.right = linkStrip
	}
	xmin, xmax, ymax := s.bounds()
	p := f.plot
	p.X.Scale = plot.LogScale{}
	p.X.Min, p.X.Max = xmin/1.25, xmax*1.25
	p.X.Tick.Marker = sizeTicks(9)
	p.Y.Min, p.Y.Max = 0, ymax*1.04
	p.Y.Tick.Marker = gigabytes.ticks(7)
	p.Y.Label.Text = "bandwidth (" + gigabytes.name + ")"
	if s.batchShown() {
		f.top = lineHeight(tickText) + 4*px
	}
	p.Add(sweepBands{s}, grid(true, true), sweepLines{s})
	return f
}

// bounds is the range of sizes and the greatest bandwidth that is drawn.
func (s sweep) bounds() (xmin, xmax, ymax float64) {
	xmin = math.Inf(1)
	for _, l := range s.Lines {
		for _, p := range l.Points {
			xmin, xmax = min(xmin, float64(p.Bytes)), max(xmax, float64(p.Bytes))
			ymax = max(ymax, p.Median, p.Spread.Hi)
		}
	}
	for _, l := range s.Links {
		ymax = max(ymax, l.LineRate, l.Protocol.Hi)
	}
	return xmin, xmax, ymax
}

// batchShown says whether the size of a batch lies within the sizes shown.
func (s sweep) batchShown() bool {
	xmin, xmax, _ := s.bounds()
	return float64(s.Batch) >= xmin && float64(s.Batch) <= xmax
}

// sweepBands draws the protocol bands, below the grid.
type sweepBands struct{ sweep }

// Plot implements plot.Plotter.
func (s sweepBands) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, l := range s.Links {
		if l.Protocol != (span{}) {
			fillBox(c, shade, c.Min.X, y(l.Protocol.Lo), c.Max.X, y(l.Protocol.Hi))
		}
	}
}

// sweepLines draws line rates with their names right of the data area, the size
// of a batch with its name above, and the data.
type sweepLines struct{ sweep }

// Plot implements plot.Plotter.
func (s sweepLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s.links(c, y)
	if s.batchShown() {
		at := x(float64(s.Batch))
		c.StrokeLine2(line(muted, 1.2, 2*px, 3*px), at, c.Min.Y, at, c.Max.Y+3*px)
		text := "batch " + results.FormatBytes(s.Batch)
		w := width(tickText, text)
		left := min(max(at-w/2, c.Min.X), c.Max.X-w)
		write(c, tickText, left, c.Max.Y+6*px, text)
	}
	for _, l := range s.Lines {
		var pts []vg.Point
		for _, p := range l.Points {
			pts = append(pts, vg.Point{X: x(float64(p.Bytes)), Y: y(p.Median)})
		}
		c.StrokeLines(line(deviceColor[l.Source], 2, l.dashes...), pts)
		for i, p := range l.Points {
			if p.Spread != (span{}) {
				drawInterval(c, pts[i].X, y(p.Spread.Lo), y(p.Spread.Hi))
			}
			l.mark(c, pts[i])
		}
	}
}

// links draws the line rates. Their names keep clear of each other.
func (s sweepLines) links(c draw.Canvas, y func(float64) vg.Length) {
	var at []vg.Length
	for _, l := range s.Links {
		at = append(at, y(l.LineRate))
	}
	apart := spread(at, 2*lineHeight(tickText)+2*px, c.Min.Y+lineHeight(tickText), c.Max.Y-lineHeight(tickText)+8*px)
	for i, l := range s.Links {
		c.StrokeLine2(lineRateStroke, c.Min.X, at[i], c.Max.X, at[i])
		c.StrokeLine2(line(muted, 0.8), c.Max.X+1*px, at[i], c.Max.X+8*px, apart[i])
		name := fit(tickText, strings.Join(l.Titles, ", "), linkStrip-12*px)
		write(c, tickText, c.Max.X+11*px, apart[i]+2*px, name)
		write(c, tickText, c.Max.X+11*px, apart[i]+2*px-lineHeight(tickText), gigabytes.text(l.LineRate))
	}
}

// spread moves ascending positions to be at least apart, within lo and hi as far
// as there is room.
func spread(at []vg.Length, apart, lo, hi vg.Length) []vg.Length {
	to := slices.Clone(at)
	for i := range to {
		to[i] = max(to[i], lo)
		if i > 0 {
			to[i] = max(to[i], to[i-1]+apart)
		}
	}
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] > hi {
			to[i] = hi
		}
		hi = to[i] - apart
	}
	return to
}

// mark draws a marker of l at p: hollow for what is assumed.
func (l sweepLine) mark(c draw.Canvas, p vg.Point) {
	col := deviceColor[l.Source]
	if l.Assumed {
		deviceMarker[l.Source].at(c, p, 4*px, paper, col)
		return
	}
	deviceMarker[l.Source].at(c, p, 4*px, col, col)
}

func drawInterval(c draw.Canvas, x, lo, hi vg.Length) {
	c.StrokeLine2(whiskerStroke, x, lo, x, hi)
	for _, y := range []vg.Length{lo, hi} {
		c.StrokeLine2(whiskerStroke, x-3*px, y, x+3*px, y)
	}
}
