package page

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/encode"
)

// summary is what one report says apart from its cases.
type summary struct {
	*results.Report
	Name        string
	ID          int               // from 1
	Screen      string            // its first screen
	When        string            // "14 March 2026, 15:09 UTC"
	Tool        string            // in words
	Command     string            // that measures the same, as far as the report records it
	Facts       []results.Fact    // how it came about, shown where there is a text
	Assumed     []string          // the parts that were simulated anywhere
	Findings    []results.Finding // those of the whole machine first
	Predictions []encode.Table    // those that were checked, and those that were not
	Warnings    []encode.Note     // of the report and of its cases, each text once
}

func newSummary(r *results.Report, name string, id int) (summary, error) {
	s := summary{Report: r, Name: name, ID: id, Tool: toolText(r.Tool), Command: command(r.Config), Facts: facts(r)}
	if !r.Started.IsZero() {
		s.When = r.Started.UTC().Format("2 January 2006, 15:04 UTC")
	}
	s.Findings = slices.SortedStableFunc(slices.Values(r.Findings), func(a, b results.Finding) int {
		return byLead(a.Claim, b.Claim)
	})
	var warnings encode.Table
	for _, w := range r.Warnings {
		warnings.AddNote("", "", w)
	}
	for _, res := range r.Results {
		s.Assumed = results.AppendNew(s.Assumed, res.Assumed...)
		for _, w := range res.Warnings {
			warnings.AddNote("warning", res.Name, w)
		}
	}
	s.Warnings = warnings.Notes
	s.addPredictions(true, "Predicted by the model, then measured")
	s.addPredictions(false, "What changes would bring")
	var screen strings.Builder
	err := encode.Screen(&screen, r, false)
	s.Screen = screen.String()
	return s, err
}

// addPredictions adds a table of the predictions that were checked, or of those that were not.
func (s *summary) addPredictions(checked bool, title string) {
	if t := encode.PredictionTable(s.Report.Predictions, checked); t.Rows > 0 {
		t.Suite = title
		s.Predictions = append(s.Predictions, t)
	}
}

// leads are the findings about the whole machine, which come first.
var leads = []string{"feeds", "bound", "B4"}

func byLead(a, b string) int { return cmp.Compare(results.Rank(leads, a), results.Rank(leads, b)) }

// claimTable has a row for each claim, those of the whole machine first, and what each
// report says of it.
func claimTable(reports []*results.Report, names []string) encode.Table {
	var claims []string
	for _, r := range reports {
		for _, f := range r.Findings {
			claims = results.AppendNew(claims, f.Claim)
		}
	}
	slices.SortStableFunc(claims, byLead)
	t := textTable("Findings of all reports; their sentences stand below", "claim", names)
	for _, claim := range claims {
		row := []string{strings.TrimSpace(claim + " " + results.ClaimTitle(claim))}
		for _, r := range reports {
			var verdicts []string
			for _, f := range r.Findings {
				if f.Claim == claim {
					verdicts = append(verdicts, encode.VerdictText(f))
				}
			}
			row = append(row, cmp.Or(strings.Join(verdicts, "\n"), results.NoValue))
		}
		t.Row(row...)
	}
	return t
}

// badgeClass is the class for a verdict or a status.
func badgeClass(v string) string {
	if slices.Contains([]string{results.Holds, results.Fails, results.Inconclusive, results.Failed}, v) {
		return v
	}
	return "none"
}
