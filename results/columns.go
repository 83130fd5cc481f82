package results

import (
	"slices"
	"strconv"
	"strings"
)

// addMetrics adds the metrics in the order in which the rows have them, and the
// share of the line rate behind the bandwidth. It returns one metric of each
// name, for its unit.
func (t *table) addMetrics(rows []*Result) (metrics []*Metric) {
	for _, res := range rows {
		for i := range res.Metrics {
			m := &res.Metrics[i]
			if !slices.ContainsFunc(metrics, func(o *Metric) bool { return o.Name == m.Name }) {
				metrics = append(metrics, m)
			}
		}
	}
	for k, like := range metrics {
		c := column{head: plain(like.Name), right: true, cells: make([]string, len(rows)), spread: make([]string, len(rows))}
		switch k {
		case 0:
			c.keep, c.keepSpread = keepAlways, keepInterval
		case 1:
			c.keep, c.keepSpread = keepSecond, keepOthers-k
		default:
			c.keep, c.keepSpread = keepFurther-k, keepOthers-k
		}
		for i, res := range rows {
			c.cells[i] = NoValue
			if res.Status != OK { // its numbers are not to be read, but it must not vanish
				if k == 0 {
					c.cells[i] = res.Status
				}
				continue
			}
			m := res.Metric(like.Name)
			if m == nil {
				continue
			}
			if m.missing() {
				t.note("no "+m.Name, res.Name, m.Reason)
				continue
			}
			c.cells[i], c.spread[i] = FormatValue(m.Median, unitOf(m)), FormatInterval(*m)
		}
		t.columns = append(t.columns, c)
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

func (t table) hasRuns() bool {
	return slices.ContainsFunc(t.columns, func(c column) bool { return c.head == runsHead })
}

// addRuns adds how far the restarts' medians reach from each other, where there are
// several: "±1.2 % of 5".
func (t *table) addRuns(rows []*Result, name string) {
	c := column{head: runsHead, keep: keepRuns, cells: make([]string, len(rows))}
	some := false
	for i, res := range rows {
		c.cells[i] = NoValue
		if m := res.Metric(name); m != nil && m.Runs != nil && res.Status == OK {
			spread := FormatInterval(Metric{Samples: m.Samples, Median: m.Median, Min: m.Runs.Min, Max: m.Runs.Max, Lo: m.Runs.Lo, Hi: m.Runs.Hi, Unit: unitOf(m), Reason: m.Reason})
			if spread != "" {
				c.cells[i], some = spread+" of "+strconv.Itoa(m.Runs.N), true
			}
		}
	}
	if some {
		t.columns = append(t.columns, c)
	}
}

func hasMetric(metrics []*Metric, name string) bool {
	return slices.ContainsFunc(metrics, func(m *Metric) bool { return m.Name == name })
}

// unitOf is the unit of m for people: what a throughput counts is images.
func unitOf(m *Metric) string {
	if m.Name == "throughput" && m.Unit == PerSecond {
		return "images/s"
	}
	return m.Unit
}

// addShare adds the share of the line rate. More than all of it is an error of
// the measurement and is called one.
func (t *table) addShare(rows []*Result) {
	c := column{head: "of line rate", right: true, keep: keepShare, cells: make([]string, len(rows))}
	some := false
	for i, res := range rows {
		c.cells[i] = NoValue
		share, ok := lineShare(res)
		ok = ok && res.Status == OK
		some = some || ok
		switch {
		case ok && share > LineSlack:
			c.cells[i] = "error"
			t.note("error", res.Name, "faster than its line rate, so the measurement or what is known of the link is wrong")
		case ok:
			c.cells[i] = FormatValue(share, Ratio)
		}
	}
	if some {
		t.columns = append(t.columns, c)
	}
}

// LineSlack is how much faster than its line a measurement may come out: more is an
// error of the measurement, or of what is known of the link.
const LineSlack = 1.002

// lineShare is the measured bandwidth over the line rate of the link.
func lineShare(res *Result) (share float64, ok bool) {
	if m, ref := res.Metric("bandwidth"), res.Reference("line-rate", "bandwidth"); m != nil && ref != nil && ref.Value != nil {
		share = m.Median / *ref.Value
	} else if m, ref := res.Metric("time"), res.Reference("line-rate", "time"); m != nil && ref != nil && ref.Value != nil {
		share = *ref.Value / m.Median
	}
	return share, share > 0 && isFinite(share)
}

// addReferences adds each reference once, for the first metric that has it.
func (t *table) addReferences(rows []*Result, metrics []*Metric) {
	var seen []string
	for k, m := range metrics {
		for _, res := range rows {
			for _, ref := range res.References {
				if ref.Metric != m.Name || slices.Contains(seen, ref.Name) {
					continue
				}
				if name, ok := strings.CutPrefix(ref.Name, DemandPrefix); ok {
					t.addDemand(plain(name)+" "+referenceText(&ref, unitOf(m)), plain(ref.Source))
					continue
				}
				if ref.Name == "linear" && hasMetric(metrics, "efficiency") {
					continue // that is the same said better
				}
				c := column{right: true, keep: keepReference - len(seen), cells: make([]string, len(rows))}
				if ref.Value == nil {
					c.keep = keepBand - len(seen)
				}
				seen = append(seen, ref.Name)
				c.head = strings.ReplaceAll(plain(ref.Name), "-", " ")
				if ref.Source != "" {
					t.sources = append(t.sources, c.head+": "+plain(ref.Source))
				}
				if k > 0 {
					c.head += " (" + plain(m.Name) + ")"
				}
				for i, row := range rows {
					c.cells[i] = referenceText(row.Reference(ref.Name, m.Name), unitOf(m))
				}
				t.columns = append(t.columns, c)
			}
		}
	}
}

// DemandPrefix begins the names of references that say how much a GPU takes in: no
// bound of a row, but a line to hold all rows against.
const DemandPrefix = "demand: "

func (t *table) addDemand(text, source string) {
	if !slices.Contains(t.demands, text) {
		t.demands = append(t.demands, text)
		if source != "" {
			t.sources = append(t.sources, "demand of "+text+": "+source)
		}
	}
}

// exact is FormatValue without the zeros that would claim digits which a figure
// such as the article's 4.5 ms does not have.
func exact(v float64, unit string) string {
	number, rest, _ := strings.Cut(FormatValue(v, unit), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + rest)
}

func referenceText(ref *Reference, unit string) string {
	switch {
	case ref == nil:
		return NoValue
	case ref.Value != nil:
		return exact(*ref.Value, unit)
	case ref.Lo != nil && ref.Hi != nil:
		return FormatRange(*ref.Lo, *ref.Hi, unit)
	case ref.Lo != nil:
		return "from " + FormatValue(*ref.Lo, unit)
	case ref.Hi != nil:
		return "to " + FormatValue(*ref.Hi, unit)
	}
	return NoValue
}
