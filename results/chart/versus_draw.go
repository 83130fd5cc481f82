package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of the parts of a comparison.
const (
	versusHead    = 19 * px  // the title of a group
	versusNames   = 262 * px // at most, for the names left of the bars
	versusMarker  = 16 * px  // a machine's marker before its name
	changeNames   = 330 * px // at most, for names that are no machine's
	versusLogFrom = 20       // logFrom of rows that are alike
)

// axis says what the values of a comparison are.
type axis struct {
	text  string // time per batch
	unit  func(max float64) unit
	label func(float64) string // of a tick on a logarithmic axis
}

// fill adds the rows, the legend and the axis to f.
func (v versus) fill(f *figure, a axis) *figure {
	f.plot, f.legend = newPlot(), v.legend()
	f.left, f.right = v.namesWidth()+10*px, v.valuesWidth()+16*px
	f.top = vg.Length(len(v.Demands))*feedRow + 2*px
	for i, g := range v.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += v.height(g)
	}
	f.data += groupGap / 2

	least, most := v.bounds()
	u := a.unit(most)
	p := f.plot
	p.X.Min, p.X.Max = 0, most*1.03
	f.x = a.text + " (" + u.name + ")"
	ticks := int((layoutWidth*px - 2*margin - f.left - f.right) / (65 * px))
	p.X.Tick.Marker = u.ticks(ticks)
	if most > versusLogFrom*least && v.parts == nil {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = least/1.6, most*1.15
		p.X.Tick.Marker = logTicks(ticks, a.label)
		f.x += ", logarithmic: compare ends, not lengths"
	}
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), versusPlot{v, f.left, f.right})
	return f
}

// namesWidth is the space that the names need.
func (v versus) namesWidth() (w vg.Length) {
	for _, g := range v.Groups {
		for _, r := range g.Rows {
			name, detail := v.name(r)
			w = max(w, width(labelText, name)+width(labelText, detail))
		}
	}
	return v.marker() + w
}

// marker is the space before a name.
func (v versus) marker() vg.Length {
	if v.names == nil {
		return 0
	}
	return versusMarker
}

// name is the machine of r and its detail, as they fit.
func (v versus) name(r versusRow) (machine, detail string) {
	const most = versusNames - versusMarker
	if v.names == nil {
		return fit(labelText, r.Detail, changeNames), ""
	}
	if r.Detail != "" {
		detail = fit(labelText, ", "+r.Detail, most*0.6)
	}
	return fit(labelText, v.names[r.Machine], most-width(labelText, detail)), detail
}

// valuesWidth is the space that the values need.
func (v versus) valuesWidth() (w vg.Length) {
	for _, g := range v.Groups {
		for _, r := range g.Rows {
			w = max(w, width(labelText, r.value()))
		}
	}
	return w
}

// value is the text at the right end of r.
func (r versusRow) value() string {
	switch {
	case r.Failed:
		return "failed"
	case r.Doubt != "":
		return r.Value + ", " + r.Doubt
	}
	return r.Value
}

// row is the height of a row.
func (v versus) row() vg.Length {
	if v.any(func(_ versusGroup, r versusRow) bool { return r.Others != span{} }) {
		return rowHeight + bracketSpace - 2*px
	}
	return rowHeight - 2*px
}

// lane is the height of the references of g.
func (g versusGroup) lane() vg.Length {
	if len(g.Marks) == 0 {
		return 0
	}
	return laneHeight + 4*px
}

func (v versus) height(g versusGroup) vg.Length {
	return versusHead + g.lane() + vg.Length(len(g.Rows))*v.row()
}

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
