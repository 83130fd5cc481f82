package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
	"dlbench/results/chart"
)

// workstation is a report of all suites.
const workstation = "../../results/testdata/report.json"

// pageInputs makes a directory with a report and one without results, and returns it.
func pageInputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	save(t, dir, "report.json", string(mustRead(t, workstation)))
	save(t, dir, "empty.json", `{"schema_version": 1, "status": "complete", "results": []}`)
	return dir
}

// A page of one report, of several and of one from standard input stands where it should, and
// nothing else does.
func TestReport(t *testing.T) {
	dir := pageInputs(t)
	for _, c := range []struct {
		args           []string
		file           string // "" for standard output
		stdout, stderr string
		want           []string
	}{
		{[]string{dir}, "report.html", "report.html\n", "",
			[]string{"<h1>dlbench: workstation | bench, ", "show mainly what was simulated", `download="report.json"`}},
		{[]string{dir, filepath.Join(dir, "empty.json"), "-o", "two.html"}, "two.html", "two.html\n", "",
			[]string{"<h1>dlbench: 2 reports compared</h1>", "No results at all"}},
		{slices.Repeat([]string{dir}, 10), "report.html", "report.html\n",
			"left out: Charts show the first 8 of the 10 reports: one picture compares no more.\n", nil},
		{[]string{"-", "-o", "-"}, "", "", "", []string{"<h1>dlbench: workstation | bench, "}},
	} {
		t.Chdir(t.TempDir())
		stdin := bytes.NewReader(mustRead(t, filepath.Join(dir, "report.json")))
		var out, errs bytes.Buffer
		code := execute(t.Context(), append([]string{"report"}, c.args...), stdin, &out, &errs)
		page := out.String()
		entries, _ := os.ReadDir(".")
		if c.file != "" {
			page = string(mustRead(t, c.file))
			entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == c.file })
		}
		if code != exitOK || errs.String() != c.stderr || c.file != "" && out.String() != c.stdout || len(entries) > 0 {
			t.Errorf("report %q: exit %d, %.60q, stderr %q, left %v", c.args, code, out.String(), errs.String(), entries)
		}
		if !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("report %q: %.60q is no page", c.args, page)
		}
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("report %q: no %q", c.args, want)
			}
		}
	}
}

func TestReportRefuses(t *testing.T) {
	dir := pageInputs(t)
	before := mustRead(t, filepath.Join(dir, "report.json"))
	for _, c := range []struct {
		output string
		code   int
		want   []string
	}{
		{dir, exitFailed, []string{dir, "is a directory"}},
		{filepath.Join(dir, "no/page.html"), exitFailed, []string{"page.html", "no such file"}},
		{filepath.Join(dir, "report.json"), exitUsage, []string{"-o", "report.json", "another file"}},
	} {
		refuses(t, c.code, []string{"report", dir, "-o", c.output}, c.want...)
	}
	if !bytes.Equal(before, mustRead(t, filepath.Join(dir, "report.json"))) {
		t.Error("the report was changed")
	}
	nine := slices.Repeat([]string{workstation}, 9)
	refuses(t, exitUsage, append([]string{"plot", "-o", t.TempDir()}, nine...), "9 reports: charts compare up to 8")
}

// Nothing may come from a pipe for ever: an interrupt ends all that read from one.
func TestInterruptWhileReading(t *testing.T) {
	file := filepath.Join(pageInputs(t), "report.json")
	for _, args := range [][]string{{"compare", file, "-"}, {"plot", "-"}, {"report", file, "-"}, {"whatif", "-"},
		{"show", "-"}} {
		t.Chdir(t.TempDir())
		in, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			out.Write([]byte("{")) // returns once it is read
			cancel()
		}()
		var errs bytes.Buffer
		code := execute(ctx, args, in, io.Discard, &errs)
		if code != exitInterrupted || errs.String() != "dlbench: interrupted\n" {
			t.Errorf("%s: exit %d, %q", args[0], code, errs.String())
		}
		if entries, _ := os.ReadDir("."); len(entries) > 0 {
			t.Errorf("%s left %v", args[0], entries)
		}
		out.Close() // ends the reading
	}
}

// What keeps all charts from being written, such as a full disk, is said once.
func TestChartsThatCannotBeWritten(t *testing.T) {
	rep, err := results.ReadFile(workstation)
	if err != nil {
		t.Fatal(err)
	}
	dir, charts := t.TempDir(), chart.Charts([]*results.Report{rep})
	for _, c := range charts {
		save(t, dir, c.Name+".svg/in the way", "")
	}
	files, err := saveCharts(t.Context(), charts, dir, "svg")
	if err == nil || strings.Contains(err.Error(), "\n") || len(charts) < 2 || len(files) > 0 {
		t.Errorf("%d charts, %d drawn: %v", len(charts), len(files), err)
	}
}

func TestInterruptWhileDrawing(t *testing.T) {
	rep, err := results.ReadFile(workstation)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	files, err := saveCharts(ctx, chart.Charts([]*results.Report{rep}), dir, "svg")
	if entries, _ := os.ReadDir(dir); exitCode(ctx, err) != exitInterrupted || len(files)+len(entries) > 0 {
		t.Errorf("charts %v, %v, %v", files, entries, err)
	}
}
