package bench

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed is who may import whom, of this module. A package that is not listed
// may import nothing of it.
var allowed = map[string][]string{
	"dlbench/bench/theory":     {},
	"dlbench/bench/pace":       {},
	"dlbench/results":          {},
	"dlbench/bench/host":       {"dlbench/results", "dlbench/bench/theory"},
	"dlbench/cuda":             {"dlbench/bench/theory", "dlbench/bench/pace"},
	"dlbench/cuda/fakecuda":    {},
	"dlbench/results/chart":    {"dlbench/results", "dlbench/bench/theory"},
	"dlbench/results/page":     {"dlbench/results", "dlbench/bench/theory"},
	"dlbench/loader":           {"dlbench/bench/theory", "dlbench/bench/pace", "dlbench/loader/decode", "dlbench/loader/transform"},
	"dlbench/loader/decode":    {},
	"dlbench/loader/transform": {"dlbench/loader/decode"},
	"dlbench/loader/synth":     {"dlbench/bench/theory", "dlbench/loader", "dlbench/loader/transform"},
	"dlbench/bench": {"dlbench/bench/theory", "dlbench/bench/pace", "dlbench/bench/host", "dlbench/results",
		"dlbench/cuda", "dlbench/loader", "dlbench/loader/decode", "dlbench/loader/transform", "dlbench/loader/synth"},
	"dlbench/scripts/comparecheck": {"dlbench/results"},
	"dlbench/scripts/peers":        {"dlbench/bench/host", "dlbench/results", "dlbench/loader", "dlbench/loader/decode", "dlbench/loader/transform"},
	"dlbench/cmd/dlbench": {"dlbench/bench", "dlbench/bench/theory", "dlbench/bench/pace", "dlbench/bench/host", "dlbench/results",
		"dlbench/results/chart", "dlbench/results/page", "dlbench/cuda", "dlbench/loader", "dlbench/loader/decode", "dlbench/loader/transform", "dlbench/loader/synth"},
}

// only is who alone may import what from outside, by the longest prefix.
var only = map[string][]string{
	"gonum.org/v1/plot":            {"dlbench/results/chart"},
	"github.com/ebitengine/purego": {"dlbench/cuda", "dlbench/loader/decode"},
	"github.com/spf13/":            {"dlbench/cmd/dlbench"},
	"testing":                      {"dlbench/cuda/fakecuda"},
}

func TestImportRules(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command: the import rules are checked where there is one")
	}
	out, err := exec.Command(goTool, "list", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", "dlbench/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		for _, i := range strings.Fields(imports) {
			if strings.HasPrefix(i, "dlbench/") && !slices.Contains(allowed[pkg], i) {
				t.Errorf("%s imports %s", pkg, i)
			}
			for prefix, who := range only {
				if strings.HasPrefix(i, prefix) && !slices.Contains(who, pkg) {
					t.Errorf("%s imports %s, which only %s may", pkg, i, strings.Join(who, " and "))
				}
			}
		}
	}
}
