package main

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"dlbench/bench/benchtest"
	"dlbench/results"
)

// loaderScript is a loader of 32 images each 2 ms, by the times that it writes.
const loaderScript = `
import json, os, sys, threading, time
out = os.fdopen(int(os.environ["DLBENCH_FD"]), "w", buffering=1)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
out.write(json.dumps({"dlbench": 1, "time": time.monotonic(), "pid": os.getpid(), "loader": "a test's"}) + "\n")
t = 1.0
while True:
    out.write(json.dumps({"enter": t, "leave": t + 0.002, "images": 32}) + "\n")
    t += 0.002
`

func TestRunLoader(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("loaders are measured on Linux only")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	script := filepath.Join(t.TempDir(), "loader.py")
	if err := os.WriteFile(script, []byte(loaderScript), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	makeDataSets(t, data)
	code, stdout, stderr := dlbench(t, "run", filepath.Join(data, "files"), "--suite", "external", "--quick",
		"--batch", "8", "--shape", "32x32x3", "--count", "2", "-a", "workers=1", "--loader", "mine=python3 "+script,
		"--step", "1ms")
	if code != exitOK {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"feeds 16000 images/s 16000 to 16000", "in 1 run; 1 worker",
		"needs 8000 images/s a step of 1ms for 8 images"} {
		if plain := strings.Join(strings.Fields(stdout), " "); !strings.Contains(plain, want) {
			t.Errorf("want %q in\n%s", want, stdout)
		}
	}
	if _, shown, _ := in(t, "show"); !strings.Contains(stdout, strings.TrimSpace(shown)) {
		t.Errorf("show prints\n%s\nrun printed\n%s", shown, stdout)
	}
	rep, err := results.ReadFile("dlbench-out/latest/report.json")
	if err != nil {
		t.Fatal(err)
	}
	if own := results.ScalingOf(rep.Results, results.OwnLoader).Cases; len(own) != 1 {
		t.Errorf("%d cases of dlbench's own loader, want 1", len(own))
	}
	if logs, _ := filepath.Glob("dlbench-out/*/loader-*"); len(logs) > 0 {
		t.Errorf("empty logs are left: %v", logs)
	}
}

// Whatever ends a run that measures a loader, what was measured is saved, and no process is left:
// not even one with an environment and a session of its own.
func TestEndOfARunWithALoader(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil || runtime.GOOS != "linux" {
		t.Skip("loaders are measured on Linux only, and this one is of Python")
	}
	data := t.TempDir()
	makeDataSets(t, data)
	for _, c := range []struct {
		signal syscall.Signal
		code   int
		status string // of the report
	}{{syscall.SIGINT, exitInterrupted, results.Interrupted}, {syscall.SIGKILL, -1, results.Interrupted}} {
		mark := "DLBENCH_MARK=" + rand.Text()
		daemon := "import subprocess\nsubprocess.run('(env -i " + mark + " setsid sleep 1000 &)', shell=True)\n"
		script := save(t, t.TempDir(), "loader.py", daemon+loaderScript)
		cmd, stdout, stderr := child(t, []string{mark}, "run", filepath.Join(data, "files"), "--suite", "external",
			"--quick", "--batch", "8", "--shape", "32x32x3", "--count", "1000000", "--timeout", "1h", "-a", "workers=1",
			"--loader", "mine=python3 "+script, "-o", "out")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(cmd.Dir, "out", "report.json")
		measured := func() bool {
			rep, err := results.ReadFile(path)
			return err == nil && len(results.ScalingOf(rep.Results, "mine").Cases) > 0
		}
		for began := time.Now(); !measured() && time.Since(began) < time.Minute; {
			time.Sleep(10 * time.Millisecond)
		}
		if have := len(benchtest.Marked(t, mark)); have < 4 { // dlbench, supervisor, loader, daemon
			t.Errorf("%d processes run: %s", have, stderr)
		}
		cmd.Process.Signal(c.signal)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%v: exit %d, %s%s", c.signal, code, stdout, stderr)
		}
		benchtest.NoneLeft(t, mark)
		if rep, err := results.ReadFile(path); err != nil || rep.Status != c.status || !measured() {
			t.Errorf("%v: the report is not whole: %v", c.signal, err)
		}
		code, shown, _ := in(t, "show", path, "--full")
		for _, want := range []string{"feeds   16000 images/s", "1 worker", "interrupted: 0 cases finished, 2 measured in part"} {
			if code != exitOK || !strings.Contains(shown, want) || strings.Contains(shown, " was left out: ") {
				t.Errorf("%v: show: exit %d, no %q in\n%s", c.signal, code, want, shown)
			}
		}
		if strings.Contains(shown, "batch        0") {
			t.Errorf("%v: a batch of nothing:\n%s", c.signal, shown)
		}
	}
}

func TestFaultsOfLoaders(t *testing.T) {
	for want, args := range map[string][]string{
		"--suite external: name a loader to measure":     {"run", "--suite", "external"},
		`"--loader" flag: want one of dali, ffcv`:        {"run", "--loader", "nobody"},
		"--loader mine: given twice":                     {"run", "--loader", "mine=a", "--loader", "mine=b"},
		"--loader mine: the suite external measures it":  {"run", "--suite", "disk", "--loader", "mine=a"},
		"x: --data y is given already":                   {"run", "x", "--data", "y"},
		"feed is started by dlbench run --loader":        {"feed"},
		"help nowhere: no such topic or command: topics": {"help", "nowhere"},
	} {
		code, _, stderr := dlbench(t, args...)
		if code != exitUsage || !oneLineOf(stderr, want) {
			t.Errorf("%v: exit code %d, %q, want %q", args, code, stderr, want)
		}
	}
}

func TestManual(t *testing.T) {
	for _, topic := range topicNames() {
		code, stdout, _ := dlbench(t, "help", topic)
		if code != exitOK || !strings.HasPrefix(stdout, "# ") {
			t.Errorf("help %s: exit code %d, %.60q", topic, code, stdout)
		}
	}
	if code, stdout, _ := dlbench(t, "help", "run"); code != exitOK || !strings.Contains(stdout, "--loader") {
		t.Errorf("help run: exit code %d, %.60q", code, stdout)
	}
	if code, stdout, _ := dlbench(t, "python"); code != exitOK || !strings.Contains(stdout, "def serve(") {
		t.Errorf("python: exit code %d, %.60q", code, stdout)
	}
}
