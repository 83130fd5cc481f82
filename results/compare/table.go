package compare

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/encode"
)

// line is one of a comparison's table: a metric of a case on one side, which is nil for a case that has none to show.
type line struct {
	*Case
	metric *Metric
	side   int
	first  bool // of its metric
}

// Tables lays c out for people, what was measured and what was simulated apart. Two sides stand in one line, of more
// each has a line that has the case.
func (c *Comparison) Tables() []encode.Table {
	var lines []line
	two := len(c.Sides) == 2
	for i := range c.Cases {
		cc := &c.Cases[i]
		if !cc.ran() {
			continue
		}
		for _, m := range cc.shown() {
			for k, side := range cc.Sides {
				if two && k == 1 || !two && side.Name != "" {
					lines = append(lines, line{cc, m, k, two || k == 0})
				}
			}
		}
	}
	ts, parts := encode.Group(lines, func(l line) (string, []string) { return l.Suite, l.Sides[0].Assumed })
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

// fill adds columns to t, and notes.
func (c *Comparison) fill(t *encode.Table, lines []line) {
	t.Rows = len(lines)
	like := make([]*results.Result, len(lines))
	for i, l := range lines {
		like[i] = &results.Result{Params: slices.Clone(l.Params)}
		if l.metric != nil {
			like[i].Params = append(like[i].Params, results.Param{Key: "metric", Value: l.metric.Name})
		}
		c.explain(t, l)
	}
	t.AddParams(like)
	for _, column := range t.Columns {
		for i := range lines {
			if !lines[i].first {
				column.Cells[i] = ""
			}
		}
	}
	add := func(head string, number bool, text func(line) (cell, spread string)) {
		t.Add(encode.Column{Head: head, Number: number}, func(i int) (cell, spread string) { return text(lines[i]) })
	}
	label := func(k int) string { return results.Plain(c.Sides[k].Label) }
	if len(c.Sides) == 2 {
		add(label(0), true, func(l line) (cell, spread string) { return l.median(0) })
		add(label(1), true, func(l line) (cell, spread string) { return l.median(1) })
	} else {
		add("report", false, func(l line) (cell, spread string) { return label(l.side), "" })
		add("median", true, func(l line) (cell, spread string) { return l.median(l.side) })
	}
	add("ratio", true, line.ratio)
	t.Columns[len(t.Columns)-1].Main = true
	add("verdict", false, func(l line) (cell, spread string) { return l.verdict(), "" })
}

// explain says why a line has the verdict it has.
func (c *Comparison) explain(t *encode.Table, l line) {
	base, side, label := l.Sides[0], l.Sides[l.side], c.Sides[l.side].Label
	switch {
	case base.Status != results.OK:
		if l.first {
			t.AddNote(base.Status+" in "+c.Sides[0].Label, base.Name, base.Reason)
		}
	case side.Status != results.OK && side.Name != "":
		t.AddNote(side.Status+" in "+label, base.Name, side.Reason)
	case l.metric != nil && l.metric.Sides[l.side].Reason != "":
		name := base.Name
		if l.metric != &l.Metrics[0] {
			name += " " + l.metric.Name
		}
		s := l.metric.Sides[l.side]
		t.AddNote(inWords(s.Verdict), name, s.Reason)
	}
}

// median is that of the k-th side, with its interval.
func (l line) median(k int) (cell, spread string) {
	if l.metric == nil || l.metric.Sides[k].Estimate == nil {
		return results.NoValue, ""
	}
	e := l.metric.Sides[k].Estimate
	m := results.Metric{Name: l.metric.Name, Unit: l.metric.Unit, Median: e.Median, Min: e.Median, Max: e.Median,
		Lo: e.Lo, Hi: e.Hi, Samples: make([]results.Sample, 2)}
	return results.FormatMedian(m), results.FormatInterval(m)
}

// ratio is that to the base, with its interval.
func (l line) ratio() (cell, spread string) {
	if l.metric == nil {
		return results.NoValue, ""
	}
	cell, spread, _ = strings.Cut(ratioText(&l.metric.Sides[l.side]), " ")
	return cell, strings.Trim(spread, "()")
}

// verdict is that on the side, or why it has none.
func (l line) verdict() string {
	side, base := l.Sides[l.side], l.Sides[0]
	switch {
	case side.Name == "":
		return "missing"
	case side.Status != results.OK:
		return results.Plain(side.Status)
	case l.side == 0:
		return "base"
	case base.Status != results.OK:
		return results.Plain(base.Status) + " in base"
	case l.metric == nil:
		return NotCompared
	}
	return inWords(l.metric.Sides[l.side].Verdict)
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
