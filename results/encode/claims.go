package encode

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"dlbench/results"
)

// Claims writes what a report says of each claim that it has a finding for, a line each, the
// article's claims first: what was found, or why it was not measured.
func Claims(w io.Writer, r *results.Report, width int) error {
	if len(r.Findings) == 0 {
		const nothing = "nothing in this report says anything of a claim: run more suites (dlbench help claims)"
		return WriteText(w, width, Section("", nothing))
	}
	byClaim := func(a, b results.Finding) int {
		groupA, numberA := claimPlace(a.Claim)
		groupB, numberB := claimPlace(b.Claim)
		return cmp.Or(cmp.Compare(groupA, groupB), cmp.Compare(numberA, numberB))
	}
	var lines []string
	for _, f := range slices.SortedStableFunc(slices.Values(r.Findings), byClaim) {
		lines = append(lines, claimLine(f))
	}
	lines = append(lines, "Claims A are those of Tim Dettmers, A Full Hardware Guide to Deep Learning; how each is "+
		"judged: dlbench help claims; in full: dlbench show --full")
	return WriteText(w, width, Section("", lines...))
}

// claimLine is "A7 cores for preprocessing: holds: with 2 threads ...", the first sentence of
// what was found, or the whole reason why nothing was.
func claimLine(f results.Finding) string {
	title := strings.TrimSpace(results.Plain(f.Claim) + " " + results.ClaimTitle(f.Claim))
	text := results.Plain(f.Text)
	if f.Verdict != results.NotMeasured {
		text, _, _ = strings.Cut(text, "; ")
		text, _, _ = strings.Cut(text, ". ")
	}
	verdict := strings.ReplaceAll(results.Plain(f.Verdict), "-", " ")
	if len(f.Assumed) > 0 {
		verdict += ", simulated " + results.Plain(strings.Join(f.Assumed, " and "))
	}
	return title + ": " + verdict + ": " + text
}

// claimPlace is "A" and 9 for A9; what is no claim of an article comes last.
func claimPlace(id string) (group string, number int) {
	if id != "" {
		if n, err := strconv.Atoi(id[1:]); err == nil {
			return id[:1], n
		}
	}
	return "~", 0
}
