package chart

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// diskMark is a reference of a group.
type diskMark struct {
	time float64
	draw func(draw.Canvas, vg.Point)
}

// marks are the references of g, from the shortest.
func (g diskGroup) marks() []diskMark {
	var all []diskMark
	for i, t := range g.Peaks {
		if t >= tiny {
			all = append(all, diskMark{t, peakMark[i]})
		}
	}
	if g.Article >= tiny {
		all = append(all, diskMark{g.Article, drawTheory})
	}
	slices.SortStableFunc(all, func(a, b diskMark) int { return cmp.Compare(a.time, b.time) })
	return all
}

// peakMark goes with diskPeaks.
var peakMark = []func(draw.Canvas, vg.Point){
	func(c draw.Canvas, p vg.Point) { star.at(c, p, 5.5*px, ink, ink) },
	func(c draw.Canvas, p vg.Point) { circle.at(c, p, 4*px, paper, ink) },
	func(c draw.Canvas, p vg.Point) { square.at(c, p, 4*px, paper, ink) },
	func(c draw.Canvas, p vg.Point) { pyramid.at(c, p, 4.5*px, paper, ink) },
}

// diskBars draws the data area and the titles left of it.
type diskBars struct {
	diskTimes
	unit unit
}

// Plot implements plot.Plotter.
func (d diskBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	top := c.Max.Y
	for _, g := range d.Groups {
		y := top - g.lane() - rowHeight/2
		for _, l := range g.head() {
			write(c, l.Style, c.Min.X-titleWidth-memWidth, y-0.35*l.Font.Size, l.text)
			y -= lineHeight(labelText)
		}
		g.draw(c, x, top, d.unit)
		top -= g.height() + groupGap
	}
}

// draw draws bars and references below top.
func (g diskGroup) draw(c draw.Canvas, x func(float64) vg.Length, top vg.Length, u unit) {
	middle := func(i int) vg.Length { return top - g.lane() - (vg.Length(i)+0.5)*rowHeight }
	for i, b := range g.Bars {
		mid := middle(i)
		if !b.Failed {
			drawDiskBar(c, b, c.Min.X, mid-barHeight/2, x(b.Median), mid+barHeight/2)
		}
		name := fit(labelText, b.Cache, memWidth-10*px)
		write(c, aligned(labelText, draw.XRight), c.Min.X-6*px, mid-0.35*labelText.Font.Size, name)
	}
	g.references(c, x, top)
	for i, b := range g.Bars {
		end, at, sty := c.Min.X, middle(i)-0.35*labelText.Font.Size, labelText
		if !b.Failed {
			end = x(b.Median)
		} else {
			sty = captionText
		}
		if b.Spread != (span{}) {
			drawWhisker(c, x(b.Spread.Lo), x(b.Spread.Hi), middle(i))
			end = x(b.Spread.Hi)
		}
		s := b.value(u)
		r := covers(sty, end+6*px, at, s)
		fillBox(c, color.NRGBA{255, 255, 255, 215}, r.Min.X-2*px, r.Min.Y+1*px, r.Max.X+2*px, r.Max.Y-1*px)
		write(c, sty, end+6*px, at, s)
	}
}

// references draws a line at each reference through the bars, and above them its
// mark, moved aside where two would cover each other.
func (g diskGroup) references(c draw.Canvas, x func(float64) vg.Length, top vg.Length) {
	var at []vg.Length
	for _, m := range g.marks() {
		at = append(at, x(m.time))
	}
	apart := spread(at, 13*px, c.Min.X+6*px, c.Max.X-6*px)
	for i, m := range g.marks() {
		knee, lane := top-g.lane(), top-laneHeight/2
		c.StrokeLine2(hintStroke, at[i], knee-vg.Length(len(g.Bars))*rowHeight, at[i], knee)
		c.StrokeLine2(line(muted, 0.8), at[i], knee, apart[i], lane)
		m.draw(c, vg.Point{X: apart[i], Y: lane})
	}
}

// cacheColor is the colour of a state of the page cache: blue where the disk is
// read and nothing is cached, orange past the cache, red from memory.
var cacheColor = map[string]color.Color{
	"cold-data": color.RGBA{0x00, 0x72, 0xB2, 255},
	"cold-all":  color.RGBA{0x56, 0xB4, 0xE9, 255},
	"direct":    color.RGBA{0xE6, 0x9F, 0x00, 255},
	"warm":      color.RGBA{0xD5, 0x5E, 0x00, 255},
	paced:       color.RGBA{0x00, 0x9E, 0x73, 255},
}

// drawDiskBar draws a bar in the colour of its cache.
func drawDiskBar(c draw.Canvas, b diskBar, x0, y0, x1, y1 vg.Length) {
	fill, ok := cacheColor[b.Cache]
	if !ok {
		fill = muted
	}
	drawCaseBar(c, fill, b.Assumed, b.Unproven, x0, y0, x1, y1)
}

// drawCaseBar fills what is proven, hatches what is not and draws what is assumed
// as a dashed outline.
func drawCaseBar(c draw.Canvas, fill color.Color, assumed, unproven bool, x0, y0, x1, y1 vg.Length) {
	if !unproven || assumed {
		drawBar(c, fill, assumed, x0, y0, x1, y1)
	}
	if !unproven {
		return
	}
	if !assumed {
		fillBox(c, paper, x0, y0, x1, y1)
		c.SetLineStyle(line(fill, 1.4))
		c.Stroke(box(x0+0.7*px, y0+0.7*px, x1-0.7*px, y1-0.7*px))
	}
	for x, h := x0-(y1-y0)+3*px, y1-y0; x < x1; x += 6 * px {
		from, to := max(x, x0), min(x+h, x1)
		c.StrokeLine2(line(fill, 1.4), from, y0+from-x, to, y0+to-x)
	}
}
