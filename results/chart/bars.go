package chart

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// bars is a chart of horizontal bars: groups of what can be compared,
// and in each a row for every case. Where several machines are compared, a row is what
// one of them does. Measured and assumed are groups of their own. Values are in the base
// unit of the chart's quantity.
type bars struct {
	title, subtitle string
	quantity        quantity
	captions        [][]string // a line for each machine
	Groups          []barGroup
	Demands         []mark // lines through all groups, from the lowest; Text stands above
	parts           []part
	machines        []string // all that are compared; nil where rows have names of their own
	spread          string   // what whiskers are; "" for those of medians
	whole           string   // what filled bars are; "" for measured
	above           bool     // names of rows are long and stand above their bars
}

// barGroup is one thing that is done.
type barGroup struct {
	Title   string
	Assumed []string    // what of it a stand-in produced
	Marks   []mark      // what every row is compared with
	Rows    []barRow    //
	fill    color.Color // of rows without a machine and a colour of their own
	key     any         // comparable: rows with equal keys are of one group
}

// barRow is one case.
type barRow struct {
	Machine int    // index of color, marker and name
	Detail  string // what distinguishes it from other rows of the group or the machine
	point
	Parts  []float64   // that Median is made of, as bars.parts; nil for a plain bar
	Value  string      // in words
	Marks  []mark      // what this row is compared with
	Band   span        // of the protocol
	Others span        // what others published
	Failed bool        // no bar, but a row that says so
	Caveat string      // unproven or extrapolated; hatched
	fill   color.Color // nil for that of the group
}

// part is a part of every bar.
type part struct {
	name string // for the list below a bar, "" for none
	text string // for the legend
	fill color.Color
}

// mark is a reference.
type mark struct {
	At    float64
	Text  string // for the legend
	glyph func(draw.Canvas, vg.Point)
	solid bool // a solid line through all rows of a group in place of the glyph
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
func drawRate(c draw.Canvas, p vg.Point)     { c.StrokeLine2(lineRateStroke, p.X, p.Y-9*px, p.X, p.Y+9*px) }
func drawTheory(c draw.Canvas, p vg.Point)   { funnel.at(c, p, 5*px, ink, ink) }
func drawPractice(c draw.Canvas, p vg.Point) { diamond.at(c, p, 5*px, paper, ink) }

// maxRows is how many rows one chart shows, maxTall how many of those that have their
// names above them; groups beyond them go to another.
const (
	maxRows = 64
	maxTall = 24
)

// pages are v in as few charts as there must be, of about one length; a group with too
// many rows is cut. There are none where everything failed.
func (v bars) pages() []bars {
	if !v.any(func(r barRow) bool { return !r.Failed }) {
		return nil
	}
	limit, total := maxRows, len(v.rows())
	if v.above {
		limit = maxTall
	}
	most := total
	if n := (total + limit - 1) / limit; n > 1 {
		most = (total + n - 1) / n
	}
	var all []bars
	rows := total
	for _, g := range v.Groups {
		for rest := range slices.Chunk(g.Rows, limit) {
			if rows += len(rest); rows > most {
				one := v
				one.Groups = nil
				all, rows = append(all, one), len(rest)
			}
			one, last := g, &all[len(all)-1]
			one.Rows = rest
			last.Groups = append(last.Groups, one)
		}
	}
	return all
}

// add puts r into the group with the key of g, or else into g, a new one. The first
// that has references gives them to its group.
func (v *bars) add(g barGroup, r barRow) {
	i := slices.IndexFunc(v.Groups, func(o barGroup) bool { return o.key == g.key })
	if i < 0 {
		i, v.Groups = len(v.Groups), append(v.Groups, g)
	}
	to := &v.Groups[i]
	if to.Marks == nil {
		to.Marks = g.Marks
	}
	to.Rows = append(to.Rows, r)
}

// pair sorts groups of one title, measured before assumed, to where the first of them is.
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

// assumed is what stand-ins produced in any group, and whether others were measured.
func (v bars) assumed() (parts []string, measured bool) {
	for _, g := range v.Groups {
		parts = results.AppendNew(parts, g.Assumed...)
		measured = measured || len(g.Assumed) == 0
	}
	return parts, measured
}

// shown are the captions of the machines that v has rows of.
func (v bars) shown() [][]string {
	var all [][]string
	for i, c := range v.captions {
		if v.machines == nil || v.any(func(r barRow) bool { return r.Machine == i }) {
			all = append(all, c)
		}
	}
	return shared(all)
}

// bounds are the least and the greatest value that is drawn.
func (v bars) bounds() (least, most float64) {
	var all []float64
	for _, m := range slices.Concat(v.Demands, v.marks()) {
		all = append(all, m.At)
	}
	for _, r := range v.rows() {
		all = append(all, r.Median, r.Spread.Lo, r.Spread.Hi, r.Band.Lo, r.Band.Hi, r.Others.Lo, r.Others.Hi)
	}
	all = slices.DeleteFunc(all, func(x float64) bool { return !(x >= tiny) })
	return slices.Min(all), slices.Max(all)
}

// marks are the references that groups and rows have.
func (v bars) marks() (all []mark) {
	for _, g := range v.Groups {
		all = append(all, g.Marks...)
		for _, r := range g.Rows {
			all = append(all, r.Marks...)
		}
	}
	return all
}

// Why a row is hatched.
const caveatUnproven, caveatExtrapolated = "unproven", "extrapolated"

// legend explains what is drawn, and nothing else; machines are named next to their
// markers.
func (v bars) legend() []entry {
	var all []entry
	for i, p := range v.parts {
		if v.any(func(r barRow) bool { return i < len(r.Parts) && r.Parts[i] > 0 }) {
			all = append(all, boxEntry(p.text, p.fill))
		}
	}
	assumed, measured := v.assumed()
	if measured && (assumed != nil || v.parts == nil) {
		all = append(all, barEntry(cmp.Or(v.whole, "measured"), barKind{}))
	}
	if assumed != nil {
		all = append(all, barEntry(assumedText(assumed), barKind{assumed: true}))
	}
	if v.any(func(r barRow) bool { return r.Caveat == caveatUnproven }) {
		all = append(all, barEntry(unprovenMeaning, barKind{caveat: true}))
	}
	if v.any(func(r barRow) bool { return r.Caveat == caveatExtrapolated }) {
		all = append(all, barEntry("extrapolated: outside of what was checked", barKind{caveat: true}))
	}
	intervals := v.any(func(r barRow) bool { return r.Spread != span{} && !r.Range })
	text := spreadText(intervals, v.any(func(r barRow) bool { return r.Range }))
	if intervals {
		text = cmp.Or(v.spread, text)
	}
	if text != "" {
		all = append(all, entry{text, func(c draw.Canvas) {
			drawWhisker(c, whiskerStroke, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y)
		}})
	}
	for _, m := range firsts(v.marks(), func(m mark) string { return m.Text }) {
		all = append(all, glyphEntry(m.Text, m.glyph))
	}
	if v.any(func(r barRow) bool { return r.Band != span{} }) {
		all = append(all, boxEntry(bandMeaning, shade))
	}
	if v.any(func(r barRow) bool { return r.Others != span{} }) {
		all = append(all, entry{"published by others for that link and memory", func(c draw.Canvas) {
			drawWhisker(c, bracketStroke, c.Min.X, c.Max.X, c.Center().Y)
		}})
	}
	if len(v.Demands) > 0 {
		all = append(all, strokeEntry("demand of a model on a GPU", demandStroke))
	}
	return all
}

// bandMeaning explains the shaded bands of links.
const bandMeaning = "protocol band: packets of 64 to 256 B"
