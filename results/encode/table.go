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

// Table is a part of what people read: a title, rows, and lines below them. What was
// measured and what was simulated of a suite stand in tables of their own. All text is on
// one line each and free of control characters.
type Table struct {
	Suite   string // or another title
	Assumed string // the simulated parts: "link and step"; "" in the table of what was measured
	Common  string // the parameters that all rows share: "dir h2d, size 19.44 MB"
	Rows    int
	Columns []Column
	Sources []string // "line rate: 8 GT/s x 128/130 x lanes / 8", for each column that needs it
	Notes   []Note   // cases that failed or were skipped, values that are missing, warnings
}

// Column is one column of a table.
type Column struct {
	Head   string
	Number bool // aligned right
	Cells  []string
	// Spread holds what stands behind each cell, an interval or "", or is nil.
	Spread []string
	// Where the width does not suffice, intervals go, then extra columns from the last to
	// the first, then the intervals of main columns.
	Extra, Main bool

	// As text: the width, and whether this is the interval of the column before.
	width  int
	spread bool
}

// NewTable is an empty table. Its first column is text, the others are numbers.
func NewTable(title string, heads ...string) Table {
	t := Table{Suite: title}
	for i, head := range heads {
		t.Columns = append(t.Columns, Column{Head: head, Number: i > 0})
	}
	return t
}

// Section is a table of lines alone.
func Section(title string, lines ...string) Table {
	t := Table{Suite: title}
	for _, line := range lines {
		t.AddNote("", "", strings.TrimSpace(line))
	}
	return t
}

// Row adds a row; columns that there are not yet have no head and are text.
func (t *Table) Row(cells ...string) {
	t.Rows++
	for i, cell := range cells {
		if i == len(t.Columns) {
			t.Columns = append(t.Columns, Column{Cells: make([]string, t.Rows-1)})
		}
		t.Columns[i].Cells = append(t.Columns[i].Cells, cell)
	}
	for i := len(cells); i < len(t.Columns); i++ {
		t.Columns[i].Cells = append(t.Columns[i].Cells, "")
	}
}

// Lines stand below the rows.
func (t *Table) Lines() []string {
	all := slices.Clone(t.Sources)
	for _, n := range t.Notes {
		all = append(all, n.String())
	}
	return all
}

// Tables returns the tables of each suite in the order of the results.
func Tables(r *results.Report) []Table {
	var cases []*results.Result
	for i := range r.Results {
		cases = append(cases, &r.Results[i])
	}
	ts, parts := Group(cases, func(res *results.Result) (string, []string) { return res.Suite, res.Assumed })
	var all []Table
	for i := range ts {
		ts[i].fill(parts[i])
		all = append(all, ts[i])
		if t := metadataTable(ts[i], parts[i]); t.Rows > 0 {
			all = append(all, t)
		}
	}
	return all
}

// metadataTable has what the cases of a table tell of opening files and looking at them, which is no
// reading.
func metadataTable(of Table, cases []*results.Result) Table {
	t := Table{Suite: of.Suite, Assumed: of.Assumed}
	rows := slices.DeleteFunc(slices.Clone(cases), func(r *results.Result) bool {
		return r.Status != results.OK || r.Metric(results.MetadataMetrics[0]) == nil
	})
	t.Rows = len(rows)
	t.AddParams(rows)
	t.Common = "files opened, and looked at (stat); " + t.Common
	for _, name := range results.MetadataMetrics {
		t.addMetric(rows, name, false)
	}
	t.Sources = []string{"first_opens, first_stats: the first pass over the files in this case; the run has listed " +
		"them before, so a cache of metadata may hold them. opens, stats: passes right after it"}
	return t
}

// Group makes the tables of cases, one for each suite and what is simulated in it, with the
// cases that belong into each.
func Group[T any](all []T, of func(T) (suite string, assumed []string)) (ts []Table, parts [][]T) {
	title := func(x T) [2]string {
		suite, assumed := of(x)
		return [2]string{results.Plain(suite), results.AssumedText(assumed)}
	}
	parts = results.Grouped(all, title)
	for _, part := range parts {
		of := title(part[0])
		ts = append(ts, Table{Suite: of[0], Assumed: of[1]})
	}
	return ts, parts
}

// Title is "pcie: dir h2d, size 19.44 MB" or "pcie, simulated link: dir h2d".
func (t *Table) Title() string {
	s := t.Suite
	if t.Assumed != "" {
		s += ", simulated " + t.Assumed
	}
	if t.Common != "" {
		s += ": " + t.Common
	}
	return s
}

func (t *Table) fill(cases []*results.Result) {
	var rows []*results.Result
	for _, res := range cases {
		if res.Status == results.OK {
			rows = append(rows, res)
		} else {
			t.AddNote(res.Status, res.Name, res.Reason)
		}
	}
	t.Rows = len(rows)
	t.AddParams(rows)
	t.addProven(rows)
	t.addMetrics(rows)
	t.addLoaders(rows)
	for _, told := range results.Watches(rows) {
		t.Sources = append(t.Sources, results.Plain(told))
	}
	for _, res := range cases {
		for _, w := range res.Warnings {
			t.AddNote("warning", res.Name, w)
		}
	}
}

// Add adds a column with what text gives for each row, NoValue for "", unless no row
// has any.
func (t *Table) Add(c Column, text func(row int) (cell, spread string)) (some bool) {
	for i := range t.Rows {
		cell, spread := text(i)
		some = some || cell != ""
		c.Cells, c.Spread = append(c.Cells, cmp.Or(cell, results.NoValue)), append(c.Spread, spread)
	}
	if some {
		t.Columns = append(t.Columns, c)
	}
	return some
}

// add adds a column of what text gives for each case.
func (t *Table) add(c Column, cases []*results.Result, text func(*results.Result) string) (some bool) {
	return t.Add(c, func(i int) (cell, spread string) { return text(cases[i]), "" })
}

// AddParams gives each parameter that varies a column and puts the others into
// t.Common.
func (t *Table) AddParams(rows []*results.Result) {
	var common []string
	for _, key := range results.ParamKeys(rows...) {
		c := Column{Head: results.Plain(key), Number: true}
		if key == "bytes" {
			c.Head = "size"
		}
		for _, res := range rows {
			p, ok := res.Params.Find(key)
			text := results.Plain(p.Text())
			switch v := p.Value.(type) {
			case int64:
				if key == "bytes" {
					text = results.FormatBytes(v)
				}
			case string, bool:
				c.Number = c.Number && !ok
			}
			c.Cells = append(c.Cells, cmp.Or(text, results.NoValue))
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
	t.add(Column{Head: "proven"}, rows, func(r *results.Result) string {
		if proven, known := r.Proven(); known {
			return map[bool]string{true: "yes", false: "no"}[proven]
		}
		return ""
	})
}

// addMetrics adds the metrics in the order in which the rows have them, each with its
// references, and behind the first how its runs differ and the share of the line rate.
func (t *Table) addMetrics(rows []*results.Result) {
	var metrics, references []string
	for _, res := range rows {
		for i := range res.Metrics {
			m := &res.Metrics[i]
			if slices.Contains(metrics, m.Name) || slices.Contains(results.MetadataMetrics, m.Name) {
				continue
			}
			first := len(metrics) == 0
			metrics = append(metrics, m.Name)
			t.addMetric(rows, m.Name, first)
			if first {
				t.addRuns(rows, m.Name)
				t.addShare(rows)
			}
			references = t.addReferences(rows, m, first, references)
		}
	}
}

// addMetric adds a metric, and says why a case has no value of it.
func (t *Table) addMetric(rows []*results.Result, name string, first bool) {
	t.Add(Column{Head: results.Plain(name), Number: true, Main: first, Extra: !first}, func(i int) (cell, spread string) {
		m := rows[i].Metric(name)
		switch {
		case m == nil:
			return results.NoValue, ""
		case m.Missing():
			t.AddNote("no "+name, rows[i].Name, m.Reason)
			return results.NoValue, ""
		}
		return results.FormatMedian(*m), results.FormatInterval(*m)
	})
}

// runsLegend explains the column between runs.
const runsLegend = "between runs: the same over the medians of the runs, with an interval from 3 runs on; " +
	"it is about the centre of the runs, and the next run may lie outside"

// addRuns adds how far the runs' medians reach from each other, where there are
// several: "±1.2 % of 5".
func (t *Table) addRuns(rows []*results.Result, name string) {
	some := t.add(Column{Head: "between runs", Extra: true}, rows, func(r *results.Result) string {
		m := r.Metric(name)
		if m == nil || m.Runs == nil {
			return ""
		}
		over := *m
		over.Min, over.Max, over.Lo, over.Hi, over.Unit = m.Runs.Min, m.Runs.Max, m.Runs.Lo, m.Runs.Hi, m.DisplayUnit()
		if text := results.FormatInterval(over); text != "" {
			return text + " of " + strconv.Itoa(m.Runs.N)
		}
		return ""
	})
	if some {
		t.Sources = append(t.Sources, runsLegend)
	}
}

// addShare adds the share of the line rate. More than all of it is an error of
// the measurement and is called one.
func (t *Table) addShare(rows []*results.Result) {
	t.add(Column{Head: "of line rate", Number: true, Extra: true}, rows, func(r *results.Result) string {
		share, ok := r.LineShare()
		switch {
		case !ok:
			return ""
		case share > results.LineSlack:
			t.AddNote("error", r.Name, "faster than its line rate, so the measurement or what is known of the link is wrong")
			return "error"
		}
		return results.FormatValue(share, results.Ratio)
	})
}

// addReferences adds the references of a metric but those in seen, and returns which there
// are then.
func (t *Table) addReferences(rows []*results.Result, m *results.Metric, first bool, seen []string) []string {
	hasEfficiency := func(res *results.Result) bool { return res.Metric("efficiency") != nil }
	if slices.ContainsFunc(rows, hasEfficiency) { // which says more than linear scaling
		seen = append(seen, "linear")
	}
	for _, res := range rows {
		for _, ref := range res.References {
			if ref.Metric == m.Name && !slices.Contains(seen, ref.Name) {
				seen = append(seen, ref.Name)
				t.addReference(rows, ref, m, first)
			}
		}
	}
	return seen
}

// addReference adds a column; of what a GPU takes in, which is the same for all rows, a line.
func (t *Table) addReference(rows []*results.Result, ref results.Reference, m *results.Metric, first bool) {
	text := func(r *results.Result) string { return referenceText(r.Reference(ref.Name, m.Name), m.DisplayUnit()) }
	head := strings.ReplaceAll(results.Plain(ref.Name), "-", " ")
	demand, isDemand := strings.CutPrefix(ref.Name, results.DemandPrefix)
	if isDemand {
		head = "need of " + results.Plain(demand) + " " + referenceText(&ref, m.DisplayUnit())
	}
	if ref.Source != "" {
		t.Sources = append(t.Sources, head+": "+results.Plain(ref.Source))
	}
	if !first {
		head += " (" + results.Plain(m.Name) + ")"
	}
	if !isDemand {
		t.add(Column{Head: head, Number: true, Extra: true}, rows, text)
	}
}

// referenceText is a value or a band, "" for none.
func referenceText(ref *results.Reference, unit string) string {
	switch {
	case ref == nil:
		return ""
	case ref.Value != nil:
		return results.FormatExact(*ref.Value, unit)
	case ref.Lo != nil && ref.Hi != nil:
		return results.FormatRange(*ref.Lo, *ref.Hi, unit)
	}
	return ""
}

// Note is something to say of a case, and of More others alike.
type Note struct {
	Kind string // Failed, Skipped, "warning", "error", "no <metric>"; "" of no case
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
func (n Note) String() string {
	if n.Kind == "" {
		return n.Text
	}
	return n.Kind + ": " + n.Cases() + ": " + n.Text
}
