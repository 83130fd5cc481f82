package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

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
	captions        [][]string // a line for each machine
	Groups          []barGroup
	Needs           []mark // lines through all rows, with their names above
	parts           []part
	machines        []string // all that are compared; nil where rows have names of their own
	spread          string   // what whiskers are; "" for those of medians
	whole           string   // what filled bars are; "" for measured
	linear          bool     // whatever the range
	points          bool     // in place of bars, as the axis is logarithmic
}

// barGroup is one thing that is done.
type barGroup struct {
	Title   string
	Assumed []string // what of it was simulated
	Rows    []barRow
	fill    color.Color // of rows without a machine and a colour of their own
	key     any         // comparable: rows with equal keys are of one group
}

// barRow is one case.
type barRow struct {
	Machine int    // index of color, marker and name
	Detail  string // what distinguishes it from other rows of the group or the machine
	point
	Parts     []float64   // that Median is made of, as bars.parts; nil for a plain bar
	Value     string      // in words
	Marks     []mark      // what this row is compared with
	Failed    bool        // no bar, but a row that says so
	Caveat    string      // unproven or extrapolated
	Simulated bool        // in a group of what was measured
	fill      color.Color // nil for that of the group
}

// Caveats of rows.
const caveatUnproven, caveatExtrapolated = "unproven", "extrapolated"

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

// compare makes v a chart of machines where there are several.
func (v *bars) compare(reports []*results.Report) {
	if len(reports) > 1 {
		v.title, v.machines = v.title+", by machine", machines(reports)
	}
}

// rowOf is the row of a case by one of its metrics.
func rowOf(m measured, metric string, q quantity) barRow {
	r := barRow{Machine: m.report, Failed: m.Failed()}
	if !r.Failed {
		r.point, _ = pointOf(m.Result, metric)
		r.Value = q.value(r.Median)
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

// drawRate, drawTheory and drawPractice draw references at p.
func drawRate(c draw.Canvas, p vg.Point)     { c.StrokeLine2(lineRateStroke, p.X, p.Y-8*px, p.X, p.Y+8*px) }
func drawTheory(c draw.Canvas, p vg.Point)   { funnel.at(c, p, 4.5*px, nil, ink) }
func drawPractice(c draw.Canvas, p vg.Point) { diamond.at(c, p, 4.5*px, nil, ink) }

// add puts r into the group with the key of g, or else into g, a new one.
func (v *bars) add(g barGroup, r barRow) {
	i := slices.IndexFunc(v.Groups, func(o barGroup) bool { return o.key == g.key })
	if i < 0 {
		i, v.Groups = len(v.Groups), append(v.Groups, g)
	}
	v.Groups[i].Rows = append(v.Groups[i].Rows, r)
}

// pair sorts groups of one title, measured before simulated, to where the first of them is.
func (v *bars) pair() {
	titles := groups(v.Groups, func(g barGroup) string { return g.Title })
	for _, same := range titles {
		slices.SortStableFunc(same, func(a, b barGroup) int { return cmp.Compare(len(a.Assumed), len(b.Assumed)) })
	}
	v.Groups = slices.Concat(titles...)
}

// rows are those of all groups.
func (v bars) rows() (all []barRow) {
	for _, g := range v.Groups {
		all = append(all, g.Rows...)
	}
	return all
}

func (v bars) any(is func(barRow) bool) bool { return slices.ContainsFunc(v.rows(), is) }

// worked are the rows that have a value.
func (v bars) worked() []barRow {
	return slices.DeleteFunc(v.rows(), func(r barRow) bool { return r.Failed })
}

// maxRows is how many rows a chart shows.
const maxRows = 60

// cut leaves out the rows of v beyond maxRows, and says so.
func (v bars) cut() bars {
	left, all := maxRows, v.Groups
	hidden := max(0, len(v.rows())-left)
	v.Groups = nil
	for _, g := range all {
		if g.Rows = g.Rows[:min(left, len(g.Rows))]; len(g.Rows) > 0 {
			v.Groups = append(v.Groups, g)
		}
		left -= len(g.Rows)
	}
	if hidden > 0 {
		v.subtitle += fmt.Sprintf("; %d more in the tables", hidden)
	}
	return v
}

// simulated is what was simulated in any group, and how many rows of how many that is.
func (v bars) simulated() (parts []string, n, of int) {
	for _, g := range v.Groups {
		parts = results.AppendNew(parts, g.Assumed...)
		for _, r := range g.Rows {
			if of++; len(g.Assumed) > 0 || r.Simulated {
				n++
			}
		}
	}
	return parts, n, of
}

// bounds are the least and the greatest value that is drawn.
func (v bars) bounds() (least, most float64) {
	var all []float64
	for _, m := range v.Needs {
		all = append(all, m.At)
	}
	for _, r := range v.rows() {
		all = append(all, r.Median, r.Spread.Lo, r.Spread.Hi)
		for _, m := range r.Marks {
			all = append(all, m.At)
		}
	}
	all = slices.DeleteFunc(all, func(x float64) bool { return !(x >= tiny) })
	return slices.Min(all), slices.Max(all)
}

// legend explains what is drawn, and nothing else; machines are named next to their
// markers.
func (v bars) legend() []entry {
	var all []entry
	for i, p := range v.parts {
		if v.any(func(r barRow) bool { return i < len(r.Parts) && r.Parts[i] > 0 }) {
			all = append(all, boxEntry(p.text, p.fill))
		}
	}
	if _, n, of := v.simulated(); n > 0 {
		if n < of {
			all = append(all, boxEntry(cmp.Or(v.whole, "measured"), muted))
		}
		all = append(all, entry{"simulated", func(c draw.Canvas) {
			drawBar(c, muted, true, c.Min.X, c.Max.X, c.Center().Y)
		}})
	}
	intervals := v.any(func(r barRow) bool { return r.Spread != span{} && !r.Range })
	text := spreadText(intervals, v.any(func(r barRow) bool { return r.Range }))
	if intervals {
		text = cmp.Or(v.spread, text)
	}
	if text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawWhisker(c, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y) }})
	}
	if v.any(func(r barRow) bool { return r.Caveat == caveatExtrapolated }) {
		all = append(all, glyphEntry("extrapolated: outside of what was checked", drawOpen))
	}
	var marks []mark
	for _, r := range v.rows() {
		marks = append(marks, r.Marks...)
	}
	for _, m := range firsts(marks, func(m mark) string { return m.Text }) {
		all = append(all, glyphEntry(m.Text, m.glyph))
	}
	return all
}

// Sizes of the parts of a chart of bars.
const (
	headHeight  = 20 * px // the title of a group
	valueHeight = 12 * px // a value above a point
	barHeight   = 12 * px
	rowHeight   = 19 * px
	groupGap    = 10 * px
	namesWidth  = 230 * px // at most, for names left of the bars
	markerWidth = 16 * px  // a machine's marker before its name
	valueGap    = 6 * px   // between a mark and its value
)

func (v bars) figure() *figure {
	v = v.cut()
	parts, n, of := v.simulated()
	f := &figure{
		title:    simulatedTitle(v.title, parts, n < of),
		subtitle: v.subtitle,
		legend:   v.legend(),
		plot:     newPlot(),
		left:     v.widest(v.nameWidth) + 8*px,
		right:    v.widest(func(r barRow) vg.Length { return width(labelText, r.value()) }) + 3*valueGap,
		top:      vg.Length(len(v.Needs))*stopHeight + 2*px,
		data:     groupGap / 2,
		caption:  v.captions,
	}
	for _, g := range v.Groups {
		f.data += v.height(g)
	}
	least, most := v.bounds()
	if v.linear || v.parts != nil {
		least = most
	}
	s := v.quantity.scale(least, most, int((layoutWidth*px-2*margin-f.left-f.right)/(60*px)))
	s.set(&f.plot.X)
	f.x = s.label
	f.plot.Y.Min, f.plot.Y.Max = 0, 1
	f.plot.HideY()
	if v.points = s.log; v.raised() {
		f.data += vg.Length(len(v.rows())) * valueHeight
	}
	f.plot.Add(barsPlot{v, f.left, f.right})
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
	return v.marker() + width(labelText, v.name(r))
}

// marker is the space before a name.
func (v bars) marker() vg.Length {
	if v.machines == nil {
		return 0
	}
	return markerWidth
}

// name is the machine of r and its detail, as they fit.
func (v bars) name(r barRow) string {
	if v.machines == nil {
		return fit(labelText, r.Detail, namesWidth)
	}
	const most = namesWidth - markerWidth
	detail := fit(labelText, results.After(", ", r.Detail), most*0.6)
	return fit(labelText, v.machines[r.Machine], most-width(labelText, detail)) + detail
}

// value is the text at the end of r.
func (r barRow) value() string {
	if r.Failed {
		return "failed"
	}
	if r.Caveat == caveatUnproven {
		return r.Value + ", " + r.Caveat
	}
	return r.Value
}

func (v bars) row() vg.Length {
	if v.raised() {
		return rowHeight + valueHeight
	}
	return rowHeight
}

// raised reports whether values stand above their points, as references are next to them.
func (v bars) raised() bool {
	return v.points && v.any(func(r barRow) bool { return len(r.Marks) > 0 })
}

func (g barGroup) head() vg.Length {
	if g.Title == "" && len(g.Assumed) == 0 {
		return 0
	}
	return headHeight
}

func (v bars) height(g barGroup) vg.Length {
	return g.head() + vg.Length(len(g.Rows))*v.row() + groupGap
}
