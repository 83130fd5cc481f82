package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// barsPlot draws the groups, the names left of the data area and the values right of
// the bars.
type barsPlot struct {
	bars
	left, right vg.Length
}

// Plot implements plot.Plotter.
func (v barsPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	drawStops(c, x, needStroke, v.Needs, v.right)
	top := c.Max.Y
	for _, g := range v.Groups {
		title := simulatedTitle(g.Title, g.Assumed, false)
		write(c, groupText, c.Min.X-v.left, top-g.head()+6*px, fit(groupText, title, c.Max.X+v.right-c.Min.X+v.left))
		rows := top - g.head()
		end := top - v.height(g) + groupGap
		c.StrokeLine2(line(muted, 1), c.Min.X, end, c.Min.X, rows)
		for i, r := range g.Rows {
			v.draw(c, g, r, x, rows-vg.Length(i)*v.row())
		}
		top -= v.height(g)
	}
}

// draw draws r below top: name, bar or point, references, value.
func (v barsPlot) draw(c draw.Canvas, g barGroup, r barRow, x func(float64) vg.Length, top vg.Length) {
	mid, hollow, fill := top-v.row()+rowHeight/2, len(g.Assumed) > 0 || r.Simulated, v.fill(g, r)
	base := mid - 0.35*labelText.Font.Size
	if v.machines != nil {
		series{r.Machine, hollow}.mark(c, vg.Point{X: c.Min.X - v.left + 6*px, Y: mid}, false)
	}
	write(c, labelText, c.Min.X-v.left+v.marker(), base, v.name(r))
	for _, m := range v.Needs {
		c.StrokeLine2(needStroke, x(m.At), mid-rowHeight/2, x(m.At), mid+rowHeight/2)
	}
	end := c.Min.X
	switch {
	case r.Failed:
	case v.points:
		c.StrokeLine2(gridStroke, c.Min.X, mid, x(r.Median), mid)
		circle.at(c, vg.Point{X: x(r.Median), Y: mid}, 4.5*px, filled(fill, !hollow), fill)
		end = x(r.Median) + 5*px
	case r.Parts != nil:
		var from float64
		for i, t := range r.Parts {
			if t > 0 {
				drawBar(c, v.parts[i].fill, hollow, x(from), x(from+t), mid)
			}
			from += t
		}
		end = x(from)
	default:
		drawBar(c, fill, hollow, c.Min.X, x(r.Median), mid)
		end = x(r.Median)
	}
	if r.Spread != (span{}) {
		drawWhisker(c, x(r.Spread.Lo), x(r.Spread.Hi), mid)
		end = max(end, x(r.Spread.Hi))
	}
	if r.Caveat == caveatExtrapolated {
		drawOpen(c, vg.Point{X: x(r.Median), Y: mid})
		end = max(end, x(r.Median)+5*px)
	}
	for _, m := range r.Marks {
		m.glyph(c, vg.Point{X: x(m.At), Y: mid})
	}
	if v.raised() && !r.Failed {
		left := x(r.Median) - width(labelText, r.value())/2
		write(c, labelText, max(left, c.Min.X+2*px), base+valueHeight+1*px, r.value())
		return
	}
	write(c, labelText, v.clear(r, x, end+valueGap), base, r.value())
}

// clear is the left end of the value of r: end, next to its mark, or right of all
// references where one is in the way.
func (v barsPlot) clear(r barRow, x func(float64) vg.Length, end vg.Length) vg.Length {
	w, left := width(labelText, r.value()), end
	for _, m := range slices.Concat(v.Needs, r.Marks) {
		if at := x(m.At); !r.Failed && at+valueGap > end && at-valueGap < end+w {
			left = max(left, at+2*valueGap)
		}
	}
	return left
}

// fill is the colour of r.
func (v bars) fill(g barGroup, r barRow) color.Color {
	switch {
	case v.machines != nil && r.fill == nil:
		return series{Source: r.Machine}.color()
	case r.fill != nil:
		return r.fill
	case g.fill != nil:
		return g.fill
	}
	return seriesColor[0]
}

// drawBar draws a bar from x0 to x1 around y, hollow for what is simulated.
func drawBar(c draw.Canvas, fill color.Color, hollow bool, x0, x1, y vg.Length) {
	const half, outline = barHeight / 2, 1.6 * px
	x1 = max(x1, x0+1*px)
	if !hollow || x1-x0 < 2*outline {
		fillBox(c, fill, x0, y-half, x1, y+half)
		return
	}
	c.SetLineStyle(line(fill, 1.6))
	c.Stroke(box(x0+outline/2, y-half+outline/2, x1-outline/2, y+half-outline/2))
}

// drawOpen is the end of what is extrapolated.
func drawOpen(c draw.Canvas, p vg.Point) { circle.at(c, p, 4.5*px, paper, ink) }

// drawWhisker draws a range along the x axis.
func drawWhisker(c draw.Canvas, lo, hi, y vg.Length) {
	c.StrokeLine2(whiskerStroke, lo, y, hi, y)
	for _, x := range []vg.Length{lo, hi} {
		c.StrokeLine2(whiskerStroke, x, y-3*px, x, y+3*px)
	}
}

// stopHeight is the height of the name of a line above the data area.
var stopHeight = lineHeight(tickText) + 1*px

// drawStops draws the beginnings of upright lines, in ascending order, with their names
// above the data area, of which right is the strip that follows: the leftmost highest, so
// that no line crosses a name.
func drawStops(c draw.Canvas, x func(float64) vg.Length, sty draw.LineStyle, all []mark, right vg.Length) {
	for i, m := range all {
		at, top := x(m.At), c.Max.Y+vg.Length(len(all)-i)*stopHeight
		c.StrokeLine2(sty, at, c.Max.Y, at, top)
		name := fit(tickText, m.Text, c.Max.X-c.Min.X)
		left := at + 4*px
		if w := width(tickText, name); left+w > c.Max.X+right {
			left = at - 4*px - w
		}
		write(c, tickText, left, top-tickText.FontExtents().Ascent, name)
	}
}
