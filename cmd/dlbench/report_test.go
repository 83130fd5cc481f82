package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// pageInputs makes a directory with a report and several files that are none, and
// returns it.
func pageInputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	whole, err := os.ReadFile("../../results/testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"report.json": string(whole),
		"cut.json":    string(whole[:len(whole)/2]),
		"newer.json":  `{"schema_version": 99}`,
		"other.json":  `{"a": 1}`,
		"no.json":     "<html>",
		"empty.json":  `{"schema_version": 1, "status": "complete", "results": []}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReport(t *testing.T) {
	dir := pageInputs(t)
	page := func(file string, want ...string) {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range append(want, "<!DOCTYPE html>", "</html>") {
			if !strings.Contains(string(b), w) {
				t.Errorf("%s: no %q", file, w)
			}
		}
	}
	code, stdout, stderr := dlbench(t, "report", dir)
	if code != exitOK || stdout != "report.html\n" || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	page("report.html", "<h1>dlbench: workstation | bench</h1>", "Time to copy one batch to the GPU, assumed link", "<svg role=", `download="report.json"`)

	code, stdout, stderr = dlbench(t, "report", filepath.Join(dir, "report.json"), filepath.Join(dir, "empty.json"), "-o", filepath.Join(dir, "two.html"))
	if code != exitOK || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	page(filepath.Join(dir, "two.html"), "<h1>dlbench: 2 reports</h1>", "No results at all")
}

func TestReportToStdout(t *testing.T) {
	in, err := os.Open(filepath.Join(pageInputs(t), "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	t.Chdir(t.TempDir())
	root := newRoot()
	var out, errs bytes.Buffer
	root.SetArgs([]string{"report", "-", "-o", "-"})
	root.SetIn(in)
	root.SetOut(&out)
	root.SetErr(&errs)
	if err := root.ExecuteContext(t.Context()); err != nil || errs.Len() > 0 {
		t.Fatalf("%v, %s", err, errs.String())
	}
	if !strings.HasPrefix(out.String(), "<!DOCTYPE html>") || !strings.HasSuffix(out.String(), "</html>\n") {
		t.Errorf("%.60q is no page", out.String())
	}
	if entries, _ := os.ReadDir("."); len(entries) > 0 {
		t.Errorf("left %v behind", entries)
	}
}

func TestReportRefuses(t *testing.T) {
	dir := pageInputs(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{at("cut.json")}, exitFailed, []string{"cut.json", "cut off at byte"}},
		{[]string{at("newer.json")}, exitFailed, []string{"newer.json", "newer dlbench", "schema 99"}},
		{[]string{at("other.json")}, exitFailed, []string{"other.json", "not a dlbench report"}},
		{[]string{at("no.json")}, exitFailed, []string{"no.json", "not a dlbench report"}},
		{[]string{dir, at("missing.json")}, exitFailed, []string{"missing.json", "no such file"}},
		{[]string{dir, "-o", dir}, exitFailed, []string{dir, "is a directory"}},
		{[]string{dir, "-o", at("no/page.html")}, exitFailed, []string{"page.html", "no such file"}},
		{[]string{dir, "-o", at("report.json")}, exitUsage, []string{"-o", "report.json", "another file"}},
		{nil, exitUsage, []string{"no report given: want [LABEL=]REPORT"}},
	} {
		before, _ := os.ReadFile(at("report.json"))
		code, stdout, stderr := dlbench(t, append([]string{"report"}, c.args...)...)
		if code != c.code || !oneLineOf(stderr, c.want...) || stdout != "" {
			t.Errorf("report %q: exit %d, stderr %q, stdout %q; want exit %d and one line with %q", c.args, code, stderr, stdout, c.code, c.want)
		}
		if after, _ := os.ReadFile(at("report.json")); !bytes.Equal(before, after) {
			t.Errorf("report %q changed its report", c.args)
		}
		if entries, _ := os.ReadDir("."); len(entries) > 0 {
			t.Errorf("report %q left %v behind", c.args, entries)
		}
	}
}

// TestReportHostileLabel follows a label through the charts into the page.
func TestReportHostileLabel(t *testing.T) {
	const label = `</text></svg><script>alert(1)</script>"'&<img src=x onerror=alert(2)>`
	rep, err := results.ReadFile("../../results/testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	rep.Label, rep.Host.CPU.Model = label, label
	var b bytes.Buffer
	left, err := writePage(t.Context(), &b, []*results.Report{rep, rep})
	if err != nil || len(left) > 0 {
		t.Fatalf("%v, left %q", err, left)
	}
	_, charts, _ := strings.Cut(b.String(), `<section id="charts">`)
	charts, _, _ = strings.Cut(charts, "</section>")
	if !strings.Contains(charts, "&lt;script&gt;alert(1)") && !strings.Contains(charts, "&lt;/text&gt;") {
		t.Error("the label is in no chart")
	}
	for _, bad := range []string{"<script", "<img", "<?xml"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("%q in the page", bad)
		}
	}
}

func TestReportOfMany(t *testing.T) {
	dir := pageInputs(t)
	args := append([]string{"report"}, slices.Repeat([]string{dir}, 10)...)
	code, stdout, stderr := dlbench(t, args...)
	if want := "left out: Charts show the first 8 of the 10 reports: one picture compares no more.\n"; code != exitOK || stdout != "report.html\n" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
	}
	page, err := os.ReadFile("report.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Charts show the first 8 of the 10 reports", "(10)", "<svg"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("no %q", want)
		}
	}
}

// BenchmarkReport writes the page of ten reports of 300 cases.
func BenchmarkReport(b *testing.B) {
	rep, err := results.ReadFile("../../results/published/disk-virtio/report.json")
	if err != nil {
		b.Fatal(err)
	}
	var reps []*results.Report
	for i := range 10 {
		r := *rep
		r.Label, r.Results = fmt.Sprint("machine ", i), nil
		for k := 0; len(r.Results) < 300; k++ {
			res := rep.Results[k%len(rep.Results)]
			res.Params = res.Params.With("set", int64(k/len(rep.Results)))
			res.Name = res.Params.Name(res.Suite)
			r.Results = append(r.Results, res)
		}
		reps = append(reps, &r)
	}
	var page bytes.Buffer
	for b.Loop() {
		page.Reset()
		if _, err := writePage(context.Background(), &page, reps); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(page.Len()), "B/page")
}
