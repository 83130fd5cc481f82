package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// bars is a chart of rows: groups of what can be compared, and in each a row for every
// case, a bar that starts at zero or, on a logarithmic axis, a point. Where several machines
// are compared, a row is what one of them does. Measured and simulated are groups of their
// own. Values are in the base unit of the chart's quantity.
type bars struct {
	title, subtitle string
	quantity        quantity
	reports         []*results.Report
	Rows            []barRow
	Needs           []mark // lines through all rows, with their names above
	parts           []part
	spread          string    // what whiskers are; "" for those of medians
	linear          bool      // whatever the range
	apart           bool      // machines are groups of their own
	dots            bool      // in place of bars, as the axis is logarithmic
	left, right     vg.Length // strips next to the data area, for names and values
}

// barRow is one case.
type barRow struct {
	Group   string // what is done
	Machine int    // index of color, marker and name
	Detail  string // what distinguishes it from other rows of the group or the machine
	point
	Parts  []float64   // that Median is made of, as bars.parts; nil for a plain bar
	Value  string      // in words
	Marks  []mark      // what this row is compared with, or what its end is
	Failed bool        // no bar, but a row that says so
	fill   color.Color // of one machine; nil for the usual one
}

// part is a part of every bar.
type part struct {
	name string
	text string // for the legend
	fill color.Color
}

// mark is a reference.
type mark struct {
	At    float64
	Text  string // for the legend, or above a line
	glyph func(draw.Canvas, vg.Point)
}

// rowOf is the row of a case by one of its metrics.
func rowOf(m measured, metric string, q quantity) barRow {
	r := barRow{Machine: m.report, Failed: m.Failed()}
	if r.point, _ = pointOf(m.Result, metric); r.Failed {
		r.point, r.Value = point{Assumed: m.Result.Assumed}, "failed"
		return r
	}
	if r.Value = q.value(r.Median); r.Unproven {
		r.Value += ", unproven"
	}
	return r
}

// markOf is a reference at v as the legend explains it; none for what cannot be drawn.
func markOf(v float64, text string, glyph func(draw.Canvas, vg.Point)) []mark {
	if !positive(v) {
		return nil
	}
	return []mark{{At: v, Text: text, glyph: glyph}}
}

// outline draws a reference in the shape of m.
func outline(m marker, fill color.Color) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, p vg.Point) { m.at(c, p, 4.5*px, fill, ink) }
}

// drawRate draws the line rate of a link.
func drawRate(c draw.Canvas, p vg.Point) { c.StrokeLine2(lineRateStroke, p.X, p.Y-8*px, p.X, p.Y+8*px) }

// several reports whether rows are machines.
func (v bars) several() bool { return len(v.reports) > 1 && !v.apart }

// add adds the row of an item. The items of one machine are rows of the group with that title; of
// several machines each item is a group, with a row for each machine.
func (v *bars) add(title, item, detail string, r barRow) {
	r.Group, r.Detail = title, results.List(item, detail)
	if v.several() {
		r.Group, r.Detail = results.List(title, item), detail
	}
	v.Rows = append(v.Rows, r)
}

// head is the title of the group of r, and what of it was simulated.
func (v bars) head(r barRow) string {
	if v.apart {
		return r.Group
	}
	return simulatedTitle(r.Group, r.Assumed, false)
}

// begins reports whether row i is the first of its group.
func (v bars) begins(i int) bool { return i == 0 || v.head(v.Rows[i]) != v.head(v.Rows[i-1]) }

// points are those of all rows.
func (v bars) points() (all []point) {
	for _, r := range v.Rows {
		all = append(all, r.point)
	}
	return all
}

// maxRows is how many rows a chart shows, maxNeeds of how many GPUs it names the needs.
const maxRows, maxNeeds = 60, 8

// pictures is v with its rows in groups, measured and simulated next to each other; none where
// it has a single bar, which is no chart.
func (v bars) pictures() []picture {
	titled := results.Grouped(v.Rows, func(r barRow) string { return r.Group })
	v.Rows = nil
	drawn := 0
	for _, same := range titled {
		groups := results.Grouped(same, v.head)
		slices.SortStableFunc(groups, func(a, b []barRow) int { return len(a[0].Assumed) - len(b[0].Assumed) })
		for _, r := range slices.Concat(groups...) {
			if v.Rows = append(v.Rows, r); !r.Failed {
				drawn++
			}
		}
	}
	if drawn < 2 {
		return nil
	}
	if hidden := len(v.Rows) - maxRows; hidden > 0 {
		v.subtitle += fmt.Sprintf("; %d more in the tables", hidden)
		v.Rows = v.Rows[:maxRows]
	}
	slices.SortStableFunc(v.Needs, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	v.Needs = v.Needs[:min(len(v.Needs), maxNeeds)]
	return []picture{v}
}

// marks are all references.
func (v bars) marks() (all []mark) {
	for _, r := range v.Rows {
		all = append(all, r.Marks...)
	}
	return all
}

// bounds are the least and the greatest value that is drawn.
func (v bars) bounds() (least, most float64) {
	var all []float64
	for _, r := range v.Rows {
		all = append(all, r.Median, r.Spread.Lo, r.Spread.Hi)
	}
	for _, m := range slices.Concat(v.Needs, v.marks()) {
		all = append(all, m.At)
	}
	all = slices.DeleteFunc(all, func(x float64) bool { return !(x >= tiny) })
	return slices.Min(all), slices.Max(all)
}

// Sizes of the parts of a chart of bars.
const (
	headHeight  = 20 * px // the title of a group
	barHeight   = 12 * px
	rowHeight   = 19 * px
	groupGap    = 10 * px
	namesWidth  = 230 * px // at most, for names left of the bars
	markerWidth = 16 * px  // a machine's marker before its name
	valueGap    = 6 * px   // between a mark and its value
)

func (v bars) figure() *figure {
	f := &figure{
		title:    v.title,
		subtitle: v.subtitle,
		plot:     newPlot(),
		top:      vg.Length(len(v.Needs))*stopHeight + 2*px,
		reports:  v.reports,
	}
	for i, p := range v.parts {
		if slices.ContainsFunc(v.Rows, func(r barRow) bool { return i < len(r.Parts) && r.Parts[i] > 0 }) {
			box := func(c draw.Canvas) { fillBox(c, p.fill, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }
			f.legend = append(f.legend, entry{p.text, box})
		}
	}
	f.explain(v.points(), v.spread, func(c draw.Canvas, hollow bool) {
		drawBar(c, muted, hollow, c.Min.X, c.Max.X, c.Center().Y)
	})
	for _, same := range results.Grouped(v.marks(), func(m mark) string { return m.Text }) {
		f.legend = append(f.legend, glyphEntry(same[0].Text, same[0].glyph))
	}
	for _, r := range v.Rows {
		name, indent := v.name(r)
		f.left = max(f.left, indent+width(labelText, name)+8*px)
		f.right = max(f.right, width(labelText, r.Value)+3*valueGap)
	}
	least, most := v.bounds()
	if v.linear || v.parts != nil {
		least = most
	}
	labels := (layoutWidth*px - 2*margin - f.left - f.right) / (60 * px)
	s := v.quantity.scale(least, most, int(labels))
	s.set(&f.plot.X)
	f.x, v.dots = s.label, s.log
	f.plot.Y.Min, f.plot.Y.Max = 0, 1
	f.plot.HideY()
	_, f.data = v.tops()
	v.left, v.right = f.left, f.right
	f.plot.Add(v)
	return f
}

// name is the machine of a row, or what is special of it, as it fits behind a marker of that width.
func (v bars) name(r barRow) (name string, marker vg.Length) {
	if !v.several() {
		return fit(labelText, r.Detail, namesWidth), 0
	}
	detail := fit(labelText, results.After(", ", r.Detail), namesWidth*0.6)
	room := namesWidth - markerWidth - width(labelText, detail)
	return fit(labelText, machines(v.reports)[r.Machine], room) + detail, markerWidth
}

// tops are how far below the upper end of the data area rows begin, and its height.
func (v bars) tops() (all []vg.Length, height vg.Length) {
	for i, r := range v.Rows {
		if v.begins(i) && i > 0 {
			height += groupGap
		}
		if v.begins(i) && v.head(r) != "" {
			height += headHeight
		}
		all = append(all, height)
		height += rowHeight
	}
	return all, height + 1.5*groupGap
}

// Plot implements plot.Plotter: the rows, with names left of the data area and values right of their marks.
func (v bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	drawStops(c, x, needStroke, v.Needs, v.right)
	tops, _ := v.tops()
	for i, r := range v.Rows {
		top := c.Max.Y - tops[i]
		if head := v.head(r); head != "" && v.begins(i) {
			left := c.Min.X - v.left
			write(c, groupText, left, top+6*px, fit(groupText, head, c.Max.X+v.right-left))
		}
		c.StrokeLine2(line(muted, 1), c.Min.X, top-rowHeight, c.Min.X, top)
		v.draw(c, r, x, top)
	}
}

// draw draws r below top: name, references through all rows, mark, its own references, value.
func (v bars) draw(c draw.Canvas, r barRow, x func(float64) vg.Length, top vg.Length) {
	mid := top - rowHeight/2
	base := mid - 0.35*labelText.Font.Size
	if v.several() {
		drawSeries(c, vg.Point{X: c.Min.X - v.left + 6*px, Y: mid}, r.Machine, len(r.Assumed) > 0, false)
	}
	name, indent := v.name(r)
	write(c, labelText, c.Min.X-v.left+indent, base, name)
	for _, m := range v.Needs {
		c.StrokeLine2(needStroke, x(m.At), mid-rowHeight/2, x(m.At), mid+rowHeight/2)
	}
	if r.Failed {
		write(c, labelText, c.Min.X+valueGap, base, r.Value)
		return
	}
	end := v.mark(c, r, x, mid)
	for _, m := range r.Marks {
		m.glyph(c, vg.Point{X: x(m.At), Y: mid})
	}
	write(c, labelText, v.clear(r, x, end+valueGap), base, r.Value)
}

// mark draws the bar or the dot of r with its interval, and returns where it ends.
func (v bars) mark(c draw.Canvas, r barRow, x func(float64) vg.Length, mid vg.Length) (end vg.Length) {
	hollow, fill, at := len(r.Assumed) > 0, cmp.Or(r.fill, seriesColor[0]), vg.Point{X: x(r.Median), Y: mid}
	if v.several() {
		fill = seriesFill(r.Machine)
	}
	end = at.X
	switch from := 0.0; {
	case v.dots:
		end = c.Max.X // values stand in a column
		c.StrokeLine2(gridStroke, c.Min.X, mid, end, mid)
		circle.at(c, at, 4.5*px, filled(fill, !hollow), fill)
	case r.Parts == nil:
		drawBar(c, fill, hollow, c.Min.X, at.X, mid)
	default:
		for i, t := range r.Parts {
			if t > 0 {
				drawBar(c, v.parts[i].fill, hollow, x(from), x(from+t), mid)
			}
			from += t
		}
	}
	if r.Spread != (span{}) {
		drawWhisker(c, x(r.Spread.Lo), x(r.Spread.Hi), mid)
		end = max(end, x(r.Spread.Hi))
	}
	return end
}

// clear is the left end of the value of r: end, next to its mark, or right of the references
// that are in the way.
func (v bars) clear(r barRow, x func(float64) vg.Length, end vg.Length) vg.Length {
	marks := slices.Concat(v.Needs, r.Marks)
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	for _, m := range marks {
		if at := x(m.At); at+valueGap > end && at-valueGap < end+width(labelText, r.Value) {
			end = at + 2*valueGap
		}
	}
	return end
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
