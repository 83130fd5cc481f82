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
	Predictions []prediction
}

// prediction is a results.Prediction as text.
type prediction struct{ Change, Metric, Predicted, Measured string }

// leads are the findings about the whole machine, which come first.
var leads = []string{"feeds", "bound", "B4"}

// rank is the place of a claim among leads, behind them for any other.
func rank(claim string) int {
	if i := slices.Index(leads, claim); i >= 0 {
		return i
	}
	return len(leads)
}

func newDocument(reports []*results.Report, o Options) *document {
	names := machineNames(reports)
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
	for _, p := range r.Predictions {
		s.Predictions = append(s.Predictions, prediction{p.Change, p.Metric, rangeText(p.Value, p.Lo, p.Hi, p.Unit), rangeText(p.Measured, nil, nil, p.Unit)})
	}
	return s
}

// rangeText is "1.543 ms (1.331..1.620 ms)", as much of it as there is.
func rangeText(v, lo, hi *float64, unit string) string {
	var parts []string
	if v != nil {
		parts = append(parts, results.FormatValue(*v, unit))
	}
	if lo != nil && hi != nil {
		s := results.FormatRange(*lo, *hi, unit)
		if v != nil {
			s = "(" + s + ")"
		}
		parts = append(parts, s)
	}
	return cmp.Or(strings.Join(parts, " "), results.NoValue)
}

// longestName bounds the name of a machine, in characters.
const longestName = 60

// machineNames names each report by its label or else its CPU, as the charts do; a
// name that is there already gets a number.
func machineNames(reports []*results.Report) []string {
	var names []string
	for _, r := range reports {
		text := func(s string) string { return strings.Join(strings.Fields(results.Plain(s)), " ") }
		name := cmp.Or(text(r.Label), text(r.Host.CPU.Model), "unnamed machine")
		if long := []rune(name); len(long) > longestName {
			name = string(long[:longestName-1]) + "…"
		}
		unique := name
		for i := 2; slices.Contains(names, unique); i++ {
			unique = fmt.Sprintf("%s (%d)", name, i)
		}
		names = append(names, unique)
	}
	return names
}

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

// took is how long a run lasted, "" where that is unknown.
func took(r *results.Report) string {
	if r.Started.IsZero() || !r.Finished.After(r.Started) {
		return ""
	}
	return r.Finished.Sub(r.Started).Round(time.Second).String()
}

// claim is what each report says of one claim.
type claim struct {
	ID, Title string
	Verdicts  [][]results.Finding // for each report; none where it does not speak of it
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
				all = append(all, claim{ID: f.Claim, Title: results.ClaimTitle(f.Claim), Verdicts: make([][]results.Finding, len(reports))})
			}
			all[k].Verdicts[i] = append(all[k].Verdicts[i], f)
		}
	}
	slices.SortStableFunc(all, func(a, b claim) int { return rank(a.ID) - rank(b.ID) })
	return all
}

// badgeClass is the class for a verdict or a status.
func badgeClass(v string) string {
	switch v {
	case results.Holds, results.Fails, results.Inconclusive, results.Failed:
		return v
	}
	return "none"
}

// verdictText is a verdict in words.
func verdictText(v string) string { return strings.ReplaceAll(results.Plain(v), "-", " ") }
