package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// published is a directory of a report that the README shows.
func published(name string) string { return filepath.Join("..", "..", "results", "published", name) }

// Several reports are compared under the labels that they are given.
func TestPlotOfSeveral(t *testing.T) {
	dir := t.TempDir()
	hdd, stream := published("assumed-hdd"), published("assumed-stream100")
	code, stdout, stderr := in(t, "plot", "old="+hdd, "new="+stream, "-o", dir, "--format", "svg")
	want := filepath.Join(dir, "disk-batch-time.svg")
	if code != exitOK || stderr != "" || !strings.Contains(stdout, want+"\n") {
		t.Fatalf("exit %d, %q, stderr %q", code, stdout, stderr)
	}
	svg, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{">old<", ">new<", ", by machine"} {
		if !bytes.Contains(svg, []byte(s)) {
			t.Errorf("no %s in %s", s, want)
		}
	}
}

func TestPlotOfTooMany(t *testing.T) {
	args := append([]string{"plot", "-o", t.TempDir()}, strings.Split(strings.Repeat(published("assumed-hdd")+" ", 8)+published("assumed-hdd"), " ")...)
	code, stdout, stderr := in(t, args...)
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, "9 reports: charts compare up to 8") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %q, stderr %q, want one line that says how many", code, stdout, stderr)
	}
}
