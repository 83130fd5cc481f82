package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
	"dlbench/results/compare"
)

// fixture is a report of a case per memory kind, factor times as slow as one's own,
// saved at path.
func fixture(t *testing.T, path string, factor float64, change func(*results.Report)) string {
	t.Helper()
	rep := &results.Report{SchemaVersion: results.SchemaVersion, Status: results.Complete,
		Tool: results.Tool{Name: "dlbench", Version: "v1"},
		Host: results.Host{OS: "linux", CPU: results.CPU{Model: "EPYC"}}}
	for k, mem := range []string{"pinned", "pageable"} {
		p := results.Params{{Key: "device", Value: "cuda:0"}, {Key: "mem", Value: mem}}
		m := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower}
		for i := range 20 {
			value := 0.002 * float64(1+k) * factor * (1 + 0.0001*float64(i*7%20))
			m.Samples = append(m.Samples, results.Sample{Value: value, N: 1, T: float64(i)})
		}
		results.Summarize(&m, results.SummaryOptions{})
		rep.Results = append(rep.Results, results.Result{Suite: "pcie", Name: p.Name("pcie"), Params: p,
			Status: results.OK, Metrics: []results.Metric{m}})
	}
	if change != nil {
		change(rep)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), results.Save(path, rep)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareFailOn(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name+".json") }
	base := fixture(t, path("base"), 1, nil)
	assumed := fixture(t, path("assumed"), 1, func(r *results.Report) { r.Results[0].Assumed = []string{"link"} })
	for _, test := range []struct {
		name, base, file, on string
		code                 int
		want                 string
	}{
		{"slower", base, fixture(t, path("slow"), 1.1, nil), "5%", exitRegression,
			"2 regressions, first slow: time of pcie/device=cuda:0/mem=pinned is worse: 1.100"},
		{"slower, without the sign", base, path("slow"), "5", exitRegression, "--fail-on 5%"},
		{"less than that", base, path("slow"), "15%", exitOK, ""},
		{"near it", base, path("slow"), "9.95 %", exitOK, ""},
		{"the same", base, fixture(t, path("same"), 1.0001, nil), "0", exitOK, ""},
		{"assumed", base, assumed, "5%", exitRegression, "assumed: pcie/device=cuda:0/mem=pinned is simulated"},
		{"measured instead of assumed", assumed, base, "5%", exitOK, ""},
		{"all missing", base, fixture(t, path("gone"), 1, func(r *results.Report) { r.Results = nil }), "5%",
			exitRegression, "no case in common"},
	} {
		code, stdout, stderr := dlbench(t, "compare", test.base, test.file, "--fail-on", test.on)
		if code != test.code || test.want != "" && !oneLineOf(stderr, test.want) || test.want == "" && stderr != "" {
			t.Errorf("%s: exit %d, %q; want %d, %q", test.name, code, stderr, test.code, test.want)
		}
		if stdout == "" && test.name != "all missing" {
			t.Errorf("%s: nothing printed", test.name)
		}
	}
	// Nothing is lost where the base measured nothing, but nothing is shown either.
	allAssumed := fixture(t, path("all-assumed"), 1, func(r *results.Report) {
		for i := range r.Results {
			r.Results[i].Assumed = []string{"link"}
		}
	})
	for _, args := range [][]string{
		{path("gone"), base}, {allAssumed, path("gone")}, {base, path("gone"), "--base", "gone"},
	} {
		args = append([]string{"compare", "--fail-on", "5%"}, args...)
		refuses(t, exitFailed, args, "gone has no case", "suite in common") // nothing measured by the base
	}
	refuses(t, exitFailed, []string{"compare", base, path("gone")}, "no case in common")
}

// A report is called by its label, what its run was called, or the directory or file that it is in.
func TestCompareLabels(t *testing.T) {
	dir := t.TempDir()
	rig := func(r *results.Report) { r.Label = "rig" }
	a := fixture(t, filepath.Join(dir, "run-1", "report.json"), 1, nil)
	b := fixture(t, filepath.Join(dir, "x.json"), 1, nil)
	c := fixture(t, filepath.Join(dir, "c.json"), 1.2, rig)
	d := fixture(t, filepath.Join(dir, "d=1.json"), 1, rig)
	code, stdout, stderr := dlbench(t, "compare", "--format", "json", filepath.Dir(a), b, c, d, "rig="+b)
	var got compare.Comparison
	if err := json.Unmarshal([]byte(stdout), &got); code != exitOK || err != nil {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	var labels []string
	for _, s := range got.Sides {
		labels = append(labels, s.Label)
	}
	if want := []string{"run-1", "x", "rig (2)", "rig (3)", "rig"}; !slices.Equal(labels, want) {
		t.Errorf("labels %q, want %q", labels, want)
	}
	code, stdout, stderr = in(t, "compare", filepath.Dir(a), c)
	for _, want := range []string{"rig against run-1\n", "1.200  1.19", "worse", "--repeat 5"} {
		if code != exitOK || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, %s; no %q in\n%s", code, stderr, want, stdout)
		}
	}
}

// What is wrong with a report is said with its name.
func TestWhatIsNoReportIsRefused(t *testing.T) {
	dir := t.TempDir()
	good := fixture(t, filepath.Join(dir, "good.json"), 1, nil)
	twice := fixture(t, filepath.Join(dir, "twice.json"), 1,
		func(r *results.Report) { r.Results[1].Name = r.Results[0].Name })
	for name, text := range map[string]string{
		"newer.json": `{"schema_version": 99, "status": "complete"}`,
		"cut off":    string(mustRead(t, good)[:1000]),
		"other.json": `{"name": "something else"}`,
		"many.json": `{"schema_version":1,"status":"complete","results":[{"samples":[` +
			strings.Repeat("{},", results.MaxEntries) + `{}]}]}`,
	} {
		path := save(t, dir, name, text)
		for _, args := range [][]string{{"compare", good, path}, {"plot", path}, {"report", path}, {"whatif", path}} {
			refuses(t, exitFailed, args, name)
		}
	}
	for _, command := range []string{"plot", "report", "whatif"} {
		refuses(t, exitUsage, []string{command, filepath.Join(dir, "missing.json")}, "missing.json", "no such file")
	}
	refuses(t, exitFailed, []string{"compare", good, twice}, "twice: two results are named")
	other := fixture(t, filepath.Join(dir, "xeon.json"), 1, func(r *results.Report) { r.Host.CPU.Model = "Xeon" })
	args := []string{"compare", "old=" + other, "new=" + good, "new=" + other}
	refuses(t, exitFailed, args, "new: not runs of one machine", "CPU is EPYC and Xeon")
}
