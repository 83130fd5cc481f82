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
		tables := encode.Tables(r)
		for _, asked := range r.Config.Suites { // those that have no case too
			asked = results.Plain(asked)
			if !slices.ContainsFunc(tables, func(t encode.Table) bool { return t.Suite == asked }) {
				tables = append(tables, encode.Table{Suite: asked})
			}
		}
		for _, t := range tables {
			s, machine := get(t.Suite), ""
			if len(reports) > 1 {
				machine = names[i]
			}
			t.Notes = slices.DeleteFunc(t.Notes, func(n encode.Note) bool { return n.Kind == "warning" }) // below
			s.Tables = append(s.Tables, suiteTable{t, machine})
			s.Sources = results.AppendNew(s.Sources, t.Sources...)
		}
	}
	return all
}

// comparison compares the reports with the first one, a table for each suite.
func comparison(reports []*results.Report) []encode.Table {
	c, err := compare.Reports(reports, compare.Options{})
	if err != nil { // nothing in common, say: they stand side by side all the same
		return []encode.Table{encode.Section("not compared", err.Error())}
	}
	all := c.Tables()
	if n := len(all); n > 0 {
		for _, line := range c.Lines() {
			all[n-1].AddNote("", "", line)
		}
	}
	return all
}

// textTable has a column of text for each report, right of those of heads.
func textTable(title, head string, reports []string) encode.Table {
	t := encode.NewTable(title, append([]string{head}, reports...)...)
	for i := range t.Columns {
		t.Columns[i].Number = false
	}
	return t
}

// answerTable has a row for each report that has an answer, or what its loader feeds.
func answerTable(reports []*results.Report, names []string) (t encode.Table) {
	var all []*results.Verdict
	var of []string
	for i, r := range reports {
		if r.Verdict != nil && r.Verdict.Feeds != nil {
			all, of = append(all, r.Verdict), append(of, names[i])
		}
	}
	t.Suite, t.Rows = "The answers, in images/s", len(all)
	t.Add(encode.Column{Head: "report"}, func(i int) (cell, spread string) { return of[i], "" })
	t.Add(encode.Column{Head: "loader"}, func(i int) (cell, spread string) { return all[i].Loader, "" })
	t.Add(encode.Column{Head: "feeds", Number: true}, func(i int) (cell, spread string) { return rate(all[i].Feeds), "" })
	t.Add(encode.Column{Head: "needs", Number: true}, func(i int) (cell, spread string) { return rate(all[i].Needs), "" })
	t.Add(encode.Column{Head: "answer"}, func(i int) (cell, spread string) {
		if all[i].Answer == results.AnswerNone {
			return "", ""
		}
		return all[i].Title(), ""
	})
	return t
}

func rate(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.0f", *x)
}

// machineTable has a row for each property and a column for each report. A row in
// which no report has anything is left out.
func machineTable(reports []*results.Report, names []string) encode.Table {
	var all [][]results.Fact
	for _, r := range reports {
		all = append(all, propertiesOf(r))
	}
	t := textTable("What was measured on", "", names)
	for k, p := range all[0] {
		row, known := []string{p.What}, false
		for _, of := range all {
			row, known = append(row, cmp.Or(of[k].Text, results.NoValue)), known || of[k].Text != ""
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
		results.Fact{What: "back end", Text: backend}, results.Fact{What: "JPEG decoder", Text: r.Software.Decoder},
		results.Fact{What: "dlbench", Text: toolText(r.Tool)})
}
