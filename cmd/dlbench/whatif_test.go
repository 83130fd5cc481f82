package main

import (
	"strings"
	"testing"
)

// What changes bring is printed with what they cost and what is assumed; TestContractNumbers
// holds the figures.
func TestWhatIf(t *testing.T) {
	code, stdout, stderr := in(t, "whatif", v1Report, "--cores", "8", "--link", "gen4x8")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"8 cores instead of 2", "824.5 /s", "link Gen4 x8 and 8 cores", "extrapolated",
		"purchase", "assumed, not measured: link"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	refuses(t, exitFailed, []string{"whatif", v1Report, "--tar"},
		"v1.json: tar shards: needs the disk suite: dlbench run --suite disk,pipeline")
}
