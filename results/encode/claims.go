package encode

import (
	"cmp"
	"io"
	"strings"

	"dlbench/results"
)

// Claims writes a line for each claim of the articles, and for what else r has a finding: what the
// article says, and what was found, or why nothing was.
func Claims(w io.Writer, r *results.Report, width int) error {
	var lines []string
	said := map[string]bool{}
	for _, c := range results.Claims {
		for _, f := range r.Findings {
			if f.Claim == c.ID {
				lines, said[c.ID] = append(lines, claimLine(f)), true
			}
		}
		if !said[c.ID] && c.Sentence != "" {
			lines = append(lines, headOf(c)+": "+c.Silence(r))
		}
	}
	for _, f := range r.Findings { // of a newer dlbench
		if !said[f.Claim] {
			lines = append(lines, claimLine(f))
		}
	}
	lines = append(lines, "Claims A are those of Tim Dettmers, A Full Hardware Guide to Deep Learning, claims B those of "+
		"Jeff Chen on building a machine instead of renting one; how each is judged: dlbench help claims; in full: "+
		"dlbench show --full")
	return WriteText(w, width, Section("", lines...))
}

// headOf is "A7 (2 cores a GPU ...)", or "feeds (how fast ...)".
func headOf(c results.Claim) string {
	if about := cmp.Or(c.Sentence, c.Title); about != "" {
		return results.Plain(c.ID) + " (" + about + ")"
	}
	return results.Plain(c.ID)
}

// claimLine is "A7 (2 cores a GPU ...): holds: with 2 threads ...", the first sentence of what was
// found, or the whole reason why nothing was.
func claimLine(f results.Finding) string {
	text := results.Plain(f.Text)
	if f.Verdict != results.NotMeasured {
		text, _, _ = strings.Cut(text, "; ")
		text, _, _ = strings.Cut(text, ". ")
	}
	return headOf(results.ClaimOf(f.Claim)) + ": " + VerdictText(f) + ": " + text
}
