package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"dlbench/results"
)

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
		root := newRoot()
		root.SetArgs(args)
		root.SetIn(in)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(ctx)
		if code := exitCode(ctx, err); code != exitInterrupted || oneLine(err) != "interrupted" {
			t.Errorf("%s: exit %d, %v", args[0], code, err)
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
	files, err := writeCharts(ctx, []*results.Report{rep}, dir, "svg")
	if entries, _ := os.ReadDir(dir); exitCode(ctx, err) != exitInterrupted || len(files)+len(entries) > 0 {
		t.Errorf("charts %v, %v, %v", files, entries, err)
	}
	var page bytes.Buffer
	if _, err := writePage(ctx, &page, []*results.Report{rep}); exitCode(ctx, err) != exitInterrupted || page.Len() > 0 {
		t.Errorf("page of %d bytes, %v", page.Len(), err)
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
		{"compare", "a=" + file, "b=" + file}, {"plot", file, "--format", "svg"}, {"report", file}, {"report", file, "-o", "-"},
	} {
		var errs bytes.Buffer
		if code := execute(t.Context(), args, fullDisk{}, &errs); code != exitFailed || !oneLineOf(errs.String(), errFull.Error()) {
			t.Errorf("%q: exit %d, %q", args, code, errs.String())
		}
	}
}
