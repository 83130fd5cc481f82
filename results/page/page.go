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

	"dlbench/results"
	"dlbench/results/chart"
	"dlbench/results/compare"
	"dlbench/results/encode"
)

var (
	//go:embed page.html
	source string
	//go:embed page.css
	style string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"plain":   results.Plain,
		"title":   results.ClaimTitle,
		"verdict": func(v string) string { return strings.ReplaceAll(results.Plain(v), "-", " ") },
		"lines":   func(s string) []string { return strings.Split(s, "\n") },
		"size":    results.Size,
		"rate":    rate,
	}).Parse(source))
)

// document is what the template shows.
type document struct {
	Title      string
	Style      template.CSS
	Reports    []summary
	Comparison []encode.Table // with the first of several reports
	Findings   []finding      // of all reports, those of one claim next to each other
	Machine    encode.Table
	Suites     []suite
	Top        []drawing // where a batch's time goes, what would help
	Checks     []drawing // of the model
	Downloads  []download
	Left       []string // what does not fit or cannot be drawn, one sentence each
	Simulated  []string // names of charts that show mainly what was simulated, and are left out too
}

// finding is one of the report of that name.
type finding struct {
	results.Finding
	Report string
}

// Several tells whether reports are compared.
func (d *document) Several() bool { return len(d.Reports) > 1 }

func newDocument(reports []*results.Report) (*document, error) {
	if len(reports) == 0 {
		return nil, errors.New("no report")
	}
	names := results.MachineNames(reports, longestName)
	d := &document{Title: "dlbench: " + titleOf(reports[0], names[0]), Style: template.CSS(style),
		Machine: machineTable(reports, names), Suites: suitesOf(reports, names)}
	for i, r := range reports {
		s, err := newSummary(r, names[i], i+1)
		if err != nil {
			return nil, err
		}
		d.Reports = append(d.Reports, s)
	}
	d.addFindings()
	if d.Several() {
		d.Title = fmt.Sprintf("dlbench: %d reports compared", len(reports))
		d.Comparison = comparison(reports)
	}
	return d, d.addDownloads()
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

// longestName bounds the name of a machine, in characters.
const longestName = 60

// addFindings adds the findings of all reports, those about the whole machine first.
func (d *document) addFindings() {
	var all []finding
	for _, r := range d.Reports {
		for _, f := range r.Findings {
			all = append(all, finding{f, r.Name})
		}
	}
	for _, same := range results.Grouped(all, func(f finding) string { return f.Claim }) {
		d.Findings = append(d.Findings, same...)
	}
	leads := []string{"feeds", "bound", "B4"}
	slices.SortStableFunc(d.Findings, func(a, b finding) int {
		return cmp.Compare(results.Rank(leads, a.Claim), results.Rank(leads, b.Claim))
	})
}

// Write writes the page of the reports, with their charts and a comparison with the first
// of them, to w. It returns what it left out, one sentence each; the page says so too.
func Write(ctx context.Context, w io.Writer, reports []*results.Report) (left []string, err error) {
	d, err := newDocument(reports)
	if err != nil {
		return nil, err
	}
	drawn := reports[:min(len(reports), chart.MaxReports)]
	if len(drawn) < len(reports) {
		const note = "Charts show the first %d of the %d reports: one picture compares no more."
		d.Left = append(d.Left, fmt.Sprintf(note, len(drawn), len(reports)))
	}
	if err := d.draw(ctx, chart.Charts(compare.Joined(drawn))); err != nil {
		return nil, err
	}
	return d.Left, d.write(w)
}

// write writes the page to w, whole or, where something in it cannot be shown, not at all.
func (d *document) write(w io.Writer) error {
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
