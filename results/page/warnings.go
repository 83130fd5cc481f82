package page

import (
	"fmt"
	"slices"

	"dlbench/results"
	"dlbench/results/encode"
)

// warnings are those of one report and of its cases, each text once.
type warnings struct {
	Machine string
	All     []warning
}

// warning is a text and the cases that it is about, none for the whole report.
type warning struct {
	Text  string
	Cases []string
}

func newWarnings(r *results.Report, name string) warnings {
	w := warnings{Machine: name}
	for _, s := range r.Warnings {
		w.All = append(w.All, warning{Text: results.Plain(s)})
	}
	for _, t := range encode.Tables(r) {
		for _, n := range t.Notes {
			if n.Kind != "warning" {
				continue
			}
			i := slices.IndexFunc(w.All, func(o warning) bool { return o.Text == n.Text && len(o.Cases) > 0 })
			if i < 0 {
				i = len(w.All)
				w.All = append(w.All, warning{Text: n.Text})
			}
			w.All[i].Cases = append(w.All[i].Cases, casesText(n))
		}
	}
	return w
}

// casesText names the cases of a note: "pcie/... and 3 more".
func casesText(n encode.Note) string {
	if n.More > 0 {
		return fmt.Sprintf("%s and %d more", n.Name, n.More)
	}
	return n.Name
}
