package page

import (
	"cmp"
	"fmt"
	"slices"

	"dlbench/results"
	"dlbench/results/compare"
	"dlbench/results/encode"
)

// suite is what all reports have of one suite.
type suite struct {
	Name    string
	ID      string // of its heading
	Tables  []suiteTable
	Sources []string // where the columns of references come from, each once
	Charts  []drawing
}

// suiteTable is a table of what one report has of a suite.
type suiteTable struct {
	encode.Table
	Machine string // "" where there is one report
}

// suitesOf gathers the tables of all reports by suite, in the order in which the
// first report that has a suite has it.
func suitesOf(reports []*results.Report, names []string) (all []suite) {
	var tables []suiteTable
	for i, r := range reports {
		own := encode.Tables(r)
		for _, asked := range r.Config.Suites { // those that have no case too
			asked = results.Plain(asked)
			if !slices.ContainsFunc(own, func(t encode.Table) bool { return t.Suite == asked }) {
				own = append(own, encode.Table{Suite: asked})
			}
		}
		machine := ""
		if len(reports) > 1 {
			machine = names[i]
		}
		for _, t := range own {
			t.Notes = slices.DeleteFunc(t.Notes, func(n encode.Note) bool { return n.Kind == "warning" }) // below
			tables = append(tables, suiteTable{t, machine})
		}
	}
	for i, same := range results.Grouped(tables, func(t suiteTable) string { return t.Suite }) {
		s := suite{Name: same[0].Suite, ID: fmt.Sprintf("suite-%d", i+1), Tables: same}
		for _, t := range same {
			s.Sources = results.AppendNew(s.Sources, t.Sources...)
		}
		all = append(all, s)
	}
	return all
}

// comparison compares the reports with the first one, a table for each suite.
func comparison(reports []*results.Report) []encode.Table {
	c, err := compare.Reports(reports, compare.Options{})
	if err != nil { // nothing in common, say: they stand side by side all the same
		return []encode.Table{encode.Section("not compared", err.Error())}
	}
	return append(c.Tables(), encode.Section("", c.Lines()...))
}

// rate is a number of images/s.
func rate(x *float64) string {
	if x == nil {
		return results.NoValue
	}
	return fmt.Sprintf("%.0f", *x)
}

// machineTable has a row for each property and a column for each report. A row in
// which no report has anything is left out.
func machineTable(reports []*results.Report, names []string) encode.Table {
	t := encode.NewTable("What was measured on", append([]string{""}, names...)...)
	for i := range t.Columns {
		t.Columns[i].Number = false
	}
	for k, p := range propertiesOf(reports[0]) {
		row, known := []string{p.What}, false
		for _, r := range reports {
			text := propertiesOf(r)[k].Text
			row, known = append(row, cmp.Or(text, results.NoValue)), known || text != ""
		}
		if known {
			t.Row(row...)
		}
	}
	return t
}

// propertiesOf are those of the machine of a report and of what ran there.
func propertiesOf(r *results.Report) []results.Fact {
	backend := r.Software.Backend
	if backend == "sim" {
		backend = "sim: simulated links, no GPU"
	}
	return append(r.Host.Properties(), results.Fact{What: "CUDA driver", Text: r.Software.Driver},
		results.Fact{What: "back end", Text: backend}, results.Fact{What: "JPEG decoder", Text: r.Software.Decoder})
}
