package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What changes bring is printed with whether it is enough, by default of the last run;
// TestContractNumbers holds the figures.
func TestWhatIf(t *testing.T) {
	code, stdout, stderr := in(t, "whatif", v1Report, "--cores", "8", "--link", "gen4x8")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"  8 cores ", "  feeds     824 images/s ", "Link Gen4 x8? No ", "extrapolated"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	refuses(t, exitFailed, []string{"whatif", v1Report, "--tar"},
		"v1.json: tar shards: needs the disk suite: dlbench run --suite disk,pipeline")
	report, err := filepath.Abs(v1Report)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	save(t, latest, "report.json", string(mustRead(t, report)))
	_, last, _ := in(t, "whatif", "--gpu", "a100", "--gpus", "8")
	for _, want := range []string{"  needs   16621 images/s ", "  GPUs        8           each gets ", "not enough",
		"enough for 0 of 8; 8 need ", "A faster disk? "} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in\n%s", want, last)
		}
	}
	_, said, _ := in(t, "whatif", "--need", "2500/s", "--cores", "16", "--format", "json")
	if !strings.Contains(said, `"enough": "yes"`) {
		t.Errorf("nothing is enough in\n%s", said)
	}
}

// A saved report's claims are a list, and its tables can be those of some suites.
func TestShowPartsOfAReport(t *testing.T) {
	for _, c := range []struct {
		args          []string
		want, without string
	}{
		{[]string{"--claims"}, "A7 (2 cores a GPU prepare images in time, 1 loads prepared ones): ", "threads  "},
		{[]string{"--suite", "preprocess"}, "\npreprocess", "\npipeline"},
		{[]string{"--suite", "preprocess", "--format", "csv"}, "preprocess", "pipeline"},
	} {
		code, stdout, stderr := in(t, append([]string{"show", v1Report}, c.args...)...)
		if code != exitOK || !strings.Contains(stdout, c.want) || strings.Contains(stdout, c.without) {
			t.Errorf("%q: exit %d, %q; want %q without %q in\n%s", c.args, code, stderr, c.want, c.without, stdout)
		}
	}
}
