// Package page writes reports as one HTML page that stands alone: no script, and
// nothing is loaded from elsewhere, neither from the network nor from other files.
//
// What is read first stands first: the headline and the findings, the machine, the
// tables of results, charts, warnings, the method, and the reports themselves to
// download. Every text of a report is escaped, the charts are rebuilt from the few
// elements of a drawing, and a Content-Security-Policy forbids the rest.
package page

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"io"
	"strings"

	"dlbench/results"
)

// MaxSize is the size in bytes up to which charts and reports are put into a page.
// Its text and tables are never cut.
const MaxSize = 3_000_000

// Options are what a page shows beside the reports.
type Options struct {
	Charts []Chart
	Tables []Table  // a comparison of the reports, for one
	Notes  []string // what the caller left out, one sentence each
}

// Chart is one drawing.
type Chart struct {
	Name  string // pcie-batch-time: what stands before the first dash is its suite
	Title string
	SVG   []byte // an SVG document: paths and texts in groups, as results/chart draws
}

// Table is a table beside those of the suites. Its rows are as long as Head.
type Table struct {
	Caption string
	Head    []string
	Numbers []bool // which columns are aligned right; those beyond its end are not
	Rows    [][]string
	Notes   []string
}

var (
	//go:embed page.html
	source string
	//go:embed page.css
	style string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"plain":   results.Plain,
		"title":   results.ClaimTitle,
		"verdict": verdictText,
		"badge":   badgeClass,
		"cases":   casesText,
		"lines":   func(s string) []string { return strings.Split(s, "\n") },
		"number":  func(t Table, i int) bool { return i < len(t.Numbers) && t.Numbers[i] },
	}).Parse(source))
)

// Write writes the page of the reports to w. It returns what it left out to keep the
// page below MaxSize, one sentence each; the page says so too.
func Write(w io.Writer, reports []*results.Report, o Options) (left []string, err error) {
	if len(reports) == 0 {
		return nil, errors.New("no report")
	}
	d := newDocument(reports, o)
	var size counter
	if err := page.Execute(&size, d); err != nil {
		return nil, err
	}
	room := MaxSize - int(size) - 8<<10 // for the sentences on what was left out
	left = d.addCharts(o.Charts, &room)
	more, err := d.addDownloads(reports, &room)
	if err != nil {
		return nil, err
	}
	left = append(left, more...)
	d.Left = append(d.Left, left...)
	var b bytes.Buffer
	if err := page.Execute(&b, d); err != nil {
		return nil, err
	}
	_, err = w.Write(b.Bytes())
	return left, err
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
