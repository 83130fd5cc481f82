package page

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/encode"
)

// suite is what all reports have of one suite.
type suite struct {
	Name    string
	ID      string // of its heading
	Tables  []suiteTable
	Missing []string // machines that were asked for it and have none of it
	Sources []string // where the columns of references come from, each once
}

// suiteTable is one table, as rows.
type suiteTable struct {
	Machine string // "" where there is one report
	Assumed string
	Common  string
	Heads   []head
	Rows    [][]cell
	Cases   []encode.Note // those that failed or were skipped
	Notes   []encode.Note // what else is to be said of the numbers
}

type head struct {
	Text   string
	Number bool
}

type cell struct {
	Text, Spread string
	Number, Case bool // Case: it names the row
}

// suitesOf gathers the tables of all reports by suite, in the order in which the
// first report that has a suite has it.
func suitesOf(reports []*results.Report, names []string) []suite {
	var all []suite
	get := func(name string) *suite {
		i := slices.IndexFunc(all, func(s suite) bool { return s.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, suite{Name: name, ID: fmt.Sprintf("suite-%d", i+1)})
		}
		return &all[i]
	}
	for i, r := range reports {
		has := map[string]bool{}
		for _, t := range encode.Tables(r) {
			has[t.Suite] = true
			st := rowsOf(t)
			if len(reports) > 1 {
				st.Machine = names[i]
			}
			s := get(t.Suite)
			s.Tables = append(s.Tables, st)
			s.addSources(t)
		}
		for _, asked := range r.Config.Suites {
			if asked = results.Plain(asked); !has[asked] {
				s := get(asked)
				s.Missing = append(s.Missing, names[i])
			}
		}
	}
	return all
}

// addSources adds the sources of t, and the demands that name none.
func (s *suite) addSources(t encode.Table) {
	all := slices.Clone(t.Sources)
	for _, d := range t.Demands {
		if !slices.ContainsFunc(all, func(source string) bool { return strings.HasPrefix(source, "demand of "+d) }) {
			all = append(all, "demand of "+d)
		}
	}
	for _, source := range all {
		if !slices.Contains(s.Sources, source) {
			s.Sources = append(s.Sources, source)
		}
	}
}

// rowsOf turns columns into rows and sorts what is to be said of the cases. Warnings
// have a section of their own.
func rowsOf(t encode.Table) suiteTable {
	s := suiteTable{Assumed: t.Assumed, Common: t.Common}
	for _, c := range t.Columns {
		s.Heads = append(s.Heads, head{c.Head, c.Number})
	}
	for i := range t.Rows {
		row := make([]cell, len(t.Columns))
		for k, c := range t.Columns {
			row[k] = cell{Text: c.Cells[i], Number: c.Number, Case: k == 0}
			if c.Spread != nil {
				row[k].Spread = c.Spread[i]
			}
		}
		s.Rows = append(s.Rows, row)
	}
	for _, n := range t.Notes {
		switch n.Kind {
		case results.Failed, results.Skipped:
			s.Cases = append(s.Cases, n)
		case "warning":
		default:
			s.Notes = append(s.Notes, n)
		}
	}
	return s
}
