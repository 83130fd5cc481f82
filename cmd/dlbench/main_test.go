package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlbench/bench/theory"
	"dlbench/loader/synth"
	"dlbench/results"
)

// TestMain lets the test binary be dlbench, for tests that need a process of their
// own: the CUDA driver is loaded once in a process, and its settings with it.
func TestMain(m *testing.M) {
	if os.Getenv("DLBENCH_TEST_IS_DLBENCH") != "" || os.Getenv("DLBENCH_FD") != "" {
		main()
	}
	os.Unsetenv("CUDA_VISIBLE_DEVICES") // the fake driver heeds it
	os.Exit(m.Run())
}

// dlbench runs a command line in this process, in a directory of its own.
func dlbench(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	return in(t, args...)
}

// child prepares dlbench as a process of its own, with settings.
func child(t *testing.T, settings []string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(append(os.Environ(), "DLBENCH_TEST_IS_DLBENCH=1"), settings...)
	cmd.Dir = t.TempDir()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// oneLineOf tells whether stderr is one line that holds all the words.
func oneLineOf(stderr string, words ...string) bool {
	line, ok := strings.CutSuffix(stderr, "\n")
	for _, w := range words {
		ok = ok && strings.Contains(line, w)
	}
	return ok && !strings.Contains(line, "\n") && strings.HasPrefix(line, "dlbench: ")
}

// in runs a command line in this process and directory.
func in(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = execute(t.Context(), args, nil, &out, &errs)
	return code, out.String(), errs.String()
}

// refuses runs a command line that prints nothing but one line on stderr, which holds the
// words, and leaves nothing behind.
func refuses(t *testing.T, code int, args []string, words ...string) {
	t.Helper()
	before, _ := os.ReadDir(".")
	got, stdout, stderr := in(t, args...)
	if got != code || !oneLineOf(stderr, words...) || stdout != "" {
		t.Errorf("dlbench %q: exit %d, stderr %q, stdout %q; want exit %d and one line with %q", args, got, stderr,
			stdout, code, words)
	}
	if after, _ := os.ReadDir("."); len(after) != len(before) {
		t.Errorf("dlbench %q left %v", args, after)
	}
}

// save writes text to a file of that name in dir and returns its path.
func save(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is wrong is said in one line, with the same exit code by every command.
func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	save(t, ".", "imagenet/train/a/1.jpg", "x")
	save(t, ".", "imagenet/val/a/1.jpg", "x")
	fixture(t, "a.json", 1, nil)
	fixture(t, "b.json", 1, func(r *results.Report) { r.Started = r.Started.Add(1) })
	for _, c := range []struct {
		args string
		want []string // words of the one line on stderr
	}{
		{"run --suite pci", []string{"--suite", `"pci"`, "did you mean pcie?"}},
		{"run --device gpu", []string{"--device", `"gpu"`, "auto, all, cuda:N"}},
		{"run --device cuda:x", []string{"--device", `"cuda:x"`, "cuda:N"}},
		{"run --device sim:gen7x16", []string{"--device", "gen7x16", "gen1x1 to gen6x16"}},
		{"run --device sim:gen3x4:gbps=9", []string{"--device", "gbps=9", "line rate of Gen3 x4"}},
		{"run --batch 0", []string{"--batch", `"0"`, "at least 1"}},
		{"run --batch 99999999999 --shape 99999x99999x3", []string{"--batch", "16 TiB"}},
		{"run --shape 225x225", []string{"--shape", `"225x225"`, "225x225x3"}},
		{"run --shape 1x1x1", []string{"--shape 1x1x1: ", "want HxWx3", "225x225x3"}},
		{"run -a mem=pined", []string{"-a", "mem=pined", "pinned, pageable, registered, staged"}},
		{"run -a memory=pinned", []string{"-a", "memory", "mem, dtype"}},
		{"run -a mem", []string{"-a", `"mem"`, "axis=value"}},
		{"run -a bytes=lots", []string{"-a", "bytes=lots", "64MiB"}},
		{"run -a device=gpu", []string{"-a", "device=gpu", "cuda:N"}},
		{"run --format xml", []string{"--format", `"xml"`, "text, json, gobench, csv, markdown"}},
		{"run --timeout -1s", []string{"--timeout", "-1s", "at least 0s"}},
		{"run --repeat 0", []string{"--repeat", `"0"`, "at least 1"}},
		{"run --disk floppy", []string{"--disk", `"floppy"`, "stream100, hdd, sata3, nvme"}},
		{"run --disk 1B/s", []string{"--disk", "RATE[:LATENCY]"}},
		{"run --suite disk --data /nonexistent", []string{"--data", "/nonexistent", "no such file"}},
		{"run --suite disk -a readers=0", []string{"-a", "readers=0", "1 to 1024"}},
		{"run --suite disk -a cache=hot", []string{"-a", "cache=hot", "cold-data, cold-all, warm, direct"}},
		{"run extra", []string{"--data extra", "no such file or folder"}},
		{"run --suite pcie --device sim:gen3x4 --batch 1000000", []string{"--batch", "1000000",
			"enough for copies of"}},
		{"theory --shape 1x1", []string{"--shape", "225x225x3"}},
		{"theory --batch 99999999999 --shape 99999x99999x3", []string{"16 TiB"}},
		{"plot", []string{"no report", "want [LABEL=]REPORT...", "report.json"}},
		{"whatif x --need 0", []string{"--need", "2500/s"}},
		{"whatif x --need 9 --gpu a100", []string{"--need, --gpu, --step", "want one of them"}},
		{"whatif x --link gen9x3", []string{"--link", `"gen9x3"`, "gen1x1 to gen6x16"}},
		{"whatif x --cores 0", []string{"--cores", `"0"`, "from 0.1 to 4096"}},
		{"whatif x --cores NaN", []string{"--cores", `"NaN"`, "from 0.1 to 4096"}},
		{"whatif x --workers 2000", []string{"--workers", `"2000"`, "from 1 to 1024"}},
		{"whatif x --prefetch -1", []string{"--prefetch", "-1", "from 0 to 1024"}},
		{"whatif x --ram --disk hdd", []string{"--disk, --ram, --cold: ", "give only one"}},
		{"whatif x --cores 1e9", []string{"--cores", "1e9", "from 0.1 to 4096"}},
		{"whatif x --prefetch 5000", []string{"--prefetch", "5000", "from 0 to 1024"}},
		{"whatif x --side 3", []string{"--side", "3", "from 8 to 16384"}},
		{"whatif x --gpus 100", []string{"--gpus", "100", "from 1 to 64"}},
		{"whatif x --ram --cold", []string{"--ram", "give only one"}},
		{"whatif x --step -1s", []string{"--step", "-1s", "from 0s"}},
		{"run --gpu a100 --step 10ms", []string{"--need, --gpu, --step", "want one of them"}},
		{"report", []string{"no report given: want [LABEL=]REPORT"}},
		{"compare", []string{"no report given: want [LABEL=]REPORT"}},
		{"show a.json --suite pci", []string{"--suite pci: ", "the report has pcie"}},
		{"show a.json --claims --full", []string{"--claims: ", "without --full"}},
		{"compare a.json", []string{"want at least two reports, such as dlbench compare before after"}},
		{"compare a.json b.json --fail-on much", []string{"--fail-on", `"much"`, "5%"}},
		{"compare a.json b.json --fail-on -5%", []string{"--fail-on", `"-5%"`, "from 0"}},
		{"compare a.json b.json --fail-on NaN", []string{"--fail-on", `"NaN"`}},
		{"compare a.json b.json --by colour", []string{"--by colour", `"colour"`, "device, mem"}},
		{"compare a.json b.json --by device", []string{"--by device", "add mem"}},
		{"compare a.json b.json --base c", []string{"--base c", "want a, b"}},
		{"compare =a.json b.json", []string{"LABEL=REPORT"}},
		{"compare x= b.json", []string{`"x="`, "LABEL=REPORT"}},
		{"compare - -", []string{"standard input"}},
		{"compare x=a.json x=b.json", []string{"different labels"}},
		{"rum", []string{`"rum": want run, show, list`}},
		{"rumm", []string{"did you mean run? (dlbench --help)"}},
		{"dataset chek", []string{"did you mean check? (dlbench dataset --help)"}},
		{"run --ned 3", []string{"unknown flag: --ned; did you mean --need? (dlbench run --help"}},
		{"run -lable x", []string{"did you mean --label?"}},
		{"run --require cores", []string{"--require cores: want --require=cores"}},
		{"run imagenet --require cores", []string{"--require cores: want --require=cores"}},
		{"run --quick false", []string{"--quick false: want --quick=false"}},
		{"run -a cashe=warm", []string{"did you mean cache?"}},
		{"run -a cache=wram", []string{"did you mean warm?"}},
		{"run --gpu A10", []string{"no published figure for it: give --need"}},
		{"run --step 40", []string{"--step", "such as 40ms, from 0s"}},
		{"run --workers 4", []string{"unknown flag: --workers; it is an axis: -a workers=VALUE"}},
		{"whatif x --workres 4", []string{"did you mean --workers?"}},
		{"whatif --ram 64GB", []string{"--ram 64GB: it takes no value"}},
		{"run --quick 640", []string{"--quick 640: it takes no value"}},
		{"rnu", []string{"did you mean run?"}},
		{"run --loader torchvison", []string{"did you mean torchvision?"}},
		{"run --format jsno", []string{"did you mean json?"}},
		{"run --disk nmve", []string{"did you mean nvme?"}},
		{"run --python gone --loader ffcv", []string{"--python gone: no such program"}},
		{"help pipline", []string{"did you mean pipeline?"}},
		{"run --loader imagenet", []string{"this is a folder, and no loader"}},
		{"run --loader mine=imagenet", []string{"dlbench run imagenet --loader torchvision"}},
		{"run --loader train.py", []string{"mine='python3 train.py'"}},
		{"run --shape 3x224x224", []string{"want height x width x channels: 224x224x3"}},
		{"run imagenet", []string{"found train/ and val/: name the one to use"}},
		{"dataset check imagenet", []string{"found train/ and val/: name the one to use"}},
		{"dataset pack imagenet x --store tar", []string{"found train/ and val/: name the one to use"}},
		{"run gs://a/b", []string{"gs:// is not read here"}},
		{"dataset check gs://a/b", []string{"gs:// is not read here"}},
		{"dataset check gone", []string{"gone: no such file or folder"}},
		{"dataset pack gone x --store tar", []string{"gone: no such file or folder"}},
		{"compare gone a=gone", []string{"gone: no such file or folder"}},
		{"report gone", []string{"gone: no such file or folder"}},
		{"whatif gone", []string{"gone: no such file or folder"}},
		{"show gone", []string{"gone: no such file or folder"}},
		{"show", []string{"no run here yet: start with dlbench run"}},
	} {
		refuses(t, exitUsage, strings.Fields(c.args), c.want...)
	}
}

// What a script leaves empty, by a variable that is not set, is no default in disguise: an empty argument, and an
// empty value of every flag but a label.
func TestEmptyArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	var look func(c *cobra.Command, args []string)
	look = func(c *cobra.Command, args []string) {
		if len(c.Commands()) == 0 && !c.Hidden {
			refuses(t, exitUsage, append(args, ""), "is empty")
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "label" && f.NoOptDefVal == "" {
				refuses(t, exitUsage, append(slices.Clone(args), "--"+f.Name+"="), "--"+f.Name)
			}
		})
		for _, below := range c.Commands() {
			look(below, append(slices.Clone(args), below.Name()))
		}
	}
	for _, c := range newRoot().Commands() {
		if !c.Hidden {
			look(c, []string{c.Name()})
		}
	}
}

func TestTheoryJSON(t *testing.T) {
	code, stdout, _ := dlbench(t, "theory", "--format", "json")
	var got theoryReport
	if err := json.Unmarshal([]byte(stdout), &got); code != exitOK || err != nil {
		t.Fatalf("exit %d, %v", code, err)
	}
	if got.Batch != (theoryBatch{theory.ArticleBatch, 19_440_000}) || len(got.Links) != len(theory.Links) {
		t.Errorf("%+v", got)
	}
	article := map[string][2]float64{"gen3x4": {4.5e-3, 9e-3}, "gen3x8": {2.3e-3, 5e-3}, "gen3x16": {1.1e-3, 2e-3}}
	for _, l := range got.Links {
		said, ok := article[l.Link]
		if ok != (l.ArticleTheory != nil) || ok && said != [2]float64{*l.ArticleTheory, *l.ArticlePractice} ||
			math.Abs(l.LineTime*l.LineRate-19_440_000) > 1 {
			t.Errorf("%+v: article %v", l, said)
		}
	}
	if !strings.Contains(stdout, `"article_theory": null`) {
		t.Errorf("no null where the article says nothing:\n%s", stdout)
	}
}

// quickly are flags that make a run over an assumed link short: sources that are not in
// caches take long where caches are large. On a busy machine its self-check may fail,
// which is exit 1.
var quickly = strings.Fields("run -o out --full --suite pcie --quick --count 2 --min-time 1ns --batch 1 -a source=warm " +
	"--device sim:gen3x16")

// savedRun reads the report that a run saved in the directory out of dir.
func savedRun(t *testing.T, dir string) *results.Report {
	t.Helper()
	rep, err := results.ReadFile(filepath.Join(dir, "out/report.json"))
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// A run prints, saves and draws. Other formats than text keep standard output for themselves, earlier
// reports are kept, and two runs do not write into one folder at once.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	unlock, err := synth.Lock("out")
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, exitFailed, quickly, "-o out: another run writes there")
	save(t, ".", "file", "")
	refuses(t, exitFailed, append(quickly, "-o", "file/out"), "file", "not a directory")
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	save(t, "out", ".lock", "") // as of a run that was killed
	for n, c := range []struct {
		format string
		ok     func(string) bool
	}{
		{"json", func(s string) bool { _, err := results.Read(strings.NewReader(s)); return err == nil }},
		{"gobench", func(s string) bool { return strings.Contains(s, "\nBenchmarkSuite/pcie/device=host/") }},
		{"csv", func(s string) bool { return strings.HasPrefix(s, "suite,") }},
		{"markdown", func(s string) bool {
			return strings.Contains(s, "### pcie, simulated link: ") && strings.Contains(s, "\n| --- ")
		}},
		{"text", func(s string) bool {
			return strings.Contains(s, "pcie, simulated link: device sim:gen3x16") && strings.Contains(s, "line rate") &&
				strings.Contains(s, "A1 (batch time by lanes) not measured, simulated link")
		}},
	} {
		code, stdout, stderr := in(t, append(quickly, "--format", c.format, "--label", "a <b>")...)
		notes := stderr
		if c.format == "text" {
			notes, stdout = stdout+stderr, strings.Join(strings.Fields(stdout), " ")
		}
		if code != exitOK && code != exitFailed || !c.ok(stdout) || !strings.Contains(notes, "report  out/report.html") ||
			c.format != "text" && strings.Contains(stdout, "all tables") {
			t.Errorf("%s: exit %d, stdout\n%s\nstderr %s", c.format, code, stdout, stderr)
		}
		reports, _ := filepath.Glob("out/report*.json")
		if moved := strings.Contains(notes, "an earlier report there is now out/report-"); len(reports) != n+1 ||
			moved != (n > 0) {
			t.Errorf("reports %v after %d runs\n%s", reports, n+1, notes)
		}
	}
	rep := savedRun(t, ".")
	if rep.Status != results.Complete || rep.Label != "a <b>" || len(rep.Results) != 6 || len(rep.Findings) != 3 {
		t.Errorf("report: %s, label %q, %d results, %d findings; want complete, 6 and 3", rep.Status, rep.Label,
			len(rep.Results), len(rep.Findings))
	}
	for _, f := range rep.Findings {
		if f.Verdict != results.NotMeasured {
			t.Errorf("finding about links without a link: %+v", f)
		}
	}
	if page, err := os.Stat("out/report.html"); err != nil || page.Size() == 0 {
		t.Errorf("the page: %v", err)
	}
	if _, err := os.Stat("out/.lock"); err == nil && runtime.GOOS != "windows" {
		t.Error("the lock is left")
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, text := range []string{
		`{"schema_version": 1, "status": "` + strings.Repeat("x", 100_000) + `"}`,
		`{"schema_version": 1, "started": "` + strings.Repeat("é", 100_000) + `"}`,
	} {
		code, _, stderr := in(t, "report", save(t, ".", "long.json", text))
		if code != exitFailed || !oneLineOf(stderr, "long.json: report ", " ... ") || len(stderr) > 2500 {
			t.Errorf("exit %d, %d bytes: %.200q", code, len(stderr), stderr)
		}
	}
}

// An interrupt saves what was finished by then.
func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		finished bool // interrupted after a case, else before any
		line     []string
		says     string
	}{
		{true, append(quickly, "--count", "1000000", "--timeout", "1h"),
			"dlbench: interrupted: what was finished is in out/report.json\n"},
		{false, append(strings.Fields("run -o out --quick --suite external --batch 4 --shape 32x32x3 -a loader=sleepy "+
			"-a workers=1 --loader"), "sleepy=exec sleep 60"), "dlbench: interrupted: what was finished is in out/report.json\n"},
	} {
		t.Chdir(t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if rep, err := results.ReadFile("out/report.json"); err == nil && (len(rep.Results) > 0 || !c.finished) {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		var errs bytes.Buffer
		code := execute(ctx, c.line, nil, io.Discard, &errs)
		cancel()
		if code != exitInterrupted || !strings.HasSuffix(errs.String(), c.says) || c.finished && errs.String() != c.says {
			t.Errorf("exit %d, %q; want 130 and %q", code, errs.String(), c.says)
		}
		if rep := savedRun(t, "."); rep.Status != results.Interrupted || (len(rep.Results) > 0) != c.finished {
			t.Errorf("report %+v; want an interrupted one", rep)
		}
	}
}

// --require is content with yes alone, or with enough cores where it is told so.
func TestRequire(t *testing.T) {
	for _, c := range []struct {
		answer, what string
		code         int
	}{
		{results.AnswerYes, "loader", exitOK}, {results.AnswerYes, "cores", exitOK},
		{results.AnswerEnoughCores, "loader", exitNoAnswer}, {results.AnswerEnoughCores, "cores", exitOK},
		{results.AnswerNo, "loader", exitNo}, {results.AnswerNo, "cores", exitNo}, {results.AnswerNo, "", exitOK},
		{results.AnswerBusy, "loader", exitNoAnswer}, {"", "cores", exitNoAnswer},
	} {
		rep := &results.Report{}
		if c.answer != "" {
			rep.Verdict = &results.Verdict{Answer: c.answer}
		}
		if err := required(rep, c.what); exitCode(t.Context(), err) != c.code {
			t.Errorf("%q where %q is required: %v, want exit %d", c.answer, c.what, err, c.code)
		}
	}
}

// The help of every command has one line at least, and no text is without a command.
func TestHelpTexts(t *testing.T) {
	known := map[string]bool{}
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		known[c.CommandPath()] = true
		if c.Short == "" || strings.Contains(c.Short, "\n") {
			t.Errorf("%s is %q", c.CommandPath(), c.Short)
		}
		for _, below := range c.Commands() {
			look(below)
		}
	}
	look(newRoot())
	for line := range strings.Lines(helpTexts) {
		if name, ok := strings.CutPrefix(line, "== "); ok && !known[strings.TrimSpace(name)] {
			t.Errorf("help for %q, which is no command", name)
		}
	}
}
