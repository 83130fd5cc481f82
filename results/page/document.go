package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"dlbench/results"
)

// document is what the template shows.
type document struct {
	Title     string
	Style     template.CSS
	Reports   []summary
	Several   bool
	Claims    []claim // of all reports, where there are several
	Tables    []Table
	Machine   Table
	Suites    []suite
	Drawings  []drawing
	Warnings  []warnings
	Methods   []method
	Downloads []download
	Left      []string
}

func newDocument(reports []*results.Report, o Options) *document {
	names := results.MachineNames(reports, longestName)
	d := &document{Several: len(reports) > 1, Tables: o.Tables, Left: slices.Clone(o.Notes)}
	d.Title = "dlbench: " + names[0]
	if d.Several {
		d.Title = fmt.Sprintf("dlbench: %d reports", len(reports))
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

// longestName bounds the name of a machine, in characters.
const longestName = 60

func toolText(t results.Tool) string {
	s := strings.TrimSpace(cmp.Or(t.Name, "dlbench") + " " + t.Version)
	if t.Commit != "" {
		s += ", commit " + t.Commit
	}
	if t.Dirty {
		s += " with changes"
	}
	if t.Go != "" {
		s += ", " + t.Go
	}
	return s
}

// took is how long a run lasted, "" where that is unknown, as for merged ones: it is
// not known what lay between them.
func took(r *results.Report) string {
	if r.Merged > 0 || r.Started.IsZero() || !r.Finished.After(r.Started) {
		return ""
	}
	return r.Finished.Sub(r.Started).Round(time.Second).String()
}
