// Package encode lays a report out as tables and writes them as text, Markdown and CSV,
// and its samples in the Go benchmark format.
package encode

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

// Table is one suite of a report, or of a comparison, laid out for people. What was
// measured and what was assumed stand in tables of their own. All text is on one line
// each and free of control characters.
type Table struct {
	Suite   string
	Assumed string // the assumed parts: "link and step"; "" in the table of what was measured
	Common  string // the parameters that all rows share: "dir h2d, size 19.44 MB"
	Rows    int
	Columns []Column
	Sources []string // "line rate: 8 GT/s x 128/130 x lanes / 8", for each reference column
	Demands []string // "ResNet-152 148.1 images/s": references that are the same for all rows
	Notes   []Note   // cases that failed or were skipped, values that are missing, warnings
}

// Column is one column of a table. The one with the least Keep is the first to
// go where the width does not suffice; those with KeepAlways stay.
type Column struct {
	Head   string
	Number bool // aligned right
	Cells  []string
	// Spread holds what stands behind each cell, an interval or "", or is nil.
	Spread     []string
	Keep       int
	KeepSpread int

	// As text: two lines of the head and the cells, the width of the widest, and of the
	// gap before the column.
	lines      []string
	width, gap int
}

// Ranks of columns. Parameters tell the rows apart and stay, and with them whether
// the rows are proven and the suite's first metric. Then go, from the first to be
// dropped: the intervals of further metrics, the metrics from the last to the third,
// bands from the last to the first, the second metric, the share of the line rate,
// single references from the last to the first, how the restarts differ, and the
// interval of the first metric.
const (
	KeepAlways    = 1000
	KeepInterval  = 900
	keepRuns      = 890
	keepReference = 800 // less one for each before it
	keepShare     = 700
	keepSecond    = 600
	keepBand      = 500 // likewise
	keepFurther   = 400 // likewise
	KeepOthers    = 200 // likewise
)

// Tables returns the tables of each suite in the order of the results.
func Tables(r *results.Report) []Table {
	var ts []Table
	var cases [][]*results.Result
	for i := range r.Results {
		res := &r.Results[i]
		k := Place(&ts, res.Suite, res.Assumed)
		if k == len(cases) {
			cases = append(cases, nil)
		}
		cases[k] = append(cases[k], res)
	}
	for i := range ts {
		ts[i].fill(cases[i])
	}
	return ts
}

// Place is the number of the table in ts of a suite's cases that assume these parts. A
// new one is appended.
func Place(ts *[]Table, suite string, assumed []string) int {
	want := Table{Suite: results.Plain(suite), Assumed: results.AssumedText(assumed)}
	k := slices.IndexFunc(*ts, func(t Table) bool { return t.Suite == want.Suite && t.Assumed == want.Assumed })
	if k < 0 {
		k = len(*ts)
		*ts = append(*ts, want)
	}
	return k
}

// Title is "pcie: dir h2d, size 19.44 MB" or "pcie, assumed link: dir h2d".
func (t *Table) Title() string {
	s := t.Suite
	if t.Assumed != "" {
		s += ", assumed " + t.Assumed
	}
	if t.Common != "" {
		s += ": " + t.Common
	}
	return s
}

func (t *Table) fill(cases []*results.Result) {
	var rows []*results.Result
	for _, res := range cases {
		if res.Status != results.Skipped {
			rows = append(rows, res)
		}
		if res.Status != results.OK {
			t.AddNote(res.Status, res.Name, res.Reason)
		}
	}
	t.Rows = len(rows)
	t.AddParams(rows)
	t.addProven(rows)
	metrics := t.addMetrics(rows)
	t.addReferences(rows, metrics)
	for _, res := range cases {
		for _, w := range res.Warnings {
			t.AddNote("warning", res.Name, w)
		}
	}
}

// Add adds a column with what text gives for each row, NoValue for "", unless no row
// has any.
func (t *Table) Add(c Column, text func(row int) (cell, spread string)) {
	some := false
	for i := range t.Rows {
		cell, spread := text(i)
		some = some || cell != ""
		c.Cells, c.Spread = append(c.Cells, cmp.Or(cell, results.NoValue)), append(c.Spread, spread)
	}
	if some {
		t.Columns = append(t.Columns, c)
	}
}

// AddParams gives each parameter that varies a column and puts the others into
// t.Common.
func (t *Table) AddParams(rows []*results.Result) {
	var common []string
	for _, key := range results.ParamKeys(rows...) {
		c := Column{Head: results.Plain(key), Number: true, Keep: KeepAlways}
		if key == "bytes" {
			c.Head = "size"
		}
		for _, res := range rows {
			text := results.NoValue
			if p, ok := res.Params.Find(key); ok {
				text = results.Plain(p.Text())
				switch v := p.Value.(type) {
				case int64:
					if key == "bytes" {
						text = results.FormatBytes(v)
					}
				case string, bool:
					c.Number = false
				}
			}
			c.Cells = append(c.Cells, text)
		}
		if len(slices.Compact(slices.Clone(c.Cells))) == 1 {
			common = append(common, c.Head+" "+c.Cells[0])
			continue
		}
		t.Columns = append(t.Columns, c)
	}
	t.Common = strings.Join(common, ", ")
}

// addProven says of each row whether what it claims to have measured is proven,
// where any row tells.
func (t *Table) addProven(rows []*results.Result) {
	t.Add(Column{Head: "proven", Keep: KeepAlways}, func(i int) (cell, spread string) {
		proven, ok := rows[i].Proven()
		switch {
		case !ok || rows[i].Status != results.OK:
			return "", ""
		case proven:
			return "yes", ""
		}
		return "no", ""
	})
}

// addMetrics adds the metrics in the order in which the rows have them, and the
// share of the line rate behind the bandwidth. It returns one metric of each
// name, for its unit.
func (t *Table) addMetrics(rows []*results.Result) (metrics []*results.Metric) {
	for _, res := range rows {
		for i := range res.Metrics {
			if m := &res.Metrics[i]; !hasMetric(metrics, m.Name) {
				metrics = append(metrics, m)
			}
		}
	}
	for k, like := range metrics {
		t.addMetric(rows, like.Name, k)
		last := k == len(metrics)-1
		if like.Name == "bandwidth" || last && !hasMetric(metrics, "bandwidth") {
			t.addShare(rows)
		}
	}
	return metrics
}

// addMetric adds the k-th metric, and how its restarts differ where it is the first.
func (t *Table) addMetric(rows []*results.Result, name string, k int) {
	c := Column{Head: results.Plain(name), Number: true, Keep: keepFurther - k, KeepSpread: KeepOthers - k}
	switch k {
	case 0:
		c.Keep, c.KeepSpread = KeepAlways, KeepInterval
	case 1:
		c.Keep = keepSecond
	}
	t.Add(c, func(i int) (cell, spread string) {
		res := rows[i]
		m := res.Metric(name)
		switch {
		case res.Status != results.OK && k == 0: // its numbers are not to be read, but it must not vanish
			return res.Status, ""
		case res.Status != results.OK || m == nil:
			return results.NoValue, ""
		case m.Missing():
			t.AddNote("no "+name, res.Name, m.Reason)
			return results.NoValue, ""
		}
		return results.FormatValue(m.Median, m.DisplayUnit()), results.FormatInterval(*m)
	})
	if k == 0 {
		t.addRuns(rows, name)
	}
}

const runsHead = "between runs"

func (t Table) hasRuns() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Head == runsHead })
}

// addRuns adds how far the restarts' medians reach from each other, where there are
// several: "±1.2 % of 5".
func (t *Table) addRuns(rows []*results.Result, name string) {
	t.Add(Column{Head: runsHead, Keep: keepRuns}, func(i int) (cell, spread string) {
		m := rows[i].Metric(name)
		if m == nil || m.Runs == nil || rows[i].Status != results.OK {
			return "", ""
		}
		over := *m
		over.Min, over.Max, over.Lo, over.Hi, over.Unit = m.Runs.Min, m.Runs.Max, m.Runs.Lo, m.Runs.Hi, m.DisplayUnit()
		if cell = results.FormatInterval(over); cell != "" {
			cell += " of " + strconv.Itoa(m.Runs.N)
		}
		return cell, ""
	})
}

func hasMetric(metrics []*results.Metric, name string) bool {
	return slices.ContainsFunc(metrics, func(m *results.Metric) bool { return m.Name == name })
}

// addShare adds the share of the line rate. More than all of it is an error of
// the measurement and is called one.
func (t *Table) addShare(rows []*results.Result) {
	t.Add(Column{Head: "of line rate", Number: true, Keep: keepShare}, func(i int) (cell, spread string) {
		share, ok := rows[i].LineShare()
		switch {
		case !ok || rows[i].Status != results.OK:
			return "", ""
		case share > results.LineSlack:
			t.AddNote("error", rows[i].Name,
				"faster than its line rate, so the measurement or what is known of the link is wrong")
			return "error", ""
		}
		return results.FormatValue(share, results.Ratio), ""
	})
}

// addReferences adds each reference once, for the first metric that has it.
func (t *Table) addReferences(rows []*results.Result, metrics []*results.Metric) {
	var seen []string
	for k, m := range metrics {
		for _, res := range rows {
			for _, ref := range res.References {
				demand, isDemand := strings.CutPrefix(ref.Name, results.DemandPrefix)
				switch {
				case ref.Metric != m.Name || slices.Contains(seen, ref.Name):
				case isDemand:
					t.addDemand(results.Plain(demand)+" "+referenceText(&ref, m.DisplayUnit()),
						results.Plain(ref.Source))
				case ref.Name == "linear" && hasMetric(metrics, "efficiency"): // that is the same said better
				default:
					t.addReference(rows, ref, m, k, len(seen))
					seen = append(seen, ref.Name)
				}
			}
		}
	}
}

// addReference adds a reference of the k-th metric, before which there are n others.
func (t *Table) addReference(rows []*results.Result, ref results.Reference, m *results.Metric, k, n int) {
	c := Column{Head: strings.ReplaceAll(results.Plain(ref.Name), "-", " "), Number: true, Keep: keepReference - n}
	if ref.Value == nil {
		c.Keep = keepBand - n
	}
	if ref.Source != "" {
		t.Sources = append(t.Sources, c.Head+": "+results.Plain(ref.Source))
	}
	if k > 0 {
		c.Head += " (" + results.Plain(m.Name) + ")"
	}
	t.Add(c, func(i int) (cell, spread string) {
		return referenceText(rows[i].Reference(ref.Name, m.Name), m.DisplayUnit()), ""
	})
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
	}
	return results.NoValue
}

// Note is something to say of a case, and of More others alike.
type Note struct {
	Kind string // Failed, Skipped, "warning", "error", "no <metric>"
	Name string // of the case
	Text string
	More int
}

// AddNote adds a line below the table, or one more case to the line that says the
// same.
func (t *Table) AddNote(kind, name, text string) {
	kind, text = results.Plain(kind), results.Plain(text)
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Kind == kind && n.Text == text {
			n.More++
			return
		}
	}
	t.Notes = append(t.Notes, Note{Kind: kind, Name: results.Plain(name), Text: text})
}

// Cases are "pcie/... and 3 more".
func (n Note) Cases() string {
	if n.More == 0 {
		return n.Name
	}
	return fmt.Sprintf("%s and %d more", n.Name, n.More)
}

// String returns "skipped: pcie/... and 3 more: no CUDA device".
func (n Note) String() string { return n.Kind + ": " + n.Cases() + ": " + n.Text }

// findingText is a finding as a sentence: "A9 (loading ahead) holds: ...".
func findingText(f results.Finding) string {
	s := results.Plain(f.Claim)
	if t := results.ClaimTitle(f.Claim); t != "" {
		s += " (" + t + ")"
	}
	s += " " + strings.ReplaceAll(results.Plain(f.Verdict), "-", " ")
	if len(f.Assumed) > 0 {
		s += " (assumed: " + results.Plain(strings.Join(f.Assumed, ", ")) + ")"
	}
	return s + ": " + results.Plain(f.Text)
}
