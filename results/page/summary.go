package page

import (
	"slices"

	"dlbench/results"
	"dlbench/results/encode"
)

// summary is a report's headline and findings.
type summary struct {
	Name        string
	ID          int    // from 1
	When        string // "14 March 2026, 15:09 UTC"
	Tool        string
	Interrupted bool
	Empty       bool     // no results at all
	Assumed     []string // the parts that were assumed anywhere
	Verdict     *results.Verdict
	Feeds       string // of Verdict, with unit
	Margin      string
	Lead        []results.Finding // what the report says of the whole, in place of a verdict
	Findings    []results.Finding
	Predictions []Table // those that were checked, and those that were not
}

// leads are the findings about the whole machine, which come first.
var leads = []string{"feeds", "bound", "B4"}

// rank is the place of a claim among leads, behind them for any other.
func rank(claim string) int {
	if i := slices.Index(leads, claim); i >= 0 {
		return i
	}
	return len(leads)
}

func newSummary(r *results.Report, name string, id int) summary {
	s := summary{
		Name: name, ID: id, Tool: toolText(r.Tool), Interrupted: r.Status == results.Interrupted,
		Empty: len(r.Results) == 0, Verdict: r.Verdict,
	}
	if !r.Started.IsZero() {
		s.When = r.Started.UTC().Format("2 January 2006, 15:04 UTC")
	}
	for _, res := range r.Results {
		for _, a := range res.Assumed {
			if !slices.Contains(s.Assumed, a) {
				s.Assumed = append(s.Assumed, a)
			}
		}
	}
	if v := r.Verdict; v != nil {
		if v.Feeds != nil {
			s.Feeds = results.FormatValue(*v.Feeds, "images/s")
		}
		if v.Margin != nil {
			s.Margin = results.FormatValue(*v.Margin, results.Ratio)
		}
	}
	for _, f := range r.Findings {
		if rank(f.Claim) < len(leads) {
			s.Lead = append(s.Lead, f)
		} else {
			s.Findings = append(s.Findings, f)
		}
	}
	slices.SortStableFunc(s.Lead, func(a, b results.Finding) int { return rank(a.Claim) - rank(b.Claim) })
	for _, checked := range []bool{true, false} {
		t := TableOf(encode.PredictionTable(r.Predictions, checked))
		t.Caption = "What changes would bring, predicted"
		if checked {
			t.Caption = "What a model predicted, and what was then measured"
		}
		if len(t.Rows) > 0 {
			s.Predictions = append(s.Predictions, t)
		}
	}
	return s
}
