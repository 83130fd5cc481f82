package external

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

// TestMain lets the test's own program be a loader: as DLBENCH_TEST says, or dlbench's own.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		code, err := Supervise(os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	switch kind := os.Getenv("DLBENCH_TEST"); {
	case kind == "owner":
		owner()
	case kind != "":
		fake(kind)
	case os.Getenv("DLBENCH_FD") != "":
		records, err := Records(os.Getenv)
		if err == nil {
			err = Feed(context.Background(), os.Getenv, os.Stdin, records)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

// mark is in the environment, or among the arguments, of all processes that a loader of a test
// starts.
var mark = "DLBENCH_MARK=" + rand.Text()

// daemon is a shell's command that starts a process whose parent ends, with a session of its own and
// nothing but the mark in its environment.
func daemon(mark string) string { return "(env -i " + mark + " setsid sleep 1000 &)" }

// owner is a program that has a stopped loader, with a daemon, until it is killed.
func owner() {
	p, err := start("mine", []string{"/bin/sh", "-c", daemon(os.Args[1]) + "; exec sleep 1000"}, nil, os.TempDir())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for began := time.Now(); len(p.processes()) < 2 && time.Since(began) < 10*time.Second; {
		time.Sleep(time.Millisecond)
	}
	p.stop()
	fmt.Println("stopped")
	select {}
}

func TestAKilledRunLeavesNoLoader(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, mark)
	c.Env = append(os.Environ(), "DLBENCH_TEST=owner", "TMPDIR="+t.TempDir(), mark)
	out, err := c.StdoutPipe()
	if err != nil || c.Start() != nil {
		t.Fatal("it does not start")
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if have := len(benchtest.Marked(t, mark)); err != nil || have < 4 { // owner, supervisor, loader, daemon
		t.Errorf("%q, %v: %d processes run", line, err, have)
	}
	c.Process.Kill()
	c.Wait()
	benchtest.NoneLeft(t, mark)
}

// fakeStep is how long a batch of the fake loader takes, by the times that it writes.
const fakeStep = 0.02

// fake is a loader that behaves in some way. Its times are made up, so that what is measured
// does not depend on the machine.
func fake(kind string) {
	records, _ := Records(os.Getenv)
	write := func(v any) {
		if json.NewEncoder(records).Encode(v) != nil {
			os.Exit(1)
		}
	}
	hello := map[string]any{"dlbench": Protocol, "time": monotonic(), "python": "3.11.7", "loader": "a fake"}
	switch kind {
	case "silent":
		select {}
	case "dies":
		fmt.Fprintln(os.Stderr, "Traceback\nValueError: no such thing")
		os.Exit(3)
	case "version":
		hello["dlbench"] = Protocol + 1
	case "nothello":
		hello = map[string]any{"enter": 1, "leave": 2, "images": 32}
	case "clock":
		hello["time"] = 0.5
	case "orphan": // another process holds the descriptor
		c := exec.Command("/bin/sleep", "1000")
		c.ExtraFiles = []*os.File{os.NewFile(recordsFD, "")}
		c.Start()
		os.Exit(3)
	case "endless":
		for {
			records.Write(make([]byte, longestRecord))
		}
	case "prints":
		fmt.Fprintln(records, "epoch 1 of 90")
	case "children": // one in a session of its own, which outlives a group's signal
		c := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $! ; wait")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		c.Stdout = os.Stderr
		c.Start()
	case "daemon", "diesdaemon":
		_, value, _ := strings.Cut(mark, "=")
		mark = "DLBENCH_MARK=" + cmp.Or(os.Getenv("DLBENCH_MARK"), value)
		exec.Command("/bin/sh", "-c", daemon(mark)).Run()
		if kind == "diesdaemon" {
			os.Exit(3)
		}
	case "prepares":
		os.Exit(0)
	case "killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "chatty":
		for range 5 * halfLog / 10 {
			fmt.Println("012345678")
		}
		fmt.Println("the last line")
		os.Exit(3)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	write(hello)
	if kind == "raises" {
		write(map[string]any{"error": "OSError: broken data stream", "file": "n01/a.jpg"})
		os.Exit(1)
	}
	if kind != "stubborn" {
		go func() {
			os.Stdin.Read(make([]byte, 1))
			os.Exit(0)
		}()
	}
	images, bytes := 32, 32*225*225*3*4
	switch kind {
	case "zero":
		images = 0
	case "negative":
		images = -5
	case "huge":
		bytes = 1 << 60
	case "many":
		images = bytes + 1
	case "starts":
		write(map[string]any{"began": 0.25, "ready": 0.75})
	case "late":
		write(map[string]any{"began": 0.25, "ready": 7})
	case "nodata":
		write(map[string]any{"epoch": 1, "time": monotonic()})
	}
	for at, n := 1.0, 0; ; n++ { // since the machine started
		switch {
		case kind == "null":
			write(map[string]any{"enter": monotonic(), "leave": monotonic(), "images": images, "bytes": bytes})
			continue
		case kind == "last" && n > 5: // as at the end of an epoch
			images = 7
		case kind == "stalls" && n == 5:
			select {}
		case kind == "ends" && n == 5:
			return
		case kind == "backwards" && n == 5:
			at -= 1
		}
		write(map[string]any{"enter": at, "leave": at + fakeStep, "images": images, "bytes": bytes})
		at += fakeStep
	}
}

// fakeEnv is a run with one loader of that kind.
func fakeEnv(t *testing.T, kind string) bench.Env {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	logs := t.TempDir()
	return bench.Env{Host: results.Host{Memory: results.Memory{Total: 64 << 30}}, Data: &bench.Data{Path: t.TempDir()},
		Options: bench.Options{Batch: theory.ArticleBatch, Root: "/", Logs: func() string { return logs },
			Loaders: []bench.Loader{{Name: "mine", Command: mark + " DLBENCH_TEST=" + kind + " exec " + self}}}}
}

// open opens a case of the fake loader with limits that no test waits for long.
func open(ctx context.Context, t *testing.T, kind string) (*runner, error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	r := &runner{ExternalParams: results.ExternalParams{Loader: "mine", Workers: 1}, env: fakeEnv(t, kind)}
	if kind == "stalls" {
		r.stuck = 300 * time.Millisecond // the others never wait so long, however slow the machine is
	}
	err := r.Open(ctx)
	t.Cleanup(func() { r.Close() })
	return r, err
}

func TestFaultsOfLoaders(t *testing.T) {
	for kind, want := range map[string]string{
		"dies":       "loader mine: ended before it was stopped (exit status 3): ValueError: no such thing; its output: ",
		"silent":     "loader mine: did not start: ",
		"version":    "loader mine: writes records of version 2, this program reads 1: dlbench python > dlbench.py",
		"nothello":   "did not begin with the record that says its version: call dlbench.serve(loader)",
		"clock":      "not those of CLOCK_MONOTONIC: it began at 0.5 s, now it is ",
		"killed":     "loader mine: ended before it was stopped (by the signal: killed)",
		"diesdaemon": "loader mine: ended before it was stopped (exit status 3)",
		"chatty":     "the last line; its output: ",
		"orphan":     "loader mine: ended before it was stopped (exit status 3)",
		"endless":    "loader mine: wrote a line of more than 65536 bytes where only records belong",
		"prints":     `wrote "epoch 1 of 90" where only records belong (descriptor 3): print elsewhere`,
		"raises":     "loader mine: OSError: broken data stream (file n01/a.jpg)",
		"zero":       "says that a batch has 0 images",
		"negative":   "says that a batch has -5 images",
		"huge":       "which cannot be",
		"many":       "which cannot be",
		"nodata":     "came to the end of its data without a batch",
		"stalls":     "nothing came for 300ms",
		"ends":       "ended before it was stopped (code 0)",
		"backwards":  "times that go backwards",
	} {
		t.Run(kind, func(t *testing.T) {
			limit := time.Minute
			if kind == "silent" {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			r, err := open(ctx, t, kind)
			if err == nil {
				err = r.Sample(ctx, 100, &bench.Recorder{})
			}
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want one line with %q", err, want)
			}
			r.Close()
			benchtest.NoneLeft(t, mark)
		})
	}
}

func TestNoProcessIsLeft(t *testing.T) {
	for _, kind := range []string{"steady", "children", "daemon", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			r, err := open(t.Context(), t, kind)
			if err != nil {
				t.Fatal(err)
			}
			if len(benchtest.Marked(t, mark)) == 0 {
				t.Fatal("the loader does not run")
			}
			r.process.pause() // a stopped one must end, too
			r.Close()
			benchtest.NoneLeft(t, mark)
		})
	}
}

func TestAnInterruptedStartLeavesNoProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	r, err := open(ctx, t, "deaf")
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v: an interrupt is no failure of the loader", err)
	}
	if r.process.patience != hurryLimit {
		t.Errorf("it may take %v to end", r.process.patience)
	}
	r.Close()
	benchtest.NoneLeft(t, mark)
}

func TestASecondInterruptEndsALoaderAtOnce(t *testing.T) {
	r, err := open(t.Context(), t, "stubborn")
	if err != nil {
		t.Fatal(err)
	}
	r.process.patience = time.Hour // longer than a test may take
	time.AfterFunc(300*time.Millisecond, func() { syscall.Kill(os.Getpid(), syscall.SIGINT) })
	r.Close()
	benchtest.NoneLeft(t, mark)
}

func TestPythonIsAsked(t *testing.T) {
	program := func(script string) string {
		path := t.TempDir() + "/python"
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for script, want := range map[string]string{
		"echo 'dlbench 3 8'":               "is no Python of version 3.9 or newer",
		"echo 'hello 7'; echo dlbench 3 9": "",
		"echo usage":                       "is no Python",
		"exit 7":                           "does not run: exit status 7",
	} {
		_, err := findPython(t.Context(), program(script))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %q", script, got, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := findPython(ctx, program("sleep 3600 & wait")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSample(t *testing.T) {
	r, err := open(t.Context(), t, "steady")
	if err != nil {
		t.Fatal(err)
	}
	rec := &bench.Recorder{}
	if err := r.Sample(t.Context(), 100, rec); err != nil {
		t.Fatal(err)
	}
	if want := time.Duration(100 * fakeStep * 1e9); (rec.Elapsed-want).Abs() > time.Microsecond || rec.Items != 3200 {
		t.Errorf("%d images in %v, want 3200 in %v", rec.Items, rec.Elapsed, want)
	}
	var res results.Result
	r.Report(&res)
	proof := results.As[results.ExternalProof](res.Proof)
	if proof.Batch != 32 || proof.Processes < 1 || proof.Title != "a fake" || proof.Python != "3.11.7" {
		t.Errorf("proof %+v", proof)
	}
}

func TestStartIsToldApart(t *testing.T) {
	for kind, want := range map[string]map[string]float64{
		"starts": {"startup": 0.5, "first_batch": 1 + fakeStep - 0.75},
		"steady": {}, // of a loader that does not tell, all is the first batch
	} {
		r, err := open(t.Context(), t, kind)
		if err != nil {
			t.Fatal(err)
		}
		got := r.once
		if took, ok := got["import"]; !ok || took <= 0 {
			t.Errorf("%s: import %v", kind, got)
		}
		if _, ok := got["startup"]; ok != (len(want) > 0) {
			t.Errorf("%s: %v", kind, got)
		}
		for name, x := range want {
			if math.Abs(got[name]-x) > 1e-9 {
				t.Errorf("%s: %s %v, want %v", kind, name, got[name], x)
			}
		}
	}
}

func TestPrepare(t *testing.T) {
	for kind, want := range map[string]string{"prepares": "", "dies": "ValueError: no such", "raises": "broken data"} {
		r := &runner{ExternalParams: results.ExternalParams{Loader: "mine", Workers: 1}, env: fakeEnv(t, kind)}
		done := map[string]error{}
		err := r.prepare(t.Context(), done)
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", kind, err, want)
		}
		r.env.Loaders[0].Command = "no such command"
		if again := r.prepare(t.Context(), done); again != err {
			t.Errorf("%s: it is prepared twice: %v, then %v", kind, err, again)
		}
		benchtest.NoneLeft(t, mark)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	r := &runner{ExternalParams: results.ExternalParams{Loader: "mine"}, env: fakeEnv(t, "silent")}
	done := map[string]error{}
	if err := r.prepare(ctx, done); !errors.Is(err, context.Canceled) || len(done) > 0 {
		t.Errorf("got %v, %v", err, done)
	}
	benchtest.NoneLeft(t, mark)
}

// What a fast loader wrote before it was stopped must not count: the time for which it was
// stopped would lie between it and what follows.
func TestTimeInWhichALoaderIsStoppedDoesNotCount(t *testing.T) {
	r, err := open(t.Context(), t, "null")
	if err != nil {
		t.Fatal(err)
	}
	const stopped = 300 * time.Millisecond
	for range 3 {
		time.Sleep(stopped)
		rec := &bench.Recorder{}
		if err := r.Sample(t.Context(), 100, rec); err != nil || rec.Elapsed >= stopped {
			t.Errorf("100 batches that took no time in %v, %v", rec.Elapsed, err)
		}
	}
}

func TestALastBatchMayBeSmaller(t *testing.T) {
	r, err := open(t.Context(), t, "last")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Sample(t.Context(), 100, &bench.Recorder{}); err != nil {
		t.Fatal(err)
	}
	var res results.Result
	if r.Report(&res); r.proof.Batch != 32 || len(res.Warnings) > 0 {
		t.Errorf("batches of %d, %v", r.proof.Batch, res.Warnings)
	}
}

func TestInterruptEndsAWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := open(ctx, t, "stalls")
	if err != nil {
		t.Fatal(err)
	}
	r.stuck = time.Hour
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := r.Sample(ctx, 100, &bench.Recorder{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestParseLoader(t *testing.T) {
	for text, want := range map[string]bench.Loader{
		"torchvision":                {Name: "torchvision"},
		"mine=python3 a.py --x=1":    {Name: "mine", Command: "python3 a.py --x=1"},
		"torchvision=python3 own.py": {Name: "torchvision", Command: "python3 own.py"},
	} {
		if got, err := ParseLoader(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                "want one of",
		"nobody":          "NAME='COMMAND' such as mine='python3 train.py'",
		"my loader.py":    "NAME='COMMAND'",
		"./x.py":          "python3 train.py",
		"mine=":           "want NAME='COMMAND'",
		"a b=python3 x":   "with a name of letters",
		"dlbench":         "want another name",
		"dlbench=./other": "want another name",
	} {
		if _, err := ParseLoader(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestSettingsOfAProcess(t *testing.T) {
	s := settings{Path: "/data/a b", Batch: theory.Batch{Images: 8, Height: 64, Width: 32, Channels: 3},
		Workers: 2, Seed: 1<<64 - 1, Epochs: 50, Step: 216 * time.Millisecond}
	want := []string{"DLBENCH_PROTOCOL=1", "DLBENCH_FD=3", "DLBENCH_PATH=/data/a b", "DLBENCH_BATCH=8",
		"DLBENCH_SHAPE=64x32x3", "DLBENCH_WORKERS=2", "DLBENCH_SEED=18446744073709551615", "DLBENCH_EPOCHS=50",
		"DLBENCH_STEP=0.216"}
	if got := s.environ(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestALoaderFindsItsDataFromAnyFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{env: bench.Env{Options: bench.Options{Batch: theory.ArticleBatch}, Data: &bench.Data{Path: "photos"}}}
	if got := r.settings().Path; got != here+"/photos" {
		t.Errorf("DLBENCH_PATH is %q, want the whole path", got)
	}
}

func TestScriptsWithoutACacheFolder(t *testing.T) {
	file, other := filepath.Join(t.TempDir(), "file"), t.TempDir()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "")
	for _, cache := range []string{"", file} {
		t.Setenv("XDG_CACHE_HOME", cache)
		if folder, err := install(other); err != nil || folder != filepath.Join(other, "python") {
			t.Errorf("%q: got %q, %v", cache, folder, err)
		}
		if _, err := install(file); err == nil || !strings.HasPrefix(err.Error(), "no folder for the adapters of loaders: ") {
			t.Errorf("%q: got %v", cache, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(other, "python", "dlbench.py"))
	if err != nil || string(text) != string(Module()) {
		t.Errorf("dlbench.py: %v", err)
	}
}

func TestRecommendedWorkers(t *testing.T) {
	var rs []results.Result
	for workers, rate := range map[int]float64{1: 160, 2: 290, 4: 300, 8: 295} {
		params, err := axes.Params(params{Loader: "mine", Workers: workers}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, results.Result{Suite: "external", Status: results.OK, Params: params,
			Metrics: []results.Metric{{Name: "throughput", Median: rate, Samples: make([]results.Sample, 1)}}})
	}
	if got := results.WorkersOf(results.ScalingOf(rs, "mine").Recommended()); got != 4 {
		t.Errorf("%d workers are recommended, want 4: 290 is less than 97 %% of 300", got)
	}
}

func TestFeedIsALoader(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not UTF-8: \xff")
	benchtest.JPEGs(t, root, 64)
	set, err := loader.Open(root, "")
	if err != nil {
		t.Fatal(err)
	}
	env := fakeEnv(t, "")
	env.Data = &bench.Data{Path: root, Images: set}
	env.Batch = theory.Batch{Images: 8, Height: 32, Width: 32, Channels: 3, DType: "float32"}
	r := &runner{ExternalParams: results.ExternalParams{Loader: results.OwnLoader, Workers: 1}, env: env}
	defer r.Close()
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	rec := &bench.Recorder{}
	if err := r.Sample(t.Context(), 20, rec); err != nil || rec.Items != 160 {
		t.Errorf("%d images, %v", rec.Items, err)
	}
}

func TestFeedWithoutData(t *testing.T) {
	root := t.TempDir()
	benchtest.JPEGs(t, root, 64)
	files, err := filepath.Glob(root + "/*/*")
	if err != nil || len(files) < 64 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte("no image"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &runner{ExternalParams: results.ExternalParams{Loader: results.OwnLoader, Workers: 1}, env: fakeEnv(t, "")}
	r.env.Data.Path = root
	r.env.Batch = theory.Batch{Images: 8, Height: 32, Width: 32, Channels: 3, DType: "uint8"}
	_, own, err := r.command(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, line := range append(own, r.settings().environ()...) {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	if asked := env["DLBENCH_SETTINGS"]; !strings.Contains(asked, `"dtype":"float32"`) {
		t.Errorf("asked for %s: it is to make what the other loaders make", asked)
	}
	stdin, _ := io.Pipe()
	var out strings.Builder
	err = Feed(t.Context(), func(name string) string { return env[name] }, stdin, &out)
	if err == nil || !strings.Contains(err.Error(), "images in succession failed") ||
		strings.Contains(out.String(), `"images":-`) {
		t.Errorf("got %v, %s", err, out.String())
	}
}
