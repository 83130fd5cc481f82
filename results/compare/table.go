package compare

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/encode"
)

// row is a line of a comparison's table: a metric of a case, nil for a case
// that has none to show.
type row struct {
	*Case
	metric *Metric
}

// Tables lays c out for people, what was measured and what was assumed apart.
func (c *Comparison) Tables() []encode.Table {
	var ts []encode.Table
	var rows [][]row
	for i := range c.Cases {
		cc := &c.Cases[i]
		if !cc.ran() {
			continue
		}
		assumed := results.AssumedText(cc.Sides[0].Assumed)
		k := slices.IndexFunc(ts, func(t encode.Table) bool { return t.Suite == cc.Suite && t.Assumed == assumed })
		if k < 0 {
			k = len(ts)
			ts, rows = append(ts, encode.Table{Suite: results.Plain(cc.Suite), Assumed: assumed}), append(rows, nil)
		}
		for _, m := range cc.shown() {
			rows[k] = append(rows[k], row{cc, m})
		}
	}
	for i := range ts {
		fill(&ts[i], c, rows[i])
	}
	return ts
}

// ran tells whether any side has finished the case.
func (cc *Case) ran() bool {
	return slices.ContainsFunc(cc.Sides, func(s CaseSide) bool { return s.Status == results.OK })
}

// shown are the metrics that stand in tables: the first one, and of the others
// those that changed for better or worse and not as the first one did: a time
// says what a bandwidth does.
func (cc *Case) shown() []*Metric {
	if len(cc.Metrics) == 0 {
		return []*Metric{nil}
	}
	first := &cc.Metrics[0]
	ms := []*Metric{first}
	for i := range cc.Metrics[1:] {
		m := &cc.Metrics[i+1]
		for k, s := range m.Sides {
			changed := s.Verdict == Better || s.Verdict == Worse || s.Verdict == NotCompared && cc.Sides[k].Reason == ""
			if changed && s.Verdict != first.Sides[k].Verdict {
				ms = append(ms, m)
				break
			}
		}
	}
	return ms
}

// fill fills t: two sides stand beside each other, more below each other.
func fill(t *encode.Table, c *Comparison, rows []row) {
	t.Rows = len(rows)
	like := make([]*results.Result, len(rows))
	for i, r := range rows {
		like[i] = &results.Result{Params: r.Params}
	}
	t.AddParams(like)
	addNames(t, rows)
	for _, r := range rows {
		for k := range r.Sides[1:] {
			addNotes(t, c, r, k+1)
		}
	}
	heads := headings(c.Sides)
	ratio := encode.Column{Head: "ratio", Number: true, Keep: encode.KeepAlways, KeepSpread: encode.KeepInterval}
	verdict := encode.Column{Head: "verdict", Keep: encode.KeepAlways}
	median := func(head string) encode.Column {
		return encode.Column{Head: head, Number: true, Keep: encode.KeepAlways, KeepSpread: encode.KeepOthers}
	}
	if len(c.Sides) == 2 {
		addSides(t, median(heads[0]), rows, []int{0}, row.median)
		addSides(t, median(heads[1]), rows, []int{1}, row.median)
		addSides(t, ratio, rows, []int{1}, row.ratio)
		addSides(t, verdict, rows, []int{1}, row.word)
		return
	}
	var all []int
	for k := range c.Sides {
		all = append(all, k)
	}
	for i := range t.Columns {
		var cells []string
		for _, cell := range t.Columns[i].Cells {
			cells = append(append(cells, cell), make([]string, len(all)-1)...)
		}
		t.Columns[i].Cells = cells
	}
	t.Rows *= len(all)
	label := func(_ row, k int) (string, string) { return heads[k], "" }
	addSides(t, encode.Column{Head: "report", Keep: encode.KeepAlways}, rows, all, label)
	addSides(t, median("median"), rows, all, row.median)
	addSides(t, ratio, rows, all, row.ratio)
	addSides(t, verdict, rows, all, row.word)
}

// addSides adds a column with what text gives for each of some sides of each row.
func addSides(t *encode.Table, c encode.Column, rows []row, sides []int, text func(row, int) (cell, spread string)) {
	for _, r := range rows {
		for _, k := range sides {
			cell, spread := text(r, k)
			c.Cells, c.Spread = append(c.Cells, cell), append(c.Spread, spread)
		}
	}
	t.Columns = append(t.Columns, c)
}

// addNames adds which metric a row has, to the title where it is the same in all.
func addNames(t *encode.Table, rows []row) {
	c := encode.Column{Head: "metric", Keep: encode.KeepAlways}
	for _, r := range rows {
		name := results.NoValue
		if r.metric != nil {
			name = results.Plain(r.metric.Name)
		}
		c.Cells = append(c.Cells, name)
	}
	names := slices.DeleteFunc(slices.Clone(c.Cells), func(name string) bool { return name == results.NoValue })
	switch len(slices.Compact(names)) {
	case 0:
	case 1:
		t.Common = strings.TrimPrefix(t.Common+", "+names[0], ", ")
	default:
		t.Columns = append(t.Columns, c)
	}
}

// addNotes says why the k-th side of a row has the verdict it has.
func addNotes(t *encode.Table, c *Comparison, r row, k int) {
	side, name := r.Sides[k], r.Sides[0].Name
	if r.metric != nil && r.metric != &r.Metrics[0] {
		name += " " + r.metric.Name
	}
	switch base := r.Sides[0]; {
	case base.Status != results.OK && k > 1: // said already
	case base.Status != results.OK:
		t.AddNote(base.Status+" in "+c.Sides[0].Label, name, base.Reason)
	case side.Name == "":
	case side.Status != results.OK:
		t.AddNote(side.Status+" in "+c.Sides[k].Label, name, side.Reason)
	case r.metric != nil && r.metric.Sides[k].Reason != "":
		s := r.metric.Sides[k]
		t.AddNote(s.Verdict, name, s.Reason)
	}
}

// median is that of the k-th side, with its interval.
func (r row) median(k int) (cell, spread string) {
	if r.metric == nil || r.metric.Sides[k].Estimate == nil {
		return results.NoValue, ""
	}
	e := r.metric.Sides[k].Estimate
	m := results.Metric{Name: r.metric.Name, Unit: r.metric.Unit, Median: e.Median, Lo: e.Lo, Hi: e.Hi, Min: 1}
	if e.Lo != nil && e.Hi != nil {
		spread = results.FormatInterval(m)
	}
	return results.FormatValue(e.Median, m.DisplayUnit()), spread
}

// ratio is that of the k-th side to the base, with its interval.
func (r row) ratio(k int) (cell, spread string) {
	if r.metric == nil || k == 0 || r.metric.Sides[k].Ratio == nil {
		return results.NoValue, ""
	}
	cell, spread, _ = strings.Cut(ratioText(&r.metric.Sides[k]), " ")
	return cell, strings.Trim(spread, "()")
}

// word is the verdict on the k-th side, or why it has none.
func (r row) word(k int) (word, none string) {
	side := r.Sides[k]
	switch {
	case side.Name == "":
		word = "missing"
	case side.Status != results.OK:
		word = results.Plain(side.Status)
	case k == 0:
		word = "base"
	case r.metric == nil && r.Sides[0].Status != results.OK:
		word = results.Plain(r.Sides[0].Status) + " in base"
	case r.metric == nil:
		word = NotCompared
	default:
		word = r.metric.Sides[k].Verdict
	}
	return word, ""
}

// ratioText is "1.082 (1.061..1.103)".
func ratioText(s *MetricSide) string {
	text := results.FormatFactor(*s.Ratio)
	if s.RatioLo != nil && s.RatioHi != nil {
		text += fmt.Sprintf(" (%s..%s)", results.FormatFactor(*s.RatioLo), results.FormatFactor(*s.RatioHi))
	}
	return text
}

// headingWidth is how much of a label stands above a column.
const headingWidth = 20

// headings are what the sides are called above columns: the start of a label that
// is too long, the end of it where starts are alike, and a number where those are.
func headings(sides []Side) []string {
	start := func(_ int, label string) string { return results.Clip(label, headingWidth) }
	end := func(_ int, label string) string {
		if r := []rune(label); len(r) > headingWidth {
			return "…" + string(r[len(r)-headingWidth+1:])
		}
		return label
	}
	number := func(k int, label string) string { return results.Clip(fmt.Sprintf("%d %s", k+1, label), headingWidth) }
	var heads []string
	for _, short := range []func(int, string) string{start, end, number} {
		heads = nil
		for k, s := range sides {
			heads = append(heads, short(k, results.Plain(s.Label)))
		}
		if len(slices.Compact(slices.Sorted(slices.Values(heads)))) == len(sides) {
			break
		}
	}
	return heads
}
