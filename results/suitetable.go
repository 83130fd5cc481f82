package results

import (
	"slices"
	"strings"
)

// SuiteTable is a suite of a report as WriteMarkdown lays it out, for who lays it
// out otherwise. What was measured and what was assumed stand in tables of their
// own. All text is on one line each and free of control characters.
type SuiteTable struct {
	Suite   string
	Assumed string // the assumed parts: "link and step"; "" in a table of what was measured
	Common  string // the parameters that all rows share: "dir h2d, size 19.44 MB"
	Rows    int
	Columns []TableColumn
	Sources []string // where each column of references comes from
	Demands []string // references that are the same for all rows
	Notes   []TableNote
}

// TableColumn is one column. Cells holds a text for each row, and Spread an interval
// or "" for each, or nothing at all.
type TableColumn struct {
	Head   string
	Number bool // aligned right
	Cells  []string
	Spread []string
}

// TableNote is something to say of a case, and of More others alike.
type TableNote struct {
	Kind string // Failed, Skipped, "warning", "error", "no <metric>"
	Name string // of the case
	More int
	Text string
}

// SuiteTables returns the tables of r, in the order of its results.
func SuiteTables(r *Report) []SuiteTable { return exported(tables(r)) }

// Tables returns the tables of c as WriteText lays them out.
func (c *Comparison) Tables() []SuiteTable { return exported(c.tables()) }

// Lines is what WriteText says below the tables, a sentence each.
func (c *Comparison) Lines() []string {
	var all []string
	for _, line := range slices.Concat(c.counts(), c.unpairedText(), c.differencesText(), c.Notes, []string{c.Method}) {
		all = append(all, strings.TrimSpace(plain(line)))
	}
	return all
}

func exported(ts []table) []SuiteTable {
	var all []SuiteTable
	for _, t := range ts {
		s := SuiteTable{Suite: plain(t.suite), Assumed: t.assumed, Common: t.common, Rows: t.rows, Sources: t.sources, Demands: t.demands}
		for _, c := range t.columns {
			s.Columns = append(s.Columns, TableColumn{c.head, c.right, c.cells, c.spread})
		}
		for _, n := range t.notes {
			s.Notes = append(s.Notes, TableNote{plain(n.kind), plain(n.name), n.more, plain(n.text)})
		}
		all = append(all, s)
	}
	return all
}

// Plain makes one line of s, without control and direction characters, with which
// a text from a report could steer a terminal or turn the text around it.
func Plain(s string) string { return plain(s) }
