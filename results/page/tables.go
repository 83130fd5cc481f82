package page

import (
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/compare"
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
	encode.Table
	Machine string // "" where there is one report
	Cells   [][]cell
	Cases   []encode.Note // those that failed or were skipped
	Notes   []encode.Note // what else is to be said of the numbers
}

type cell struct {
	Text, Spread string
	Number       bool
}

// cellsOf turns the columns of t into rows.
func cellsOf(t encode.Table) [][]cell {
	rows := make([][]cell, t.Rows)
	for _, c := range t.Columns {
		for i := range rows {
			x := cell{Text: c.Cells[i], Number: c.Number}
			if c.Spread != nil {
				x.Spread = c.Spread[i]
			}
			rows[i] = append(rows[i], x)
		}
	}
	return rows
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
			st := newSuiteTable(t)
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
	s.Sources = results.AppendNew(s.Sources, t.Sources...)
	for _, d := range t.Demands {
		if !slices.ContainsFunc(t.Sources,
			func(source string) bool { return strings.HasPrefix(source, "demand of "+d) }) {
			s.Sources = results.AppendNew(s.Sources, "demand of "+d)
		}
	}
}

// newSuiteTable sorts what is to be said of the cases of t. Warnings have a section of
// their own.
func newSuiteTable(t encode.Table) suiteTable {
	s := suiteTable{Table: t, Cells: cellsOf(t)}
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

// comparison compares the reports with the first one, a table for each suite.
func comparison(reports []*results.Report) (all []table) {
	if len(reports) < 2 {
		return nil
	}
	c, err := compare.Reports(compare.ByLabel(reports), compare.Options{})
	if err != nil { // nothing in common, say: they stand side by side all the same
		return []table{{Caption: "not compared", Notes: []string{err.Error()}}}
	}
	for _, t := range c.Tables() {
		all = append(all, tableOf(t))
	}
	if n := len(all); n > 0 {
		all[n-1].Notes = append(all[n-1].Notes, c.Lines()...)
	}
	return all
}

// tableOf turns a table of a comparison into rows.
func tableOf(t encode.Table) table {
	out := table{Caption: t.Title()}
	for _, c := range t.Columns {
		out.Head, out.Numbers = append(out.Head, c.Head), append(out.Numbers, c.Number)
	}
	for _, cells := range cellsOf(t) {
		var row []string
		for _, c := range cells {
			row = append(row, strings.TrimSpace(c.Text+" "+c.Spread))
		}
		out.Rows = append(out.Rows, row)
	}
	for _, n := range t.Notes {
		out.Notes = append(out.Notes, strings.TrimSpace(n.Kind+" "+n.Name+": "+n.Text))
	}
	return out
}
