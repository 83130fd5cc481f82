package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
	"dlbench/results/chart"
)

// pageInputs makes a directory with a report and one without results, and returns it.
func pageInputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	save(t, dir, "report.json", string(mustRead(t, "../../results/testdata/report.json")))
	save(t, dir, "empty.json", `{"schema_version": 1, "status": "complete", "results": []}`)
	return dir
}

func TestReport(t *testing.T) {
	dir := pageInputs(t)
	page := func(file string, want ...string) {
		t.Helper()
		text := string(mustRead(t, file))
		for _, w := range append(want, "<!DOCTYPE html>", "</html>") {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q", file, w)
			}
		}
	}
	code, stdout, stderr := dlbench(t, "report", dir)
	if code != exitOK || stdout != "report.html\n" || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	page("report.html", "<h1>dlbench: workstation | bench, ", "show mainly what was simulated", `download="report.json"`)

	code, stdout, stderr = dlbench(t, "report", filepath.Join(dir, "report.json"), filepath.Join(dir, "empty.json"),
		"-o", filepath.Join(dir, "two.html"))
	if code != exitOK || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	page(filepath.Join(dir, "two.html"), "<h1>dlbench: 2 reports compared</h1>", "No results at all")
}

func TestReportToStdout(t *testing.T) {
	in, err := os.Open(filepath.Join(pageInputs(t), "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	if code := execute(t.Context(), []string{"report", "-", "-o", "-"}, in, &out, &errs); code != exitOK ||
		errs.Len() > 0 {
		t.Fatalf("exit %d, %s", code, errs.String())
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
		{[]string{dir, "-o", dir}, exitFailed, []string{dir, "is a directory"}},
		{[]string{dir, "-o", at("no/page.html")}, exitFailed, []string{"page.html", "no such file"}},
		{[]string{dir, "-o", at("report.json")}, exitUsage, []string{"-o", "report.json", "another file"}},
		{nil, exitUsage, []string{"no report given: want [LABEL=]REPORT"}},
	} {
		before, _ := os.ReadFile(at("report.json"))
		refuses(t, c.code, append([]string{"report"}, c.args...), c.want...)
		if after, _ := os.ReadFile(at("report.json")); !bytes.Equal(before, after) {
			t.Errorf("report %q changed its report", c.args)
		}
	}
}

func TestReportOfMany(t *testing.T) {
	dir := pageInputs(t)
	args := append([]string{"report"}, slices.Repeat([]string{dir}, 10)...)
	code, stdout, stderr := dlbench(t, args...)
	if want := "left out: Charts show the first 8 of the 10 reports: one picture compares no more.\n"; code != exitOK ||
		stdout != "report.html\n" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
	}
}

func TestPlotOfTooMany(t *testing.T) {
	nine := slices.Repeat([]string{"../../results/testdata/report.json"}, 9)
	refuses(t, exitUsage, append([]string{"plot", "-o", t.TempDir()}, nine...), "9 reports: charts compare up to 8")
}

// Nothing may come from a pipe for ever: an interrupt ends all that read from one.
func TestInterruptWhileReading(t *testing.T) {
	file := filepath.Join(pageInputs(t), "report.json")
	for _, args := range [][]string{{"compare", file, "-"}, {"plot", "-"}, {"report", file, "-"}, {"whatif", "-"}} {
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

func TestInterruptWhileDrawing(t *testing.T) {
	rep, err := results.ReadFile("../../results/testdata/report.json")
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

// fullDisk is what a redirected standard output can be.
type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestOutputThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(pageInputs(t), "report.json")
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"compare", "a=" + file, "b=" + file}, {"plot", file, "--format", "svg"}, {"report", file},
		{"report", file, "-o", "-"},
	} {
		var errs bytes.Buffer
		if code := execute(t.Context(), args, nil, fullDisk{}, &errs); code != exitFailed ||
			!oneLineOf(errs.String(), errFull.Error()) {
			t.Errorf("%q: exit %d, %q", args, code, errs.String())
		}
	}
}
