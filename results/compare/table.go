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

// Tables lays c out for people, what was measured and what was simulated apart.
func (c *Comparison) Tables() []encode.Table {
	var rows []row
	for i := range c.Cases {
		if cc := &c.Cases[i]; cc.ran() {
			for _, m := range cc.shown() {
				rows = append(rows, row{cc, m})
			}
		}
	}
	ts, parts := encode.Group(rows, func(r row) (string, []string) { return r.Suite, r.Sides[0].Assumed })
	for i := range ts {
		c.fill(&ts[i], parts[i])
	}
	return ts
}

// ran tells whether any side has finished the case.
func (c *Case) ran() bool {
	return slices.ContainsFunc(c.Sides, func(s CaseSide) bool { return s.Status == results.OK })
}

// shown are the metrics that stand in tables: the first one, and of the others
// those that changed for better or worse and not as the first one did: a time
// says what a bandwidth does.
func (c *Case) shown() []*Metric {
	if len(c.Metrics) == 0 {
		return []*Metric{nil}
	}
	first := &c.Metrics[0]
	ms := []*Metric{first}
	for i := range c.Metrics[1:] {
		m := &c.Metrics[i+1]
		for k, s := range m.Sides {
			changed := s.Verdict == Better || s.Verdict == Worse || s.Verdict == NotCompared && c.Sides[k].Reason == ""
			if changed && s.Verdict != first.Sides[k].Verdict {
				ms = append(ms, m)
				break
			}
		}
	}
	return ms
}

// fill fills t: two sides stand in one line, of more each has a line that has the case.
func (c *Comparison) fill(t *encode.Table, rows []row) {
	like := make([]*results.Result, len(rows))
	for i, r := range rows {
		like[i] = &results.Result{Params: slices.Clone(r.Params)}
		if r.metric != nil {
			like[i].Params = append(like[i].Params, results.Param{Key: "metric", Value: r.metric.Name})
		}
	}
	t.AddParams(like)
	for _, r := range rows {
		for k := range r.Sides[1:] {
			c.explain(t, r, k+1)
		}
	}
	type line struct{ row, side int }
	var lines []line
	two := len(c.Sides) == 2
	for i, r := range rows {
		for k, side := range r.Sides {
			if k == 1 && two || !two && (k == 0 || side.Name != "") {
				lines = append(lines, line{i, k})
			}
		}
	}
	for i := range t.Columns {
		cells := make([]string, len(lines)) // of the parameters, in the first line of a row
		for n, l := range lines {
			if n == 0 || lines[n-1].row != l.row {
				cells[n] = t.Columns[i].Cells[l.row]
			}
		}
		t.Columns[i].Cells = cells
	}
	t.Rows = len(lines)
	add := func(column encode.Column, text func(row, int) (cell, spread string)) {
		t.Add(column, func(i int) (cell, spread string) { return text(rows[lines[i].row], lines[i].side) })
	}
	median := func(head string, text func(row, int) (cell, spread string)) {
		add(encode.Column{Head: head, Number: true}, text)
	}
	if two {
		median(results.Plain(c.Sides[0].Label), func(r row, _ int) (cell, spread string) { return r.median(0) })
		median(results.Plain(c.Sides[1].Label), row.median)
	} else {
		add(encode.Column{Head: "report"}, func(_ row, k int) (cell, spread string) {
			return results.Plain(c.Sides[k].Label), ""
		})
		median("median", row.median)
	}
	add(encode.Column{Head: "ratio", Number: true, Main: true}, row.ratio)
	add(encode.Column{Head: "verdict"}, row.word)
}

// explain says why the k-th side of a row has the verdict it has.
func (c *Comparison) explain(t *encode.Table, r row, k int) {
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
		t.AddNote(inWords(s.Verdict), name, s.Reason)
	}
}

// median is that of the k-th side, with its interval.
func (r row) median(k int) (cell, spread string) {
	if r.metric == nil || r.metric.Sides[k].Estimate == nil {
		return results.NoValue, ""
	}
	e := r.metric.Sides[k].Estimate
	m := results.Metric{Name: r.metric.Name, Unit: r.metric.Unit, Median: e.Median, Min: e.Median, Max: e.Median,
		Lo: e.Lo, Hi: e.Hi, Samples: make([]results.Sample, 2)}
	return results.FormatMedian(m), results.FormatInterval(m)
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
		word = inWords(r.metric.Sides[k].Verdict)
	}
	return word, ""
}

// ratioText is "1.082 (1.061..1.103)", "" where there is no ratio.
func ratioText(s *MetricSide) string {
	if s.Ratio == nil {
		return ""
	}
	text := results.FormatFactor(*s.Ratio)
	if s.RatioLo != nil && s.RatioHi != nil {
		text += fmt.Sprintf(" (%s..%s)", results.FormatFactor(*s.RatioLo), results.FormatFactor(*s.RatioHi))
	}
	return text
}
