package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// compareRow is a line of a comparison's table: a metric of a case, nil for a case
// that has none to show.
type compareRow struct {
	*ComparedCase
	metric *ComparedMetric
}

// tables lays c out for people, what was measured and what was assumed apart.
func (c *Comparison) tables() []table {
	var ts []table
	var rows [][]compareRow
	for i := range c.Cases {
		cc := &c.Cases[i]
		if !cc.ran() {
			continue
		}
		assumed := assumedText(&Result{Assumed: cc.Sides[0].Assumed})
		k := slices.IndexFunc(ts, func(t table) bool { return t.suite == cc.Suite && t.assumed == assumed })
		if k < 0 {
			k = len(ts)
			ts, rows = append(ts, table{suite: cc.Suite, assumed: assumed}), append(rows, nil)
		}
		for _, m := range cc.shown() {
			rows[k] = append(rows[k], compareRow{cc, m})
		}
	}
	for i := range ts {
		ts[i].compare(c, rows[i])
	}
	return ts
}

// ran tells whether any side has finished the case.
func (cc *ComparedCase) ran() bool {
	return slices.ContainsFunc(cc.Sides, func(s CaseSide) bool { return s.Status == OK })
}

// shown are the metrics that stand in tables: the first one, and of the others
// those that changed for better or worse and not as the first one did: a time
// says what a bandwidth does.
func (cc *ComparedCase) shown() []*ComparedMetric {
	if len(cc.Metrics) == 0 {
		return []*ComparedMetric{nil}
	}
	first := &cc.Metrics[0]
	ms := []*ComparedMetric{first}
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

// compare fills t: two sides stand beside each other, more below each other.
func (t *table) compare(c *Comparison, rows []compareRow) {
	t.rows = len(rows)
	like := make([]*Result, len(rows))
	for i, r := range rows {
		like[i] = &Result{Params: r.Params}
	}
	t.addParams(like)
	t.addNames(rows)
	for _, r := range rows {
		for k := range r.Sides[1:] {
			t.compareNotes(c, r, k+1)
		}
	}
	heads := headings(c.Sides)
	if len(c.Sides) == 2 {
		for k := range c.Sides {
			t.columns = append(t.columns, medians(heads[k], rows, k))
		}
		t.columns = append(t.columns, ratios(rows, 1)...)
		return
	}
	t.stack(heads, rows)
}

// addNames adds which metric a row has, to the title where it is the same in all.
func (t *table) addNames(rows []compareRow) {
	c := column{head: "metric", keep: keepAlways}
	for _, r := range rows {
		name := NoValue
		if r.metric != nil {
			name = plain(r.metric.Name)
		}
		c.cells = append(c.cells, name)
	}
	names := slices.DeleteFunc(slices.Clone(c.cells), func(name string) bool { return name == NoValue })
	switch len(slices.Compact(names)) {
	case 0:
	case 1:
		t.common = strings.TrimPrefix(t.common+", "+names[0], ", ")
	default:
		t.columns = append(t.columns, c)
	}
}

// stack puts the sides of each row below each other.
func (t *table) stack(heads []string, rows []compareRow) {
	n := len(heads)
	for i := range t.columns {
		cells := make([]string, 0, n*len(rows))
		for _, cell := range t.columns[i].cells {
			cells = append(append(cells, cell), make([]string, n-1)...)
		}
		t.columns[i].cells = cells
	}
	t.rows = n * len(rows)
	label := column{head: "report", keep: keepAlways, cells: make([]string, t.rows)}
	var sides []column
	for k, head := range heads {
		for j, col := range append([]column{medians("median", rows, k)}, ratios(rows, k)...) {
			if k == 0 {
				col := col
				col.cells, col.spread = make([]string, t.rows), make([]string, t.rows)
				sides = append(sides, col)
			}
			for i := range rows {
				sides[j].cells[n*i+k], sides[j].spread[n*i+k] = col.cells[i], col.spread[i]
				label.cells[n*i+k] = head
			}
		}
	}
	t.columns = append(append(t.columns, label), sides...)
}

// compareNotes says why the k-th side of a row has the verdict it has.
func (t *table) compareNotes(c *Comparison, r compareRow, k int) {
	side, name := r.Sides[k], r.Sides[0].Name
	if r.metric != nil && r.metric != &r.Metrics[0] {
		name += " " + r.metric.Name
	}
	switch base := r.Sides[0]; {
	case base.Status != OK && k > 1: // said already
	case base.Status != OK:
		t.note(base.Status+" in "+c.Sides[0].Label, name, base.Reason)
	case side.Name == "":
	case side.Status != OK:
		t.note(side.Status+" in "+c.Sides[k].Label, name, side.Reason)
	case r.metric != nil && r.metric.Sides[k].Reason != "":
		s := r.metric.Sides[k]
		t.note(s.Verdict, name, s.Reason)
	}
}

// medians is the column of the k-th side's medians with their intervals.
func medians(head string, rows []compareRow, k int) column {
	c := column{head: head, right: true, keep: keepAlways, keepSpread: keepOthers}
	for _, r := range rows {
		cell, spread := NoValue, ""
		if r.metric != nil {
			if e := r.metric.Sides[k].Estimate; e != nil {
				cell = FormatValue(e.Median, unitOf(&Metric{Name: r.metric.Name, Unit: r.metric.Unit}))
				if e.Lo != nil && e.Hi != nil {
					spread = FormatInterval(Metric{Median: e.Median, Lo: e.Lo, Hi: e.Hi, Unit: r.metric.Unit, Min: 1})
				}
			}
		}
		c.cells, c.spread = append(c.cells, cell), append(c.spread, spread)
	}
	return c
}

// ratios are the columns of the k-th side's ratio to the base, and its verdict.
func ratios(rows []compareRow, k int) []column {
	ratio := column{head: "ratio", right: true, keep: keepAlways, keepSpread: keepInterval}
	verdict := column{head: "verdict", keep: keepAlways, spread: make([]string, len(rows))}
	for _, r := range rows {
		cell, spread, word := NoValue, "", r.word(k)
		if r.metric != nil && k > 0 {
			if s := r.metric.Sides[k]; s.Ratio != nil {
				cell = factor(*s.Ratio)
				if s.RatioLo != nil && s.RatioHi != nil {
					spread = factor(*s.RatioLo) + ".." + factor(*s.RatioHi)
				}
			}
		}
		ratio.cells, ratio.spread = append(ratio.cells, cell), append(ratio.spread, spread)
		verdict.cells = append(verdict.cells, word)
	}
	return []column{ratio, verdict}
}

// word is the verdict on the k-th side, or why it has none.
func (r *compareRow) word(k int) string {
	side := r.Sides[k]
	switch {
	case side.Name == "":
		return "missing"
	case side.Status != OK:
		return plain(side.Status)
	case k == 0:
		return "base"
	case r.metric == nil && r.Sides[0].Status != OK:
		return plain(r.Sides[0].Status) + " in base"
	case r.metric == nil:
		return NotCompared
	}
	return r.metric.Sides[k].Verdict
}

// factor is a ratio with three decimals, or four digits from 10.
func factor(x float64) string {
	if x >= 10 || x < 0.1 {
		return significant(x)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// ratioText is "1.082 (1.061..1.103)".
func ratioText(s *MetricSide) string {
	text := factor(*s.Ratio)
	if s.RatioLo != nil && s.RatioHi != nil {
		text += fmt.Sprintf(" (%s..%s)", factor(*s.RatioLo), factor(*s.RatioHi))
	}
	return text
}
