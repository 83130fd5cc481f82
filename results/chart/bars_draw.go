package chart

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of the parts of a chart of bars.
const (
	headHeight   = 19 * px // the title of a group
	laneHeight   = 19 * px // the references of a group
	nameHeight   = 17 * px // a name above a bar
	barHeight    = 12 * px
	rowHeight    = 18 * px
	bracketSpace = 7 * px  // below a bar, for what others published
	listHeight   = 15 * px // below a bar, for its parts
	groupGap     = 14 * px
	namesWidth   = 262 * px // at most, for the names of machines left of the bars
	labelsWidth  = 330 * px // at most, for names that are no machine's
	markerWidth  = 16 * px  // a machine's marker before its name
)

// stopHeight is the height of the name of a line above the data area.
var stopHeight = lineHeight(tickText) + 1*px

// drawStops draws upright lines in ascending order, with their names above the data
// area, of which right is the strip that follows: the leftmost highest, so that no line
// crosses a name.
func drawStops(c draw.Canvas, x func(float64) vg.Length, sty draw.LineStyle, all []mark, right vg.Length) {
	for i, m := range all {
		at, top := x(m.At), c.Max.Y+vg.Length(len(all)-i)*stopHeight
		c.StrokeLine2(sty, at, c.Min.Y, at, top)
		name := fit(tickText, m.Text, c.Max.X-c.Min.X)
		left := at + 4*px
		if w := width(tickText, name); left+w > c.Max.X+right {
			left = at - 4*px - w
		}
		write(c, tickText, left, top-tickText.FontExtents().Ascent, name)
	}
}

func (v bars) figure() *figure {
	assumed, measured := v.assumed()
	f := &figure{
		title:    assumedTitle(v.title, assumed, measured, "outlined"),
		subtitle: v.subtitle,
		legend:   v.legend(),
		plot:     newPlot(),
		left:     v.widest(v.nameWidth) + 10*px,
		right:    v.widest(func(r barRow) vg.Length { return width(labelText, r.value()) }) + 16*px,
		top:      vg.Length(len(v.Demands))*stopHeight + 2*px,
		data:     groupGap / 2,
		caption:  v.shown(),
	}
	for i, g := range v.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += v.height(g)
	}
	least, most := v.bounds()
	if v.parts != nil {
		least = most // parts add up from 0
	}
	s := v.quantity.scale(least, most, int((layoutWidth*px-2*margin-f.left-f.right)/(50*px)))
	s.set(&f.plot.X)
	f.x = s.label
	if s.log {
		f.x += ": compare ends, not lengths"
	}
	f.plot.Y.Min, f.plot.Y.Max = 0, 1
	f.plot.HideY()
	f.plot.Y.LineStyle = line(muted, 1)
	f.plot.Add(&plotter.Grid{Vertical: gridStroke}, barsPlot{v, f.left, f.right})
	return f
}

// widest is the greatest width of all rows.
func (v bars) widest(width func(barRow) vg.Length) (w vg.Length) {
	for _, r := range v.rows() {
		w = max(w, width(r))
	}
	return w
}

// nameWidth is the width that the name of r needs left of the bars.
func (v bars) nameWidth(r barRow) vg.Length {
	if v.above {
		return 0
	}
	name, detail := v.name(r)
	return v.marker() + width(labelText, name) + width(labelText, detail)
}

// marker is the space before a name.
func (v bars) marker() vg.Length {
	if v.machines == nil {
		return 0
	}
	return markerWidth
}

// name is the machine of r and its detail, as they fit.
func (v bars) name(r barRow) (machine, detail string) {
	const most = namesWidth - markerWidth
	switch {
	case v.above:
		return fit(labelText, r.Detail, layoutWidth*px-2*margin-20*px), ""
	case v.machines == nil:
		return fit(labelText, r.Detail, labelsWidth), ""
	case r.Detail != "":
		detail = fit(labelText, ", "+r.Detail, most*0.6)
	}
	return fit(labelText, v.machines[r.Machine], most-width(labelText, detail)), detail
}

// value is the text at the right end of r.
func (r barRow) value() string {
	switch {
	case r.Failed:
		return "failed"
	case r.Caveat != "":
		return r.Value + ", " + r.Caveat
	}
	return r.Value
}

// row is the height of a row.
func (v bars) row() vg.Length {
	h := rowHeight
	if v.above {
		h += nameHeight + 4*px
	}
	if v.any(func(r barRow) bool { return r.Others != span{} }) {
		h += bracketSpace
	}
	if v.listed() {
		h += listHeight
	}
	return h
}

// listed reports whether the parts of bars are listed below them.
func (v bars) listed() bool { return len(v.parts) > 0 && v.parts[0].name != "" }

// lane is the height of the references of g.
func (g barGroup) lane() vg.Length {
	if len(g.Marks) == 0 {
		return 0
	}
	return laneHeight
}

func (v bars) height(g barGroup) vg.Length {
	return headHeight + g.lane() + vg.Length(len(g.Rows))*v.row()
}

// barsPlot draws the groups, the names left of the data area and the values right
// of it.
type barsPlot struct {
	bars
	left, right vg.Length
}

// Plot implements plot.Plotter.
func (v barsPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	drawStops(c, x, demandStroke, v.Demands, v.right)
	top := c.Max.Y
	for _, g := range v.Groups {
		v.group(c, g, x, top)
		top -= v.height(g) + groupGap
	}
}

// group draws g below top.
func (v barsPlot) group(c draw.Canvas, g barGroup, x func(float64) vg.Length, top vg.Length) {
	title := g.Title
	if len(g.Assumed) > 0 {
		title = assumedTitle(title, g.Assumed, false, "")
	}
	left := c.Min.X - v.left
	s := fit(groupText, title, c.Max.X+v.right-left)
	r := covers(groupText, left, top-headHeight+5*px, s)
	fillBox(c, paper, left, r.Min.Y, max(r.Max.X+4*px, c.Min.X+1*px), r.Max.Y)
	write(c, groupText, left, top-headHeight+5*px, s)
	top -= headHeight
	rows := top - g.lane()
	for i, r := range g.Rows {
		v.bar(c, g, r, x, rows-vg.Length(i)*v.row())
	}
	g.references(c, x, top, vg.Length(len(g.Rows))*v.row())
	for i, r := range g.Rows {
		v.over(c, r, x, rows-vg.Length(i)*v.row())
	}
}

// references draws a line at each reference of all rows, and above them its mark,
// moved aside where two would cover each other.
func (g barGroup) references(c draw.Canvas, x func(float64) vg.Length, top, rows vg.Length) {
	knee, mid := top-g.lane(), top-laneHeight/2+2*px
	var marks []mark
	var at []vg.Length
	for _, m := range slices.SortedStableFunc(slices.Values(g.Marks),
		func(a, b mark) int { return cmp.Compare(a.At, b.At) }) {
		if m.solid {
			c.StrokeLine2(lineRateStroke, x(m.At), knee-rows, x(m.At), top)
			continue
		}
		marks, at = append(marks, m), append(at, x(m.At))
	}
	for i, to := range apart(at, 13*px, c.Min.X+6*px, c.Max.X-6*px) {
		c.StrokeLine2(hintStroke, at[i], knee-rows, at[i], knee)
		c.StrokeLine2(line(muted, 0.8), at[i], knee, to, mid)
		marks[i].glyph(c, vg.Point{X: to, Y: mid})
	}
}

// middle is the height of the middle of a bar whose row begins at top.
func (v bars) middle(top vg.Length) vg.Length {
	if v.above {
		top -= nameHeight
	}
	return top - rowHeight/2
}

// bar draws the name, the band and the bar of r below top.
func (v barsPlot) bar(c draw.Canvas, g barGroup, r barRow, x func(float64) vg.Length, top vg.Length) {
	mid, left := v.middle(top), c.Min.X-v.left
	name, detail := v.name(r)
	base := mid - 0.35*labelText.Font.Size
	if v.machines != nil {
		series{r.Machine, len(g.Assumed) > 0}.mark(c, vg.Point{X: left + 6*px, Y: mid}, false)
	}
	if v.above {
		writeOver(c, labelText, c.Min.X+5*px, top-nameHeight/2-0.35*labelText.Font.Size-1*px, name)
	} else {
		at := write(c, labelText, left+v.marker(), base, name).Max.X
		if detail != "" {
			write(c, detailText, at, base, detail)
		}
	}
	if r.Band != (span{}) {
		fillBox(c, shade, x(r.Band.Lo), top-v.row(), x(r.Band.Hi), top)
	}
	kind := barKind{len(g.Assumed) > 0, r.Caveat != ""}
	if !r.Failed && r.Parts == nil {
		kind.draw(c, v.fill(g, r), c.Min.X, mid-barHeight/2, x(r.Median), mid+barHeight/2)
	}
	var from float64
	for i, t := range r.Parts {
		x0, x1 := x(from), x(from+t)
		kind.assumed = len(g.Assumed) > 0 && x1-x0 >= 4*px // too narrow for an outline
		kind.draw(c, v.parts[i].fill, x0, mid-barHeight/2, x1, mid+barHeight/2)
		from += t
	}
}

// fill is the colour of r.
func (v bars) fill(g barGroup, r barRow) color.Color {
	switch {
	case v.machines != nil:
		return series{Source: r.Machine}.color()
	case r.fill != nil:
		return r.fill
	case g.fill != nil:
		return g.fill
	}
	return seriesColor[0]
}

// over draws what lies over the bar of r, and its value.
func (v barsPlot) over(c draw.Canvas, r barRow, x func(float64) vg.Length, top vg.Length) {
	mid := v.middle(top)
	if r.Others != (span{}) {
		drawWhisker(c, bracketStroke, x(r.Others.Lo), x(r.Others.Hi), mid-rowHeight/2-2*px)
	}
	for _, m := range r.Marks {
		m.glyph(c, vg.Point{X: x(m.At), Y: mid})
	}
	if r.Spread != (span{}) {
		c.StrokeLine2(line(paper, 3), x(r.Spread.Lo), mid, x(r.Spread.Hi), mid) // seen on a dark bar too
		drawWhisker(c, whiskerStroke, x(r.Spread.Lo), x(r.Spread.Hi), mid)
	}
	write(c, aligned(labelText, draw.XRight), c.Max.X+v.right, mid-0.35*labelText.Font.Size, r.value())
	if v.listed() {
		v.list(c, r, c.Min.X+2*px, mid-rowHeight/2-9*px)
	}
}

// list writes the parts of r, as far as there is room, from left on.
func (v barsPlot) list(c draw.Canvas, r barRow, left, y vg.Length) {
	const square = 8 * px
	for i, t := range r.Parts {
		s := v.parts[i].name + " " + v.quantity.value(t)
		next := left + square + 4*px + width(captionText, s)
		if t == 0 || next > c.Max.X+v.right {
			continue
		}
		fillBox(c, v.parts[i].fill, left, y, left+square, y+square)
		writeOver(c, captionText, left+square+4*px, y, s)
		left = next + 14*px
	}
}

// barKind says how a bar is drawn.
type barKind struct{ assumed, caveat bool }

// draw fills what is proven, hatches what has a caveat and draws what is assumed as a
// dashed outline.
func (k barKind) draw(c draw.Canvas, fill color.Color, x0, y0, x1, y1 vg.Length) {
	if !k.assumed && !k.caveat {
		fillBox(c, fill, x0, y0, x1, y1)
		return
	}
	fillBox(c, paper, x0, y0, x1, y1)
	sty := line(fill, 1.4)
	if k.assumed {
		sty = line(fill, 1.8, 5*px, 2.5*px)
	}
	c.SetLineStyle(sty)
	inset := sty.Width / 2
	c.Stroke(box(x0+inset, y0+inset, x1-inset, y1-inset))
	if !k.caveat {
		return
	}
	for x, h := x0-(y1-y0)+3*px, y1-y0; x < x1; x += 6 * px {
		from, to := max(x, x0), min(x+h, x1)
		c.StrokeLine2(line(fill, 1.4), from, y0+from-x, to, y0+to-x)
	}
}

// drawWhisker draws a range along the x axis.
func drawWhisker(c draw.Canvas, sty draw.LineStyle, lo, hi, y vg.Length) {
	c.StrokeLine2(sty, lo, y, hi, y)
	for _, x := range []vg.Length{lo, hi} {
		c.StrokeLine2(sty, x, y-3*px, x, y+3*px)
	}
}
