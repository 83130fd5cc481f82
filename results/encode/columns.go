package encode

import (
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

// addMetrics adds the metrics in the order in which the rows have them, and the
// share of the line rate behind the bandwidth. It returns one metric of each
// name, for its unit.
func (t *Table) addMetrics(rows []*results.Result) (metrics []*results.Metric) {
	for _, res := range rows {
		for i := range res.Metrics {
			m := &res.Metrics[i]
			if !slices.ContainsFunc(metrics, func(o *results.Metric) bool { return o.Name == m.Name }) {
				metrics = append(metrics, m)
			}
		}
	}
	for k, like := range metrics {
		c := Column{Head: results.Plain(like.Name), Number: true, Cells: make([]string, len(rows)), Spread: make([]string, len(rows))}
		switch k {
		case 0:
			c.Keep, c.KeepSpread = KeepAlways, KeepInterval
		case 1:
			c.Keep, c.KeepSpread = keepSecond, KeepOthers-k
		default:
			c.Keep, c.KeepSpread = keepFurther-k, KeepOthers-k
		}
		for i, res := range rows {
			c.Cells[i] = results.NoValue
			if res.Status != results.OK { // its numbers are not to be read, but it must not vanish
				if k == 0 {
					c.Cells[i] = res.Status
				}
				continue
			}
			m := res.Metric(like.Name)
			if m == nil {
				continue
			}
			if m.Missing() {
				t.AddNote("no "+m.Name, res.Name, m.Reason)
				continue
			}
			c.Cells[i], c.Spread[i] = results.FormatValue(m.Median, m.DisplayUnit()), results.FormatInterval(*m)
		}
		t.Columns = append(t.Columns, c)
		if k == 0 {
			t.addRuns(rows, like.Name)
		}
		last := k == len(metrics)-1
		if like.Name == "bandwidth" || last && !hasMetric(metrics, "bandwidth") {
			t.addShare(rows)
		}
	}
	return metrics
}

const runsHead = "between runs"

func (t Table) hasRuns() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Head == runsHead })
}

// addRuns adds how far the restarts' medians reach from each other, where there are
// several: "±1.2 % of 5".
func (t *Table) addRuns(rows []*results.Result, name string) {
	c := Column{Head: runsHead, Keep: keepRuns, Cells: make([]string, len(rows))}
	some := false
	for i, res := range rows {
		c.Cells[i] = results.NoValue
		if m := res.Metric(name); m != nil && m.Runs != nil && res.Status == results.OK {
			spread := results.FormatInterval(results.Metric{Samples: m.Samples, Median: m.Median, Min: m.Runs.Min, Max: m.Runs.Max, Lo: m.Runs.Lo, Hi: m.Runs.Hi, Unit: m.DisplayUnit(), Reason: m.Reason})
			if spread != "" {
				c.Cells[i], some = spread+" of "+strconv.Itoa(m.Runs.N), true
			}
		}
	}
	if some {
		t.Columns = append(t.Columns, c)
	}
}

func hasMetric(metrics []*results.Metric, name string) bool {
	return slices.ContainsFunc(metrics, func(m *results.Metric) bool { return m.Name == name })
}

// addShare adds the share of the line rate. More than all of it is an error of
// the measurement and is called one.
func (t *Table) addShare(rows []*results.Result) {
	c := Column{Head: "of line rate", Number: true, Keep: keepShare, Cells: make([]string, len(rows))}
	some := false
	for i, res := range rows {
		c.Cells[i] = results.NoValue
		share, ok := res.LineShare()
		ok = ok && res.Status == results.OK
		some = some || ok
		switch {
		case ok && share > results.LineSlack:
			c.Cells[i] = "error"
			t.AddNote("error", res.Name, "faster than its line rate, so the measurement or what is known of the link is wrong")
		case ok:
			c.Cells[i] = results.FormatValue(share, results.Ratio)
		}
	}
	if some {
		t.Columns = append(t.Columns, c)
	}
}

// addReferences adds each reference once, for the first metric that has it.
func (t *Table) addReferences(rows []*results.Result, metrics []*results.Metric) {
	var seen []string
	for k, m := range metrics {
		for _, res := range rows {
			for _, ref := range res.References {
				if ref.Metric != m.Name || slices.Contains(seen, ref.Name) {
					continue
				}
				if name, ok := strings.CutPrefix(ref.Name, results.DemandPrefix); ok {
					t.addDemand(results.Plain(name)+" "+referenceText(&ref, m.DisplayUnit()), results.Plain(ref.Source))
					continue
				}
				if ref.Name == "linear" && hasMetric(metrics, "efficiency") {
					continue // that is the same said better
				}
				c := Column{Number: true, Keep: keepReference - len(seen), Cells: make([]string, len(rows))}
				if ref.Value == nil {
					c.Keep = keepBand - len(seen)
				}
				seen = append(seen, ref.Name)
				c.Head = strings.ReplaceAll(results.Plain(ref.Name), "-", " ")
				if ref.Source != "" {
					t.Sources = append(t.Sources, c.Head+": "+results.Plain(ref.Source))
				}
				if k > 0 {
					c.Head += " (" + results.Plain(m.Name) + ")"
				}
				for i, row := range rows {
					c.Cells[i] = referenceText(row.Reference(ref.Name, m.Name), m.DisplayUnit())
				}
				t.Columns = append(t.Columns, c)
			}
		}
	}
}

func (t *Table) addDemand(text, source string) {
	if !slices.Contains(t.Demands, text) {
		t.Demands = append(t.Demands, text)
		if source != "" {
			t.Sources = append(t.Sources, "demand of "+text+": "+source)
		}
	}
}

func referenceText(ref *results.Reference, unit string) string {
	switch {
	case ref == nil:
		return results.NoValue
	case ref.Value != nil:
		return results.FormatExact(*ref.Value, unit)
	case ref.Lo != nil && ref.Hi != nil:
		return results.FormatRange(*ref.Lo, *ref.Hi, unit)
	case ref.Lo != nil:
		return "from " + results.FormatValue(*ref.Lo, unit)
	case ref.Hi != nil:
		return "to " + results.FormatValue(*ref.Hi, unit)
	}
	return results.NoValue
}
