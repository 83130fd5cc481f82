package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// versusPlot draws the groups, the names left of the data area and the values right
// of it.
type versusPlot struct {
	versus
	left, right vg.Length
}

// Plot implements plot.Plotter.
func (v versusPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for i, d := range v.Demands { // the leftmost highest, so that no line crosses a label
		top := c.Max.Y + vg.Length(len(v.Demands)-i)*feedRow
		name := fit(tickText, d.Text, c.Max.X-c.Min.X)
		at, sty := x(d.At)+4*px, tickText
		c.StrokeLine2(demandStroke, x(d.At), c.Min.Y, x(d.At), top)
		if at+width(tickText, name) > c.Max.X+v.right {
			at, sty = x(d.At)-4*px, aligned(tickText, draw.XRight)
		}
		write(c, sty, at, top-tickText.FontExtents().Ascent, name)
	}
	top := c.Max.Y
	for i, g := range v.Groups {
		if i > 0 {
			top -= groupGap
		}
		v.group(c, g, p, top)
		top -= v.height(g)
	}
}

// demandStroke is the line of a demand.
var demandStroke = line(ink, 1.2, 8*px, 3*px)

// group draws g below top.
func (v versusPlot) group(c draw.Canvas, g versusGroup, p *plot.Plot, top vg.Length) {
	x, _ := p.Transforms(&c)
	title := g.Title
	if len(g.Assumed) > 0 {
		title += ", assumed " + inWords(g.Assumed)
	}
	left := c.Min.X - v.left
	s := fit(groupText, title, c.Max.X+v.right-left)
	r := covers(groupText, left, top-versusHead+5*px, s)
	fillBox(c, paper, left, r.Min.Y, max(r.Max.X+4*px, c.Min.X+1*px), r.Max.Y)
	write(c, groupText, left, top-versusHead+5*px, s)
	top -= versusHead
	g.references(c, x, top, vg.Length(len(g.Rows))*v.row())
	top -= g.lane()
	for _, r := range g.Rows {
		v.bar(c, g, r, p, top-rowHeight/2)
		top -= v.row()
	}
}

// references draws a line at each reference of all rows, and above them its mark,
// moved aside where two would cover each other.
func (g versusGroup) references(c draw.Canvas, x func(float64) vg.Length, top, rows vg.Length) {
	marks := slices.Clone(g.Marks)
	slices.SortStableFunc(marks, func(a, b versusMark) int { return cmp.Compare(a.At, b.At) })
	var at []vg.Length
	for _, m := range marks {
		at = append(at, x(m.At))
	}
	apart := spread(at, 13*px, c.Min.X+6*px, c.Max.X-6*px)
	for i, m := range marks {
		knee := top - g.lane()
		c.StrokeLine2(hintStroke, at[i], knee-rows, at[i], knee)
		c.StrokeLine2(line(muted, 0.8), at[i], knee, apart[i], top-laneHeight/2)
		m.draw(c, vg.Point{X: apart[i], Y: top - laneHeight/2})
	}
}

// bar draws r with its middle at mid.
func (v versusPlot) bar(c draw.Canvas, g versusGroup, r versusRow, p *plot.Plot, mid vg.Length) {
	x, _ := p.Transforms(&c)
	base, half := mid-0.35*labelText.Font.Size, barHeight/2-1*px
	left := c.Min.X - v.left
	name, detail := v.name(r)
	if v.names != nil {
		machineMark(c, r.Machine, vg.Point{X: left + 6*px, Y: mid}, len(g.Assumed) > 0)
	}
	at := write(c, labelText, left+v.marker(), base, name).Max.X
	if detail != "" {
		write(c, muffled(labelText), at, base, detail)
	}
	write(c, aligned(labelText, draw.XRight), c.Max.X+v.right, base, r.value())
	if r.Band != (span{}) {
		fillBox(c, shade, x(r.Band.Lo), mid-v.row()/2+1*px, x(r.Band.Hi), mid+v.row()/2-1*px)
	}
	var from float64
	for i, t := range r.Parts {
		drawPart(c, v.parts[i].fill, len(g.Assumed) > 0, x(from), mid-half, x(from+t), mid+half)
		from += t
	}
	if !r.Failed && r.Parts == nil {
		fill := g.fill
		if v.names != nil {
			fill = machineColor(r.Machine)
		}
		drawCaseBar(c, fill, len(g.Assumed) > 0, r.Doubt != "", c.Min.X, mid-half, x(r.Median), mid+half)
	}
	if r.Others != (span{}) {
		drawBracket(c, x(r.Others.Lo), x(r.Others.Hi), mid-rowHeight/2-1*px)
	}
	for _, m := range r.Marks {
		m.draw(c, vg.Point{X: x(m.At), Y: mid})
	}
	if r.Spread != (span{}) {
		c.StrokeLine2(line(paper, 3), x(r.Spread.Lo), mid, x(r.Spread.Hi), mid) // seen on a dark bar too
		drawWhisker(c, x(r.Spread.Lo), x(r.Spread.Hi), mid)
	}
}

// muffled is s for what is beside the point.
func muffled(s text.Style) text.Style {
	s.Color = muted
	return s
}
