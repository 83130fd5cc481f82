package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// batchBars draws the data area and the titles left of it.
type batchBars struct {
	batchTimes
	unit unit
}

// Plot implements plot.Plotter.
func (d batchBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	top := c.Max.Y
	for _, g := range d.Groups {
		d.group(c, g, x, top)
		top -= d.groupHeight(g) + groupGap
	}
}

// group draws one group below top.
func (d batchBars) group(c draw.Canvas, g batchGroup, x func(float64) vg.Length, top vg.Length) {
	bottom := top - g.lane() - vg.Length(len(g.Bars))*d.row()
	if g.Protocol != (span{}) {
		fillBox(c, shade, x(g.Protocol.Lo), bottom, x(g.Protocol.Hi), top)
	}
	y := top - g.lane() - rowHeight/2
	for _, l := range g.lines() {
		write(c, l.Style, c.Min.X-titleWidth-memWidth, y-0.35*l.Font.Size, l.text)
		y -= lineHeight(labelText)
	}
	for i, b := range g.Bars {
		mid := top - g.lane() - vg.Length(i)*d.row() - rowHeight/2
		if !b.Failed {
			drawBar(c, colorOf(b.Mem), b.Assumed, x(0), mid-barHeight/2, x(b.Median), mid+barHeight/2)
		}
		name := fit(labelText, b.Mem, memWidth-10*px)
		write(c, aligned(labelText, draw.XRight), c.Min.X-6*px, mid-0.35*labelText.Font.Size, name)
	}
	lane := top - g.lane()/2
	for _, a := range []struct {
		time float64
		mark func(draw.Canvas, vg.Point)
	}{{g.Theory, drawTheory}, {g.Practice, drawPractice}} {
		if a.time > 0 {
			c.StrokeLine2(hintStroke, x(a.time), bottom, x(a.time), lane)
			a.mark(c, vg.Point{X: x(a.time), Y: lane})
		}
	}
	if g.LineRate > 0 {
		c.StrokeLine2(lineRateStroke, x(g.LineRate), bottom, x(g.LineRate), top)
	}
	for i, b := range g.Bars {
		mid := top - g.lane() - vg.Length(i)*d.row() - rowHeight/2
		if b.Published != (span{}) {
			drawBracket(c, x(b.Published.Lo), x(b.Published.Hi), mid-rowHeight/2-bracketSpace/2+2*px)
		}
		if b.Failed {
			write(c, captionText, x(0)+5*px, mid-0.35*captionText.Font.Size, "failed")
			continue
		}
		end := x(b.Median)
		if b.Spread != (span{}) {
			drawWhisker(c, x(b.Spread.Lo), x(b.Spread.Hi), mid)
			end = x(b.Spread.Hi)
		}
		s, at := d.unit.text(b.Median), mid-0.35*labelText.Font.Size
		r := covers(labelText, end+5*px, at, s)
		fillBox(c, color.NRGBA{255, 255, 255, 215}, r.Min.X-2*px, r.Min.Y+1*px, r.Max.X+2*px, r.Max.Y-1*px)
		write(c, labelText, end+5*px, at, s)
	}
}

// colorOf is the colour of a kind of memory.
func colorOf(mem string) color.Color {
	if c, ok := memColor[mem]; ok {
		return c
	}
	return muted
}

// drawBar draws what was measured filled and what was assumed as an outline.
func drawBar(c draw.Canvas, fill color.Color, assumed bool, x0, y0, x1, y1 vg.Length) {
	if !assumed {
		fillBox(c, fill, x0, y0, x1, y1)
		return
	}
	fillBox(c, paper, x0, y0, x1, y1)
	c.SetLineStyle(line(fill, 1.8, 5*px, 2.5*px))
	c.Stroke(box(x0+0.9*px, y0+0.9*px, x1-0.9*px, y1-0.9*px))
}

func drawWhisker(c draw.Canvas, lo, hi, y vg.Length) {
	c.StrokeLine2(whiskerStroke, lo, y, hi, y)
	for _, x := range []vg.Length{lo, hi} {
		c.StrokeLine2(whiskerStroke, x, y-3*px, x, y+3*px)
	}
}

func drawBracket(c draw.Canvas, lo, hi, y vg.Length) {
	s := line(muted, 1.5)
	c.StrokeLine2(s, lo, y, hi, y)
	for _, x := range []vg.Length{lo, hi} {
		c.StrokeLine2(s, x, y-3*px, x, y+3*px)
	}
}

func drawTheory(c draw.Canvas, p vg.Point)   { funnel.at(c, p, 5*px, ink, ink) }
func drawPractice(c draw.Canvas, p vg.Point) { diamond.at(c, p, 5*px, paper, ink) }
