package encode

import (
	"strings"
	"testing"

	"dlbench/results"
)

// Each finding has a line, the article's claims first and by their numbers, with the reason
// where nothing was measured.
func TestClaims(t *testing.T) {
	r := &results.Report{Findings: []results.Finding{
		{Claim: "feeds", Verdict: results.Holds, Text: "700 images/s"},
		{Claim: "B4", Verdict: results.Holds, Text: "loading"},
		{Claim: "A10", Verdict: results.Holds, Text: "fast. More of it", Assumed: []string{"disk"}},
		{Claim: "", Verdict: results.Holds, Text: "unnamed"},
		{Claim: "A6", Verdict: results.NotMeasured, Text: "there is one GPU"},
	}}
	var b strings.Builder
	if err := Claims(&b, r, 0); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"A6 several GPUs: not measured: there is one GPU\n",
		"A10 solid-state disks: holds, simulated disk: fast\n",
		"B4 ", "feeds ", "Dettmers"} {
		i := strings.Index(b.String(), want)
		if i < at {
			t.Errorf("%q is missing or in another place:\n%s", want, b.String())
		}
		at = i
	}
	if n := strings.Count(b.String(), "\n"); n != len(r.Findings)+1 {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
	b.Reset()
	if err := Claims(&b, &results.Report{}, 0); err != nil || !strings.Contains(b.String(), "run more suites") {
		t.Errorf("without findings: %v, %q", err, b.String())
	}
}
