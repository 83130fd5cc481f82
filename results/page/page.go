// Package page writes reports as one HTML page that stands alone: no script, and
// nothing is loaded from elsewhere, neither from the network nor from other files.
//
// The answer stands first, as on the first screen, with charts of where the time of a batch
// goes and of what would help; of several reports their comparison. Everything else is
// folded: suites with tables and charts, claims, checks, machine, warnings, method, JSON.
// Every text of a report is escaped, charts are images, and a Content-Security-Policy
// forbids the rest.
package page

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"dlbench/results"
	"dlbench/results/chart"
	"dlbench/results/compare"
	"dlbench/results/encode"
)

// maxSize is the size in bytes up to which reports are put into a page. Its text, tables
// and charts are never cut.
const maxSize = 3_000_000

// options are what a page shows besides the reports.
type options struct {
	Charts []picture
	Tables []table  // a comparison of the reports
	Notes  []string // what was left out before, one sentence each
	// Simulated are the names of the charts that show mainly what was simulated.
	Simulated []string
}

// table is a table next to those of the suites. A cell may have several lines.
type table struct {
	encode.Table
	Caption string
	Lines   []string // below it
}

var (
	//go:embed page.html
	source string
	//go:embed page.css
	style string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"plain":   results.Plain,
		"screen":  screen,
		"title":   results.ClaimTitle,
		"verdict": func(v string) string { return strings.ReplaceAll(results.Plain(v), "-", " ") },
		"badge":   badgeClass,
		"lines":   func(s string) []string { return strings.Split(s, "\n") },
		"value": func(v *float64, unit string) string {
			if v == nil {
				return ""
			}
			return results.FormatValue(*v, unit)
		},
	}).Parse(source))
)

// document is what the template shows.
type document struct {
	Title     string
	Style     template.CSS
	Reports   []summary
	Several   bool
	Claims    []claim // of all reports, where there are several
	Tables    []table
	Machine   table
	Suites    []suite
	Top       []drawing // where a batch's time goes, what would help
	Checks    []drawing // of the model
	Warnings  []warnings
	Methods   []method
	Downloads []download
	Left      []string
}

func newDocument(reports []*results.Report, o options) *document {
	names := results.MachineNames(reports, longestName)
	d := &document{Several: len(reports) > 1, Tables: o.Tables, Left: slices.Clone(o.Notes)}
	d.Title = "dlbench: " + titleOf(reports[0], names[0])
	if d.Several {
		d.Title = fmt.Sprintf("dlbench: %d reports compared", len(reports))
	}
	if len(o.Simulated) > 0 {
		d.Left = append(d.Left, "Charts that show mainly what was simulated, which dlbench plot draws: "+
			strings.Join(o.Simulated, ", ")+".")
	}
	for i, r := range reports {
		d.Reports = append(d.Reports, newSummary(r, names[i], i+1))
		if w := newWarnings(r, names[i]); len(w.All) > 0 {
			d.Warnings = append(d.Warnings, w)
		}
		d.Methods = append(d.Methods, newMethod(r, names[i]))
	}
	if d.Several {
		d.Claims = claimsOf(reports)
	}
	d.Machine = machineTable(reports, names)
	d.Suites = suitesOf(reports, names)
	d.Style = template.CSS(style)
	return d
}

// titleOf names a report by its label, machine, GPU and data.
func titleOf(r *results.Report, name string) string {
	parts := []string{name}
	if r.Label != "" {
		parts = append(parts, results.Clip(r.Host.CPU.Model, longestName))
	}
	parts = append(parts, results.Clip(r.Host.GPUTitle(), longestName))
	if r.Dataset != nil {
		parts = append(parts, results.Plural(int(r.Dataset.Images), "image"))
	}
	return results.Plain(results.List(parts...))
}

// machineTable has a row for each property and a column for each report. A row in
// which no report has anything is left out.
func machineTable(reports []*results.Report, names []string) table {
	t := table{Caption: "What was measured on"}
	t.Columns = make([]encode.Column, 1+len(reports))
	var all [][]results.Fact
	for i, r := range reports {
		t.Columns[i+1].Head = names[i]
		all = append(all, propertiesOf(r))
	}
	for k, p := range all[0] {
		if !slices.ContainsFunc(all, func(of []results.Fact) bool { return of[k].Text != "" }) {
			continue
		}
		t.Rows++
		t.Columns[0].Cells = append(t.Columns[0].Cells, p.What)
		for i, of := range all {
			t.Columns[i+1].Cells = append(t.Columns[i+1].Cells, cmp.Or(of[k].Text, results.NoValue))
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

// longestName bounds the name of a machine, in characters.
const longestName = 60

func toolText(t results.Tool) string {
	s := strings.TrimSpace(cmp.Or(t.Name, "dlbench")+" "+t.Version) + results.After(", commit ", t.Commit)
	if t.Dirty {
		s += " with changes"
	}
	return s + results.After(", ", t.Go)
}

// duration is how long a run lasted, "" where that is unknown, as for merged ones: it is
// not known what lay between them.
func duration(r *results.Report) string {
	if r.Merged > 0 || r.Started.IsZero() || !r.Finished.After(r.Started) {
		return ""
	}
	return r.Finished.Sub(r.Started).Round(time.Second).String()
}

// Write writes the page of the reports, with their charts and a comparison with the first
// of them, to w. It returns what it left out, one sentence each; the page says so too.
func Write(ctx context.Context, w io.Writer, reports []*results.Report) (left []string, err error) {
	o := options{Tables: comparison(reports)}
	drawn := reports[:min(len(reports), chart.MaxReports)]
	if len(drawn) < len(reports) {
		const note = "Charts show the first %d of the %d reports: one picture compares no more."
		o.Notes = append(o.Notes, fmt.Sprintf(note, len(drawn), len(reports)))
	}
	o.draw(ctx, chart.Charts(compare.Joined(drawn)))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	left, err = writeWith(w, reports, o)
	return append(o.Notes, left...), err
}

// writeWith writes the page of the reports and o to w. It returns what it left out to keep
// the page below maxSize.
func writeWith(w io.Writer, reports []*results.Report, o options) (left []string, err error) {
	if len(reports) == 0 {
		return nil, errors.New("no report")
	}
	d := newDocument(reports, o)
	d.addCharts(o.Charts)
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return nil, err
	}
	room := maxSize - b.Len() - 8<<10 // for the sentences on what was left out
	if left, err = d.addDownloads(reports, room); err != nil {
		return nil, err
	}
	d.Left = append(d.Left, left...)
	b.Reset()
	if err := page.Execute(&b, d); err != nil {
		return nil, err
	}
	_, err = w.Write(b.Bytes())
	return left, err
}
