package page

import (
	"slices"
	"strings"

	"dlbench/results"
)

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
