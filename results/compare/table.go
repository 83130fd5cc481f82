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
	if len(c.Sides) == 2 {
		for k := range c.Sides {
			t.Columns = append(t.Columns, medians(heads[k], rows, k))
		}
		t.Columns = append(t.Columns, ratios(rows, 1)...)
		return
	}
	stack(t, heads, rows)
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

// stack puts the sides of each row below each other.
func stack(t *encode.Table, heads []string, rows []row) {
	n := len(heads)
	for i := range t.Columns {
		cells := make([]string, 0, n*len(rows))
		for _, cell := range t.Columns[i].Cells {
			cells = append(append(cells, cell), make([]string, n-1)...)
		}
		t.Columns[i].Cells = cells
	}
	t.Rows = n * len(rows)
	label := encode.Column{Head: "report", Keep: encode.KeepAlways, Cells: make([]string, t.Rows)}
	var sides []encode.Column
	for k, head := range heads {
		for j, col := range append([]encode.Column{medians("median", rows, k)}, ratios(rows, k)...) {
			if k == 0 {
				col := col
				col.Cells, col.Spread = make([]string, t.Rows), make([]string, t.Rows)
				sides = append(sides, col)
			}
			for i := range rows {
				sides[j].Cells[n*i+k], sides[j].Spread[n*i+k] = col.Cells[i], col.Spread[i]
				label.Cells[n*i+k] = head
			}
		}
	}
	t.Columns = append(append(t.Columns, label), sides...)
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

// medians is the column of the k-th side's medians with their intervals.
func medians(head string, rows []row, k int) encode.Column {
	c := encode.Column{Head: head, Number: true, Keep: encode.KeepAlways, KeepSpread: encode.KeepOthers}
	for _, r := range rows {
		cell, spread := results.NoValue, ""
		if r.metric != nil {
			if e := r.metric.Sides[k].Estimate; e != nil {
				cell = results.FormatValue(e.Median, (&results.Metric{Name: r.metric.Name, Unit: r.metric.Unit}).DisplayUnit())
				if e.Lo != nil && e.Hi != nil {
					spread = results.FormatInterval(results.Metric{Median: e.Median, Lo: e.Lo, Hi: e.Hi, Unit: r.metric.Unit, Min: 1})
				}
			}
		}
		c.Cells, c.Spread = append(c.Cells, cell), append(c.Spread, spread)
	}
	return c
}

// ratios are the columns of the k-th side's ratio to the base, and its verdict.
func ratios(rows []row, k int) []encode.Column {
	ratio := encode.Column{Head: "ratio", Number: true, Keep: encode.KeepAlways, KeepSpread: encode.KeepInterval}
	verdict := encode.Column{Head: "verdict", Keep: encode.KeepAlways, Spread: make([]string, len(rows))}
	for _, r := range rows {
		cell, spread, word := results.NoValue, "", r.word(k)
		if r.metric != nil && k > 0 {
			if s := r.metric.Sides[k]; s.Ratio != nil {
				cell = results.FormatFactor(*s.Ratio)
				if s.RatioLo != nil && s.RatioHi != nil {
					spread = results.FormatFactor(*s.RatioLo) + ".." + results.FormatFactor(*s.RatioHi)
				}
			}
		}
		ratio.Cells, ratio.Spread = append(ratio.Cells, cell), append(ratio.Spread, spread)
		verdict.Cells = append(verdict.Cells, word)
	}
	return []encode.Column{ratio, verdict}
}

// word is the verdict on the k-th side, or why it has none.
func (r *row) word(k int) string {
	side := r.Sides[k]
	switch {
	case side.Name == "":
		return "missing"
	case side.Status != results.OK:
		return results.Plain(side.Status)
	case k == 0:
		return "base"
	case r.metric == nil && r.Sides[0].Status != results.OK:
		return results.Plain(r.Sides[0].Status) + " in base"
	case r.metric == nil:
		return NotCompared
	}
	return r.metric.Sides[k].Verdict
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
