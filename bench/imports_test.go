package bench

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed is which packages of this module each may import. One that is not listed may
// import none. No suite imports another, and the core knows none of them.
var allowed = map[string]string{
	"results":          "bench/theory",
	"results/encode":   "results bench/theory",
	"results/compare":  "results results/encode bench/theory",
	"results/chart":    "results bench/theory",
	"results/page":     "results results/encode results/compare results/chart bench/theory",
	"bench/host":       "results bench/theory",
	"bench/pagecache":  "results bench/host",
	"loader":           "bench/theory bench/pace loader/decode loader/transform bench/hostmem",
	"loader/decode":    "bench/sharedlib",
	"loader/s3":        "loader",
	"loader/s3/s3test": "",
	"loader/transform": "loader/decode",
	"loader/synth":     "bench/theory loader loader/decode loader/transform",
	"cuda":             "bench/theory bench/pace bench/sharedlib bench/hostmem",
	"bench": suite + " bench/host bench/pace bench/pagecache loader loader/decode loader/s3 loader/synth " +
		"cuda",
	"bench/pcie":       suite + " bench bench/host cuda loader/transform bench/hostmem",
	"bench/disk":       suite + " bench bench/pace bench/pagecache loader",
	"bench/preprocess": suite + " bench bench/host loader loader/decode loader/transform bench/hostmem",
	"bench/pipeline":   suite + " bench bench/pace bench/pagecache cuda loader loader/transform",
	"bench/advise":     "results bench/theory",
	"bench/external":   suite + " bench loader loader/transform",
	"bench/suites":     "bench bench/pcie bench/disk bench/preprocess bench/pipeline bench/external",
	"bench/benchtest":  suite + " bench bench/pace cuda cuda/fakecuda loader",
	"scripts/ratios":   "results",
	"cmd/dlbench": suite + " cuda loader loader/decode loader/s3 loader/synth bench bench/advise bench/cluster " +
		"bench/external bench/suites results/encode results/compare results/chart results/page",
}

// suite is what every suite imports, and what all of them share.
const suite = "results bench/theory"

// only is who alone may import what, by the prefix of what is imported.
var only = map[string]string{
	"gonum.org/v1/plot":            "results/chart",
	"github.com/ebitengine/purego": "cuda loader/decode bench/sharedlib",
	"github.com/spf13/":            "cmd/dlbench",
	"testing":                      "cuda/fakecuda bench/benchtest loader/s3/s3test results/golden",
	"dlbench/bench/benchtest":      "",
	"dlbench/loader/s3/s3test":     "",
	"dlbench/results/golden":       "",
}

func TestImportRules(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command: the import rules are checked where there is one")
	}
	format := `{{if .Module}}{{.ImportPath}}: {{join .Imports " "}}{{end}}`
	out, err := exec.Command(goTool, "list", "-deps", "-f", format, "dlbench/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		pkg, ours := strings.CutPrefix(path, "dlbench/")
		if !ours {
			continue
		}
		for _, i := range strings.Fields(imports) {
			if own, ok := strings.CutPrefix(i, "dlbench/"); ok && !slices.Contains(strings.Fields(allowed[pkg]), own) {
				t.Errorf("%s imports %s", pkg, own)
			}
			for prefix, who := range only {
				if strings.HasPrefix(i, prefix) && !slices.Contains(strings.Fields(who), pkg) {
					t.Errorf("%s imports %s, which only these may: %s", pkg, i, who)
				}
			}
		}
	}
}
