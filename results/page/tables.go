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
	Charts  []drawing
}

// suiteTable is one table and what is to be said of it.
type suiteTable struct {
	encode.Table
	Machine string        // "" where there is one report
	Cases   []encode.Note // those that failed or were skipped
	Notes   []encode.Note // what else is to be said of the numbers
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
	s := suiteTable{Table: t}
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
	c, err := compare.Reports(reports, compare.Options{})
	if err != nil { // nothing in common, say: they stand side by side all the same
		return []table{{Caption: "not compared", Lines: []string{err.Error()}}}
	}
	for _, t := range c.Tables() {
		one := table{Table: t, Caption: t.Title()}
		for _, n := range t.Notes {
			one.Lines = append(one.Lines, strings.TrimSpace(n.Kind+" "+n.Name+": "+n.Text))
		}
		all = append(all, one)
	}
	if n := len(all); n > 0 {
		all[n-1].Lines = append(all[n-1].Lines, c.Lines()...)
	}
	return all
}
