package encode

import (
	"strings"
	"testing"

	"dlbench/results"
)

// Each claim of the articles has a line, in their order: what was found of it, or the true reason
// why nothing was. What else was found follows.
func TestClaims(t *testing.T) {
	r := &results.Report{Config: results.Config{Suites: []string{"pcie", "disk"}}, Findings: []results.Finding{
		{Claim: "feeds", Verdict: results.Holds, Text: "700 images/s"},
		{Claim: "B4", Verdict: results.Holds, Text: "loading"},
		{Claim: "A10", Verdict: results.Holds, Text: "fast. More of it", Assumed: []string{"disk"}},
		{Claim: "A10", Verdict: results.Fails, Text: "slow"},
		{Claim: "Z1", Verdict: results.Holds, Text: "newer"},
		{Claim: "A6", Verdict: results.NotMeasured, Text: "there is one GPU"},
	}, Results: []results.Result{{Suite: "pcie", Status: results.OK, Assumed: []string{"link"}}}}
	var b strings.Builder
	if err := Claims(&b, r, 0); err != nil {
		t.Fatal(err)
	}
	rest := b.String()
	for _, want := range []string{
		"A1 (a batch takes 1.1, 2.3, 4.5 ms over 16, 8, 4 lanes, in practice twice that): " +
			"not measured: with a simulated link it would say nothing about hardware\n",
		"A2 (16 lanes instead of 4 gain 3.2 %): not measured: the suite pipeline was not run\n",
		"): not measured: there is one GPU\n",
		"A9 (a batch from a 100 MB/s disk takes 185 ms; loading ahead hides it): not measured: the suite disk had no case for it\n",
		"A10 (SATA3 gives 600 MB/s, M.2 3.4 GB/s; an SSD is for comfort): holds, simulated disk: fast\n", "A10 (", "A11 (",
		"needs no measurement: dlbench theory\n", "B3 (", "B4 (", "): holds: loading\n",
		"feeds (what the loader feeds): holds: 700 images/s\n", "Z1: holds: newer\n", "Dettmers",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing or in another place:\n%s", want, b.String())
		}
		rest = after
	}
	for _, c := range results.Claims {
		if c.Sentence != "" && !strings.Contains("\n"+b.String(), "\n"+c.ID+" (") {
			t.Errorf("%s has no line", c.ID)
		}
	}
	r.Status = results.Interrupted
	if why := results.ClaimOf("A9").Silence(r); why != "not measured: the run was interrupted" {
		t.Errorf("after an interrupted run: %s", why)
	}
}
