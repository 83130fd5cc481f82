package results

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// table is one suite of a report, laid out for people.
type table struct {
	suite   string
	common  string // the parameters that all rows share: "dir h2d, size 19.44 MB"
	rows    int
	columns []column
	notes   []note // cases that failed or were skipped, values that are missing, warnings
}

// note is something to say of a case, and how many more it is true of.
type note struct {
	kind, name, text string
	more             int
}

// column is one column of a table. The one with the least keep is the first to
// go where the width does not suffice; those with keepAlways stay.
type column struct {
	head  string
	right bool
	keep  int
	cells []string
	// spread holds what stands behind each cell, an interval or "".
	spread     []string
	keepSpread int
}

// Ranks of columns. Parameters tell the rows apart and the assumed ones have to
// be marked, so those stay, and with them the suite's first metric. Then go, from
// the first to be dropped: the intervals of further metrics, the metrics from the
// last to the third, the references from the last to the first, bands before
// single numbers, the share of the line rate, the second metric, and the interval
// of the first.
const (
	keepAlways    = 1000
	keepInterval  = 900
	keepSecond    = 800
	keepShare     = 700
	keepReference = 600 // less one for each before it
	keepBand      = 500 // likewise
	keepFurther   = 400 // likewise
	keepOthers    = 200 // likewise
)

// tables returns one table for each suite in the order of the results.
func tables(r *Report) []table {
	var ts []table
	for _, res := range r.Results {
		if !slices.ContainsFunc(ts, func(t table) bool { return t.suite == res.Suite }) {
			ts = append(ts, table{suite: res.Suite})
		}
	}
	for i := range ts {
		ts[i].fill(r)
	}
	return ts
}

func (t *table) fill(r *Report) {
	var all, rows []*Result
	for i := range r.Results {
		if res := &r.Results[i]; res.Suite == t.suite {
			all = append(all, res)
			if res.Status == OK {
				rows = append(rows, res)
			} else {
				t.note(res.Status, res.Name, res.Reason)
			}
		}
	}
	t.rows = len(rows)
	t.addParams(rows)
	t.addAssumed(rows)
	metrics := t.addMetrics(rows)
	t.addReferences(rows, metrics)
	for _, res := range all {
		for _, w := range res.Warnings {
			t.note("warning", res.Name, w)
		}
	}
}

// addParams gives each parameter that varies a column and puts the others into
// t.common.
func (t *table) addParams(rows []*Result) {
	var keys []string
	for _, res := range rows {
		for _, p := range res.Params {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	var common []string
	for _, key := range keys {
		c := column{head: plain(key), keep: keepAlways, cells: make([]string, len(rows))}
		if key == "bytes" {
			c.head = "size"
		}
		numbers := true
		for i, res := range rows {
			c.cells[i] = paramText(res.Params, key)
			numbers = numbers && isNumber(res.Params, key)
		}
		c.right = numbers
		if len(slices.Compact(slices.Clone(c.cells))) == 1 {
			common = append(common, c.head+" "+c.cells[0])
			continue
		}
		t.columns = append(t.columns, c)
	}
	t.common = strings.Join(common, ", ")
}

// paramText is the value of a parameter for people, NoValue where it is not
// there.
func paramText(ps Params, key string) string {
	for _, p := range ps {
		if p.Key != key {
			continue
		}
		if n, ok := p.Value.(int64); ok && key == "bytes" {
			return FormatBytes(n)
		}
		return plain(format(p.Value))
	}
	return NoValue
}

func isNumber(ps Params, key string) bool {
	for _, p := range ps {
		if p.Key == key {
			switch p.Value.(type) {
			case string, bool:
				return false
			}
		}
	}
	return true
}

func (t *table) addAssumed(rows []*Result) {
	c := column{head: "assumed", keep: keepAlways, cells: make([]string, len(rows))}
	some := false
	for i, res := range rows {
		c.cells[i] = plain(strings.Join(res.Assumed, ", "))
		some = some || len(res.Assumed) > 0
	}
	if some {
		t.columns = append(t.columns, c)
	}
}

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
		last := k == len(metrics)-1
		if like.Name == "bandwidth" || last && !hasMetric(metrics, "bandwidth") {
			t.addShare(rows)
		}
	}
	return metrics
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
		some = some || ok
		switch {
		case ok && share > 1:
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
				c := column{right: true, keep: keepReference - len(seen), cells: make([]string, len(rows))}
				if ref.Value == nil {
					c.keep = keepBand - len(seen)
				}
				seen = append(seen, ref.Name)
				c.head = strings.ReplaceAll(plain(ref.Name), "-", " ")
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

func referenceText(ref *Reference, unit string) string {
	switch {
	case ref == nil:
		return NoValue
	case ref.Value != nil:
		return FormatValue(*ref.Value, unit)
	case ref.Lo != nil && ref.Hi != nil:
		return FormatRange(*ref.Lo, *ref.Hi, unit)
	case ref.Lo != nil:
		return "from " + FormatValue(*ref.Lo, unit)
	case ref.Hi != nil:
		return "to " + FormatValue(*ref.Hi, unit)
	}
	return NoValue
}

// note adds a line below the table, or one more case to the line that says the
// same.
func (t *table) note(kind, name, text string) {
	for i := range t.notes {
		if n := &t.notes[i]; n.kind == kind && n.text == text {
			n.more++
			return
		}
	}
	t.notes = append(t.notes, note{kind: kind, name: name, text: text})
}

// String returns "skipped: pcie/... and 3 more: no CUDA device".
func (n note) String() string {
	s := plain(n.kind) + ": " + plain(n.name)
	if n.more > 0 {
		s += fmt.Sprintf(" and %d more", n.more)
	}
	return s + ": " + plain(n.text)
}

// findingText is a finding as a sentence: "A9 holds over an assumed link: ...".
func findingText(f Finding) string {
	s := plain(f.Claim) + " " + strings.ReplaceAll(plain(f.Verdict), "-", " ")
	if len(f.Assumed) > 0 {
		s += " (assumed: " + plain(strings.Join(f.Assumed, ", ")) + ")"
	}
	return s + ": " + plain(f.Text)
}

// plain makes one line of s that a terminal may print: line breaks and tabs
// become spaces, and other control and formatting characters, with which a
// report could move the cursor or turn text around, are dropped.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
}
