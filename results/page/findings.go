package page

import (
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/encode"
)

// summary is a report's answer, findings and predictions.
type summary struct {
	*results.Report
	Name        string
	ID          int               // from 1
	When        string            // "14 March 2026, 15:09 UTC"
	Tool        string            // in words
	Assumed     []string          // the parts that were assumed anywhere
	Findings    []results.Finding // those of the whole machine first
	Predictions []table           // those that were checked, and those that were not
}

// leads are the findings about the whole machine, which come first.
var leads = []string{"feeds", "bound", "B4"}

func newSummary(r *results.Report, name string, id int) summary {
	s := summary{Report: r, Name: name, ID: id, Tool: toolText(r.Tool)}
	if !r.Started.IsZero() {
		s.When = r.Started.UTC().Format("2 January 2006, 15:04 UTC")
	}
	for _, res := range r.Results {
		s.Assumed = results.AppendNew(s.Assumed, res.Assumed...)
	}
	s.Findings = slices.SortedStableFunc(slices.Values(r.Findings), func(a, b results.Finding) int {
		return results.Rank(leads, a.Claim) - results.Rank(leads, b.Claim)
	})
	for _, checked := range []bool{true, false} {
		t := table{Table: encode.PredictionTable(r.Predictions, checked)}
		t.Caption = "What changes would bring, predicted"
		if checked {
			t.Caption = "What a model predicted, and what was then measured"
		}
		if t.Rows > 0 {
			s.Predictions = append(s.Predictions, t)
		}
	}
	return s
}

// claim is what each report says of one claim.
type claim struct {
	ID       string
	Verdicts [][]results.Finding // for each report; none where it does not speak of it
}

// claimsOf gathers the claims of all reports: those of the whole machine, then the
// others in the order in which they first stand.
func claimsOf(reports []*results.Report) []claim {
	var all []claim
	for i, r := range reports {
		for _, f := range r.Findings {
			k := slices.IndexFunc(all, func(c claim) bool { return c.ID == f.Claim })
			if k < 0 {
				k = len(all)
				all = append(all, claim{f.Claim, make([][]results.Finding, len(reports))})
			}
			all[k].Verdicts[i] = append(all[k].Verdicts[i], f)
		}
	}
	slices.SortStableFunc(all, func(a, b claim) int { return results.Rank(leads, a.ID) - results.Rank(leads, b.ID) })
	return all
}

// badgeClass is the class for a verdict or a status.
func badgeClass(v string) string {
	if slices.Contains([]string{results.Holds, results.Fails, results.Inconclusive, results.Failed}, v) {
		return v
	}
	return "none"
}

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
			w.All[i].Cases = append(w.All[i].Cases, n.Cases())
		}
	}
	return w
}

// screen is the first screen of a report as text.
func screen(r *results.Report) (string, error) {
	var b strings.Builder
	err := encode.Screen(&b, r, false)
	return b.String(), err
}
