package chart

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// batchTimeCharts compares the time that one batch takes over each link.
func batchTimeCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range batchTimesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("pcie-batch-time", figures)
}

// Sizes of the parts of a group: a lane with the references of the link, then a
// row for each bar.
const (
	laneHeight   = 15 * px
	barHeight    = 14 * px
	rowHeight    = 20 * px
	bracketSpace = 7 * px // below a bar, for what others published
	groupGap     = 14 * px
	titleWidth   = 175 * px
	memWidth     = 72 * px
	valueSpace   = 66 * px // right of the longest bar, for its value
)

func (d batchTimes) figure() *figure {
	f := &figure{
		title: "Time to copy one batch to the GPU",
		subtitle: fmt.Sprintf("Host to device, %s (%s), warm source; median, shorter is better",
			d.Batch, decimalSize(d.Batch.Bytes())),
		legend:  d.legend(),
		plot:    newPlot(),
		left:    titleWidth + memWidth,
		right:   8 * px,
		caption: captions(d.reports, "float32"),
	}
	assumed, measured := d.kinds()
	switch {
	case assumed && measured:
		f.title += ", links assumed where outlined"
	case assumed:
		f.title += " over an assumed link"
	}
	for i, g := range d.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += d.groupHeight(g)
	}
	f.data += groupGap / 2

	max := d.max()
	u := secondsFor(max)
	room := float64(layoutWidth*px - 2*margin - f.left - f.right)
	f.x = "time per batch (" + u.name + ")"
	p := f.plot
	p.X.Min, p.X.Max = 0, max*room/(room-float64(valueSpace))
	p.X.Tick.Marker = u.ticks(8)
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), batchBars{d, u})
	return f
}

// kinds says whether bars of devices are assumed and measured.
func (d batchTimes) kinds() (assumed, measured bool) {
	for _, g := range d.Groups {
		for _, b := range g.Bars {
			assumed = assumed || b.Assumed
			measured = measured || !b.Assumed && !g.Host
		}
	}
	return assumed, measured
}

// max is the longest time that is drawn.
func (d batchTimes) max() float64 {
	var t float64
	for _, g := range d.Groups {
		t = max(t, g.LineRate, g.Protocol.Hi, g.Theory, g.Practice)
		for _, b := range g.Bars {
			t = max(t, b.Median, b.Spread.Hi, b.Published.Hi)
		}
	}
	return t
}

// row is the height of a bar with what belongs to it.
func (d batchTimes) row() vg.Length {
	if d.any(func(_ batchGroup, b batchBar) bool { return b.Published != span{} }) {
		return rowHeight + bracketSpace
	}
	return rowHeight
}

// lane is the height of the lane of g, 0 without references.
func (g batchGroup) lane() vg.Length {
	if g.LineRate == 0 && g.Protocol == (span{}) && g.Theory == 0 && g.Practice == 0 {
		return 0
	}
	return laneHeight
}

// groupHeight leaves room for the bars and for the title beside them.
func (d batchTimes) groupHeight(g batchGroup) vg.Length {
	return g.lane() + max(vg.Length(len(g.Bars))*d.row(), vg.Length(len(g.lines()))*lineHeight(labelText)+4*px)
}

// lines is the title of g as it fits left of the bars.
func (g batchGroup) lines() []titleLine {
	var all []titleLine
	for i, s := range g.Title {
		sty := labelText
		if i == 0 {
			sty = groupText
		}
		fits := wrap(sty, strings.Fields(s), " ", titleWidth-8*px)
		if len(fits) > 2 {
			fits = []string{fits[0], fit(sty, strings.Join(fits[1:], " "), titleWidth-8*px)}
		}
		for _, f := range fits {
			all = append(all, titleLine{sty, f})
		}
	}
	return all
}

type titleLine struct {
	text.Style
	text string
}

func (d batchTimes) any(f func(batchGroup, batchBar) bool) bool {
	return slices.ContainsFunc(d.Groups, func(g batchGroup) bool {
		return slices.ContainsFunc(g.Bars, func(b batchBar) bool { return f(g, b) })
	})
}

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
		drawBar(c, colorOf(b.Mem), b.Assumed, x(0), mid-barHeight/2, x(b.Median), mid+barHeight/2)
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
