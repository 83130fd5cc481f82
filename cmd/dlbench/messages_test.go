package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/synth"
)

// What is wrong is said in one line, with the same exit code by every command.
func TestWordsThatAreNotKnown(t *testing.T) {
	t.Chdir(t.TempDir())
	save(t, ".", "imagenet/train/a/1.jpg", "x")
	save(t, ".", "imagenet/val/a/1.jpg", "x")
	for line, want := range map[string]string{
		"rum":                                 `"rum": want run, show, list`,
		"rumm":                                "did you mean run? (dlbench --help)",
		"dataset chek":                        "did you mean check? (dlbench dataset --help)",
		"run --ned 3":                         "unknown flag: --ned; did you mean --need? (dlbench run --help",
		"run -lable x":                        "did you mean --label?",
		"run --suite disc":                    "did you mean disk?",
		"run -a cashe=warm":                   "did you mean cache?",
		"run -a cache=wram":                   "did you mean warm?",
		"run --gpu A10":                       "did you mean a100?",
		"run --loader torchvison":             "did you mean torchvision?",
		"run --format jsno":                   "did you mean json?",
		"run --disk nmve":                     "did you mean nvme?",
		"run --python gone --loader ffcv":     "--python gone: no such program",
		"help pipline":                        "did you mean pipeline?",
		"run --loader imagenet":               "this is a folder, and no loader",
		"run --loader mine=imagenet":          "dlbench run imagenet --loader torchvision",
		"run --loader train.py":               "mine='python3 train.py'",
		"run --shape 3x224x224":               "want height x width x channels: 224x224x3",
		"theory --shape 1x28x28":              "want height x width x channels: 28x28x1",
		"run imagenet":                        "found train/ and val/: using none; name one of them",
		"dataset check imagenet":              "found train/ and val/: using none; name one of them",
		"dataset pack imagenet x --store tar": "found train/ and val/: using none; name one of them",
		"run s3://a/b":                        "s3:// is not supported yet",
		"dataset check s3://a/b":              "s3:// is not supported yet",
		"run gone":                            "no such file or folder",
		"dataset check gone":                  "gone: no such file or folder",
		"dataset pack gone x --store tar":     "gone: no such file or folder",
		"compare gone a=gone":                 "gone: no such file or folder",
		"plot gone":                           "gone: no such file or folder",
		"report gone":                         "gone: no such file or folder",
		"whatif gone":                         "gone: no such file or folder",
		"show gone":                           "gone: no such file or folder",
		"show":                                "no run here yet: start with dlbench run",
	} {
		refuses(t, exitUsage, strings.Fields(line), want)
	}
}

func TestStandardOutputThatCannotBeWritten(t *testing.T) {
	for _, line := range []string{"--help", "--version", "run --help", "help disk", "list", "theory", "info", "python"} {
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

func TestRunsIntoOneFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	unlock, err := synth.Lock("out")
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, exitFailed, quickly, "-o out: another run writes there")
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	save(t, "out", ".lock", "") // as of a run that was killed
	for range 2 {
		if code, _, stderr := in(t, quickly...); code != exitOK {
			t.Errorf("exit %d, %s", code, stderr)
		}
	}
	if reports, _ := filepath.Glob("out/report*.json"); len(reports) != 2 {
		t.Errorf("%v, want both reports", reports)
	}
	if _, err := os.Stat("out/.lock"); err == nil && runtime.GOOS != "windows" {
		t.Error("the lock is left")
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
	for _, want := range []string{"a100 A100 80 GB ResNet-50 mixed precision 2470 16621 NVIDIA",
		"h100-mlperf H100 ResNet-50 emulated 1786 - MLPerf", "loaders that --loader knows: dali, ffcv"} {
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
