package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/synth"
)

// fullDisk is what a redirected standard output can be.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestStandardOutputThatCannotBeWritten(t *testing.T) {
	t.Chdir(pageInputs(t))
	for _, line := range []string{"--help", "--version", "run --help", "help disk", "list", "theory", "info", "python",
		"compare a=report.json b=report.json", "plot report.json --format svg", "report report.json",
		"report report.json -o -"} {
		var errs bytes.Buffer
		if code := execute(t.Context(), strings.Fields(line), nil, fullDisk{}, &errs); code != exitFailed ||
			!oneLineOf(errs.String(), "standard output: no space left on device") {
			t.Errorf("%q: exit %d, %q", line, code, errs.String())
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	cmd, _, stderr := child(t, nil, "run", "--help")
	cmd.Stdout = write
	cmd.Run()
	write.Close()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed ||
		!oneLineOf(stderr.String(), "standard output was closed before all was printed") {
		t.Errorf("a pipe that is closed: exit %d, %q", code, stderr)
	}
}

// A process that was started so that it ignores a signal does, as nohup wants.
func TestIgnoredSignals(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no shell that ignores signals")
	}
	cmd, _, stderr := child(t, nil, "dataset", "make", "set", "--images", "16")
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP INT; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = shell
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until it has begun
		if entries, _ := os.ReadDir(cmd.Dir); len(entries) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cmd.Process.Signal(syscall.SIGHUP)
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitOK {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestDatasetClean(t *testing.T) {
	cache := t.TempDir()
	for _, variable := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(variable, cache)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := dlbench(t, "dataset", "clean"); code != exitOK || stdout != "freed 0 B in all\n" {
		t.Errorf("nothing there: exit %d, %q", code, stdout)
	}
	spec := synth.Spec{Form: synth.Form{Batch: theory.ArticleBatch}, Images: 4, Seed: 1}
	dirs, _, err := synth.EnsureDefault(t.Context(), cache, spec, []string{loader.Files, loader.Tar}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mine := save(t, cache, "dlbench/python/dlbench.py", "x")
	for _, c := range []struct {
		args, said string
		left       bool
	}{{"dataset clean --dry-run", "would free ", true}, {"dataset clean", "freed ", false}} {
		code, stdout, stderr := in(t, strings.Fields(c.args)...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if code != exitOK || len(lines) != 2 || !strings.HasPrefix(lines[0], c.said) ||
			!strings.HasSuffix(lines[0], filepath.Dir(dirs[loader.Files])) || !strings.HasSuffix(lines[1], " in all") {
			t.Errorf("%s: exit %d, %q, %q", c.args, code, stdout, stderr)
		}
		if _, err := os.Stat(dirs[loader.Tar]); (err == nil) != c.left {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("something else is gone: %v", err)
	}
	unlock, err := synth.Lock(filepath.Join(cache, "dlbench"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	refuses(t, exitFailed, []string{"dataset", "clean"}, "a run is making a data set there")
}

func TestListNamesGPUsAndLoaders(t *testing.T) {
	code, stdout, _ := dlbench(t, "list", "--format", "json")
	var l listing
	if err := json.Unmarshal([]byte(stdout), &l); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v", code, err)
	}
	if len(l.GPUs) != len(theory.GPUs) || l.GPUs[0].Name != "a100" || l.GPUs[0].Rate8 != 16621 || l.GPUs[0].Source == "" {
		t.Errorf("GPUs %+v", l.GPUs)
	}
	_, stdout, _ = in(t, "list")
	for _, want := range []string{"a100 A100 80 GB ResNet-50 mixed precision 2470 16621 1",
		"source 1: NVIDIA DeepLearningExamples", "h100-mlperf H100 ResNet-50 emulated 1786 - 2", "source 2: MLPerf",
		"loaders that --loader knows: dali, ffcv"} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestColumns(t *testing.T) {
	for set, want := range map[string]int{"77": 77, "": pageWidth, "-3": pageWidth, "wide": pageWidth} {
		t.Setenv("COLUMNS", set)
		c := newList()
		c.SetOut(new(bytes.Buffer))
		if got := textWidth(c); got != want {
			t.Errorf("COLUMNS=%s: %d columns, want %d", set, got, want)
		}
		if colours(c) {
			t.Error("colours go to no terminal")
		}
	}
}

// The name of a case is put in words, a path is left as it is.
func TestProgressText(t *testing.T) {
	for want, x := range map[string]bench.Progress{
		"[2/4] disk, store raw, cache warm": {Suite: "disk", Case: "disk/store=raw/cache=warm", Number: 2, All: 4},
		"data set, checking /data/a=b":      {Suite: "data set", Case: "checking /data/a=b"},
	} {
		if got, times := progressText(x, time.Second); got != want || times != "1 s" {
			t.Errorf("%q, %q; want %q", got, times, want)
		}
	}
}
