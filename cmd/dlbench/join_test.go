package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

// One node of one makes the report of all, and show prints it; a second run into the folder is refused.
func TestJoinAlone(t *testing.T) {
	t.Setenv("DLBENCH_RANK", "0")
	t.Setenv("DLBENCH_SIZE", "1")
	dir := t.TempDir()
	args := []string{"run", "--suite", "pcie", "--device", "sim:gen3x16", "--quick", "--count", "2", "--min-time", "1ns",
		"--batch", "1", "-a", "source=warm", "-a", "mem=pinned", "--join", dir}
	if code, _, stderr := in(t, args...); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	joined := filepath.Join(dir, "run", "report.json")
	rep, err := results.ReadFile(joined)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine a simulated link may be late: its case is skipped, and no node has it.
	measured := slices.DeleteFunc(rep.Results, func(r results.Result) bool { return r.Status == results.Skipped })
	if n := rep.Nodes; n == nil || n.Size != 1 || len(n.Lost) > 0 || len(n.Cases) == 0 || len(n.Cases) != len(measured) {
		t.Errorf("nodes %+v of %d measured results", rep.Nodes, len(measured))
	}
	if _, err := os.Stat(filepath.Join(dir, "run", "node-0", "report.html")); err != nil {
		t.Error(err)
	}
	code, out, _ := in(t, "show", joined)
	if code != exitOK || !strings.Contains(out, "pcie on 1 node at once") {
		t.Errorf("show: exit %d\n%s", code, out)
	}
	refuses(t, exitFailed, args, "--join "+dir, "rank 0 of a run is in", "name a new folder")
}

// What starts no ranks, or ranks that cannot be, is a wrong use of --join.
func TestJoinRefused(t *testing.T) {
	for _, name := range []string{"DLBENCH_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
		"JOB_COMPLETION_INDEX", "RANK"} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	refuses(t, exitUsage, []string{"run", "--join", dir}, "--join "+dir, "DLBENCH_RANK")
	refuses(t, exitUsage, []string{"run", "--join", dir, "-o", "x"}, "-o x", "--join names the folder")
	t.Setenv("RANK", "7")
	t.Setenv("WORLD_SIZE", "4")
	refuses(t, exitUsage, []string{"run", "--join", dir}, `RANK="7"`)
	t.Setenv("RANK", "0")
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o644)
	refuses(t, exitFailed, []string{"run", "--join", file}, "--join "+file, "not a directory")
}
