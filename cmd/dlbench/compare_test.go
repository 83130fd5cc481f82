package main

import (
	"encoding/json"
	"errors"
	"fmt"
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
			m.Add(results.Sample{Value: value, N: 1, T: float64(i)})
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

func TestCompareFormats(t *testing.T) {
	dir := t.TempDir()
	a := fixture(t, filepath.Join(dir, "before", "report.json"), 1, nil)
	b := fixture(t, filepath.Join(dir, "after", "report.json"), 1.2, func(r *results.Report) { r.Label = "tuned" })
	for format, want := range map[string][]string{
		"text":     {"tuned against before\n", "1.200 1.19", "worse", "--repeat 5"},
		"json":     {`"comparison_version": 1`, `"verdict": "worse"`},
		"csv":      {"suite,base,label,", "pcie,before,tuned,", ",worse,"},
		"markdown": {"### pcie: device cuda:0", "| worse |"},
	} {
		code, stdout, stderr := dlbench(t, "compare", filepath.Dir(a), b, "--format", format)
		if code != exitOK || stderr != "" {
			t.Errorf("%s: exit %d, %s", format, code, stderr)
		}
		for _, w := range want {
			if !strings.Contains(stdout, w) {
				t.Errorf("%s: no %q in\n%s", format, w, stdout)
			}
		}
	}
}

func TestCompareFailOn(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name+".json") }
	base := fixture(t, path("base"), 1, nil)
	first := func(change func(*results.Result)) func(*results.Report) {
		return func(r *results.Report) { change(&r.Results[0]) }
	}
	for _, test := range []struct {
		name string
		file string
		on   string
		code int
		want string
	}{
		{"slower", fixture(t, path("slow"), 1.1, nil), "5%", exitRegression,
			"2 regressions, first slow: time of pcie/device=cuda:0/mem=pinned is worse: 1.100"},
		{"slower, without the sign", path("slow"), "5", exitRegression, "--fail-on 5%"},
		{"less than that", path("slow"), "15%", exitOK, ""},
		{"near it", path("slow"), "9.95 %", exitOK, ""},
		{"faster", fixture(t, path("fast"), 0.8, nil), "5%", exitOK, ""},
		{"the same", fixture(t, path("same"), 1.0001, nil), "0", exitOK, ""},
		{"assumed", fixture(t, path("assumed"), 1, first(func(r *results.Result) { r.Assumed = []string{"link"} })),
			"5%", exitRegression, "assumed: pcie/device=cuda:0/mem=pinned is assumed"},
		{"failed", fixture(t, path("failed"), 1, first(func(r *results.Result) {
			r.Status, r.Reason = results.Failed, "700"
		})), "5%", exitRegression, "pinned failed: 700"},
		{"skipped", fixture(t, path("skipped"), 1, first(func(r *results.Result) { r.Status = results.Skipped })),
			"5%", exitRegression, "pinned skipped"},
		{"missing", fixture(t, path("missing"), 1, func(r *results.Report) { r.Results = r.Results[1:] }), "5%",
			exitRegression, "pinned is missing"},
		{"all missing", fixture(t, path("gone"), 1, func(r *results.Report) { r.Results = nil }), "5%",
			exitRegression, "no case in common"},
	} {
		code, stdout, stderr := dlbench(t, "compare", base, test.file, "--fail-on", test.on)
		if code != test.code || test.want != "" && !oneLineOf(stderr, test.want) || test.want == "" && stderr != "" {
			t.Errorf("%s: exit %d, %q; want %d, %q", test.name, code, stderr, test.code, test.want)
		}
		if stdout == "" && test.name != "all missing" {
			t.Errorf("%s: nothing printed", test.name)
		}
	}
	// What the base assumed is no loss.
	if code, _, stderr := dlbench(t, "compare", path("assumed"), base, "--fail-on", "5%"); code != exitOK {
		t.Errorf("measured instead of assumed: exit %d, %s", code, stderr)
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

func TestCompareMergesOneLabel(t *testing.T) {
	dir := t.TempDir()
	args := []string{"compare", "--format", "json"}
	for i := range 5 {
		for label, factor := range map[string]float64{"old": 1, "new": 1.03} {
			args = append(args, label+"="+fixture(t, filepath.Join(dir, fmt.Sprint(label, i), "report.json"),
				factor*(1+0.0004*float64(i)), nil))
		}
	}
	code, stdout, stderr := dlbench(t, append(args, "--base", "old")...)
	var c compare.Comparison
	if err := json.Unmarshal([]byte(stdout), &c); code != exitOK || err != nil {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	s := c.Cases[0].Metrics[0].Sides[1]
	if len(c.Sides) != 2 || c.Sides[0].Label != "old" || c.Sides[0].Runs != 5 || s.Verdict != compare.Worse ||
		s.Runs != 5 {
		t.Errorf("sides %+v, %+v; want 5 runs each, worse", c.Sides, s)
	}
	for _, note := range c.Notes {
		if strings.Contains(note, "single runs") {
			t.Errorf("note %q of 5 runs", note)
		}
	}
	other := fixture(t, filepath.Join(dir, "xeon.json"), 1, func(r *results.Report) { r.Host.CPU.Model = "Xeon" })
	args = []string{"compare", "old=" + other, "new=" + filepath.Join(dir, "new0"), "new=" + other}
	refuses(t, exitFailed, args, "new: not runs of one machine", "CPU is EPYC and Xeon")
}

func TestCompareLabels(t *testing.T) {
	dir := t.TempDir()
	rig := func(r *results.Report) { r.Label = "rig" }
	a := fixture(t, filepath.Join(dir, "run-1", "report.json"), 1, nil)
	b := fixture(t, filepath.Join(dir, "x.json"), 1, nil)
	c := fixture(t, filepath.Join(dir, "c.json"), 1, rig)
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
}

func TestCompareUsageErrors(t *testing.T) {
	dir := t.TempDir()
	a := fixture(t, filepath.Join(dir, "a.json"), 1, nil)
	b := fixture(t, filepath.Join(dir, "b.json"), 1, func(r *results.Report) { r.Started = r.Started.Add(1) })
	for _, test := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"no report given: want [LABEL=]REPORT"}},
		{[]string{a}, []string{"at least two reports"}},
		{[]string{a, b, "--fail-on", "much"}, []string{"--fail-on", `"much"`, "5%"}},
		{[]string{a, b, "--fail-on", "-5%"}, []string{"--fail-on", `"-5%"`, "from 0"}},
		{[]string{a, b, "--fail-on", "NaN"}, []string{"--fail-on", `"NaN"`}},
		{[]string{a, b, "--fail-on", "Inf%"}, []string{"--fail-on", `"Inf%"`}},
		{[]string{a, b, "--by", "colour"}, []string{"--by colour", `"colour"`, "device, mem"}},
		{[]string{a, b, "--by", "device"}, []string{"--by device", "add mem"}},
		{[]string{a, b, "--base", "c"}, []string{"--base c", "want a, b"}},
		{[]string{a, b, "--format", "xml"}, []string{"--format", `"xml"`, "text, json, csv, markdown"}},
		{[]string{"=" + a, b}, []string{"LABEL=REPORT"}},
		{[]string{"x=", b}, []string{`"x="`, "LABEL=REPORT"}},
		{[]string{"-", "-"}, []string{"standard input"}},
		{[]string{"x=" + a, "x=" + b}, []string{"different labels"}},
	} {
		refuses(t, exitUsage, append([]string{"compare"}, test.args...), test.want...)
	}
}

func TestWhatIsNoReportIsRefused(t *testing.T) {
	dir := t.TempDir()
	good := fixture(t, filepath.Join(dir, "good.json"), 1, nil)
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	twice := fixture(t, filepath.Join(dir, "twice.json"), 1,
		func(r *results.Report) { r.Results[1].Name = r.Results[0].Name })
	for name, text := range map[string]string{
		"newer.json":    `{"schema_version": 99, "status": "complete"}`,
		"cut off":       string(whole[:len(whole)/2]),
		"other.json":    `{"name": "something else"}`,
		"infinite.json": strings.Replace(string(whole), `"value": 0.002`, `"value": 1e999`, 1),
		"nan.json":      strings.Replace(string(whole), `"value": 0.002`, `"value": "NaN"`, 1),
		"many.json": `{"schema_version":1,"status":"complete","results":[{"samples":[` +
			strings.Repeat("{},", results.MaxEntries) + `{}]}]}`,
		"empty.json": "",
		"text.json":  "hello",
	} {
		path := save(t, dir, name, text)
		refuses(t, exitFailed, []string{"compare", good, path}, name)
		refuses(t, exitFailed, []string{"plot", path}, name)
	}
	refuses(t, exitFailed, []string{"plot", filepath.Join(dir, "missing.json")}, "missing.json")
	refuses(t, exitFailed, []string{"compare", good, twice}, "twice: two results are named")
}
