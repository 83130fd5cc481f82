package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

const namesGolden = "testdata/contract/names.golden"

// TestContractNames holds the names that users and scripts rely on against one file: commands,
// flags, suites, axes, cases, metrics, keys of JSON, columns, charts, exit codes. It knows the
// program's command line and what it writes, nothing of its insides.
//
// A line that ends in " ?" is of what a machine may lack, such as a disk that is found, or of what a
// busy one leaves out: it may be missing. Lines that end in " ?" and one word may be missing
// together. All others must be there, and none that the file lacks. -update keeps marked lines.
// Measurements are repeated while lines are missing: on a busy machine an assumed link may be
// late, and what follows from it is left out.
func TestContractNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names of measurements differ where there is no direct I/O and no page cache to evict")
	}
	golden := readSections(t, namesGolden)
	for _, part := range []struct {
		name    string
		beyond  string // the part whose lines need not stand here again
		tries   int
		collect func(*testing.T, nameSet)
	}{
		{"commands", "", 1, namesOfCommands},
		{"exit codes", "", 1, namesOfExitCodes},
		{"saved report", "", 1, namesOfSavedReport},
		{"runs", "", 6, namesOfRuns},
		{"runs over two fake CUDA devices", "runs", 6, namesOfFakeRuns}, // skipped without a C compiler
	} {
		t.Run(part.name, func(t *testing.T) {
			want, got := golden[part.name], nameSet{}
			for try := 0; try < part.tries && (try == 0 || len(want.missing(got)) > 0); try++ {
				part.collect(t, got)
			}
			for line := range golden[part.beyond].names() {
				delete(got, line)
			}
			if *update {
				golden[part.name] = want.updated(got)
				return
			}
			for _, line := range want.missing(got) {
				t.Errorf("missing: %s", line)
			}
			for _, line := range got.missing(want.names()) {
				t.Errorf("new: %s", line)
			}
		})
	}
	if *update {
		writeSections(t, namesGolden, golden)
	}
}

// nameSet is the lines of a section.
type nameSet map[string]bool

func (n nameSet) add(format string, a ...any) { n[fmt.Sprintf(format, a...)] = true }

// unmarked is a line of the golden file without its mark: "" where it must be there, "?" where it
// may be missing, "?group" where it may be missing with all of its group.
func unmarked(line string) (name, mark string) {
	if i := strings.LastIndex(line, " ?"); i >= 0 {
		return line[:i], line[i+1:]
	}
	return line, ""
}

// missing are the lines of n that must be in got and are not.
func (n nameSet) missing(got nameSet) (lines []string) {
	needed := map[string]bool{"": true}
	for line := range n {
		if name, mark := unmarked(line); mark != "?" && got[name] {
			needed[mark] = true
		}
	}
	for line := range n {
		if name, mark := unmarked(line); needed[mark] && !got[name] {
			lines = append(lines, name)
		}
	}
	slices.Sort(lines)
	return lines
}

// names are the lines of n without marks.
func (n nameSet) names() nameSet {
	all := nameSet{}
	for line := range n {
		name, _ := unmarked(line)
		all[name] = true
	}
	return all
}

// updated is got with the marks of n and what n has for other machines.
func (n nameSet) updated(got nameSet) nameSet {
	merged, marked := maps.Clone(got), nameSet{}
	for line := range n {
		if name, mark := unmarked(line); mark != "" {
			delete(merged, name)
			marked[line] = true
		}
	}
	maps.Copy(merged, marked)
	return merged
}

func readSections(t *testing.T, path string) map[string]nameSet {
	t.Helper()
	sections := map[string]nameSet{}
	for section := range strings.SplitSeq("\n"+string(mustRead(t, path)), "\n== ") {
		name, lines, _ := strings.Cut(section, "\n")
		sections[name] = nameSet{}
		for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
			sections[name][line] = true
		}
	}
	delete(sections, "") // before the first one
	return sections
}

func writeSections(t *testing.T, path string, sections map[string]nameSet) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&b, "== %s\n", name)
		for _, line := range slices.Sorted(maps.Keys(sections[name])) {
			b.WriteString(line + "\n")
		}
		b.WriteString("\n")
	}
	save(t, ".", path, b.String())
}

// withoutLibraries are settings under which libraries of this machine are not found.
var withoutLibraries = []string{
	"DLBENCH_LIBCUDA=/nonexistent", "DLBENCH_LIBNVML=/nonexistent", "DLBENCH_LIBTURBOJPEG=/nonexistent", "COLUMNS=120",
}

// ran is a finished command line.
type ran struct {
	dir, stdout, stderr string
	code                int
}

// runLine runs a command line in dir, or in a directory of its own where that is "", under the
// settings on top of withoutLibraries.
func runLine(t *testing.T, dir, line string, settings ...string) ran {
	t.Helper()
	cmd, stdout, stderr := child(t, slices.Concat(withoutLibraries, settings), strings.Fields(line)...)
	cmd.Dir = cmp.Or(dir, cmd.Dir)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("dlbench %s: %v", line, err)
	}
	return ran{cmd.Dir, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

var (
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`)
	helpFlag    = regexp.MustCompile(`(?m)^ +((?:-\w, )?--[\w-]+(?:\[=\S+)?(?: \S+)?) {2,}(.*)$`)
	helpDefault = regexp.MustCompile(`\(default .*\)$|\([^)]*\)`)
)

func namesOfCommands(t *testing.T, n nameSet) {
	var help func(command string)
	help = func(command string) {
		text := runLine(t, "", strings.TrimPrefix(command, "dlbench")+" --help").stdout
		_, usage, _ := strings.Cut(text, "\nUsage:\n")
		usage, _, _ = strings.Cut(usage, "\n\n")
		for f := range strings.Lines(usage) {
			n.add("usage: %s", strings.TrimSpace(f))
		}
		_, flags, _ := strings.Cut(text, "\nFlags:\n")
		for _, f := range helpFlag.FindAllStringSubmatch(flags, -1) {
			n.add("%s", strings.TrimSpace(fmt.Sprintf("flag: %s %s %s", command, f[1], helpDefault.FindString(f[2]))))
		}
		_, commands, _ := strings.Cut(text, "\nAvailable Commands:\n")
		commands, _, _ = strings.Cut(commands, "\n\n")
		for _, c := range helpCommand.FindAllStringSubmatch(commands, -1) {
			n.add("command: %s %s", command, c[1])
			if c[1] != "help" && c[1] != "completion" {
				help(command + " " + c[1])
			}
		}
	}
	help("dlbench")
	var listed struct {
		Suites []struct {
			Name string
			Axes []struct {
				Name   string
				Values []string
			}
		}
	}
	text := runLine(t, "", "list --format json").stdout
	if err := json.Unmarshal([]byte(text), &listed); err != nil || len(listed.Suites) == 0 {
		t.Fatalf("list: %v: %s", err, text)
	}
	for _, s := range listed.Suites {
		n.add("suite: %s", s.Name)
		for _, a := range s.Axes {
			n.add("axis: %s %s=%s", s.Name, a.Name, strings.Join(a.Values, ","))
		}
	}
	for _, command := range []string{"list", "theory"} {
		n.keys("json: "+command, printed(t, "", command))
	}
}

// printed is what a command line prints as JSON.
func printed(t *testing.T, dir, line string) any {
	t.Helper()
	return parseTree(t, []byte(runLine(t, dir, line+" --format json").stdout))
}

// keys adds the keys of v with the kinds of their values.
func (n nameSet) keys(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			n.keys(path+"."+number.ReplaceAllString(k, "N"), x)
		}
	case []any:
		for _, x := range v {
			n.keys(path+"[]", x)
		}
	case string:
		n.add("%s string", path)
	case json.Number:
		n.add("%s number", path)
	case bool:
		n.add("%s bool", path)
	case nil:
		n.add("%s null", path)
	}
}

// v1Report is a report of all suites, frozen since the first version.
const v1Report = "../../results/testdata/v1.json"

func namesOfExitCodes(t *testing.T, n nameSet) {
	dir := t.TempDir()
	lost := parseTree(t, mustRead(t, v1Report)).(map[string]any)
	cases := lost["results"].([]any)
	lost["results"] = cases[1:] // without one that was measured, not assumed
	text, err := json.Marshal(lost)
	if err != nil {
		t.Fatal(err)
	}
	save(t, dir, "base.json", string(mustRead(t, v1Report)))
	save(t, dir, "lost.json", string(text))
	save(t, dir, "broken.json", "{")
	save(t, dir, "bad/a.jpg", "no image")
	makeDataSets(t, dir)
	for _, c := range []struct{ what, args string }{
		{"success", "list"},
		{"unknown command", "frobnicate"},
		{"unknown flag", "run --fast"},
		{"unknown value", "run --suite pci"},
		{"device that is not there", "run --device cuda:0"},
		{"data that is not there", "run --suite disk --data nowhere"},
		{"a case failed: a disk faster than this machine", "run --suite disk --data files --disk 1000GB/s " + shortRun},
		{"same reports", "compare base.json base.json --fail-on 5%"},
		{"regression", "compare base.json lost.json --fail-on 5%"},
		{"regression that does not matter", "compare base.json lost.json"},
		{"unreadable report", "compare base.json broken.json"},
		{"missing report", "report nowhere.json"},
		{"what-if that needs another suite", "whatif base.json --tar"},
		{"no usable image", "run --suite preprocess --data bad " + shortRun + " --batch 1"},
		{"bad image", "dataset check bad"},
		{"bad image, strict", "dataset check bad --strict"},
		{"data set that is there already", "dataset make files"},
	} {
		n.add("exit %d: %s", runLine(t, dir, c.args).code, c.what)
	}
}

// shortRun are flags of short runs.
const shortRun = "--count 2 --min-time 1ns --timeout 20s --batch 4 --shape 32x32x3 -o out"

// makeDataSets makes a data set of small images in dir, in each form.
func makeDataSets(t *testing.T, dir string) {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 64, 48))
	for i := range 32 {
		picture.Pix[i*7] = 255 // no two are the same
		var b strings.Builder
		if err := jpeg.Encode(&b, picture, nil); err != nil {
			t.Fatal(err)
		}
		save(t, dir, fmt.Sprintf("files/class-%d/%d.jpg", i%2, i), b.String())
	}
	for _, store := range []string{"tar", "raw", "tensor"} {
		args := "dataset pack files " + store + " --store " + store
		if store != "tar" {
			args += " --shape 32x32x3 --dtype uint8"
		}
		if store == "tensor" {
			args += " --batch 4"
		}
		if r := runLine(t, dir, args); r.code != 0 {
			t.Fatalf("dlbench %s: exit %d", args, r.code)
		}
	}
}

func namesOfSavedReport(t *testing.T, n nameSet) {
	dir := t.TempDir()
	save(t, dir, "v1.json", string(mustRead(t, v1Report)))
	for _, change := range []string{
		"--link gen4x8", "--mem pageable", "--prefetch 4", "--cores 8", "--workers 3", "--disk nvme", "--ram", "--cold",
		"--dtype uint8", "--side 256", "--prepared", "--gpus 2", "--step 20ms", "--gpu a100",
		"--link gen4x8 --cores 8 --step 0s",
	} {
		said := printed(t, dir, "whatif v1.json "+change)
		n.keys("json: whatif", said)
		for _, p := range jsonObjects(said) {
			n.add("whatif %s: %v, kind %v, metric %v, unit %v, cost %v", change, p["change"], p["kind"], p["metric"],
				p["unit"], p["cost"])
		}
	}
	n.keys("json: compare", printed(t, dir, "compare a=v1.json b=v1.json"))
	n.columns("compare csv", runLine(t, dir, "compare a=v1.json b=v1.json --format csv").stdout)
	n.tables("compare markdown", runLine(t, dir, "compare a=v1.json b=v1.json --format markdown").stdout)
	for _, args := range []string{"v1.json", "a=v1.json b=v1.json"} {
		count := len(strings.Fields(args))
		runLine(t, dir, "plot -o charts "+args)
		runLine(t, dir, "plot -o charts --format svg "+args)
		n.charts(fmt.Sprintf("plot of %d", count), filepath.Join(dir, "charts"))
		n.headings(fmt.Sprintf("page of %d", count), runLine(t, dir, "report -o - "+args).stdout)
	}
}

// columns adds the columns of CSV, in their order.
func (n nameSet) columns(what, text string) {
	header, _, _ := strings.Cut(text, "\n")
	for i, c := range strings.Split(header, ",") {
		n.add("%s: column %02d %s", what, i, c)
	}
}

// tables adds the columns of Markdown's tables.
func (n nameSet) tables(what, text string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if i > 0 && strings.HasPrefix(l, "| ---") {
			for c := range strings.SplitSeq(strings.Trim(lines[i-1], "| "), " | ") {
				n.add("%s: column %s", what, strings.ReplaceAll(c, `\_`, "_"))
			}
		}
	}
}

// charts adds the names of the charts in dir.
func (n nameSet) charts(what, dir string) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); ext == ".png" || ext == ".svg" {
			n.add("%s: chart %s", what, number.ReplaceAllString(f.Name(), "N"))
		}
	}
}

var pageHeading = regexp.MustCompile(`<h([1-6])[^>]*>([^<]*)|\bid="([a-zA-Z][\w-]*)"`)

// headings adds the headings of a page, and the names to which links may point.
func (n nameSet) headings(what, text string) {
	for _, m := range pageHeading.FindAllStringSubmatch(text, -1) {
		if m[3] != "" {
			n.add("%s: id %s", what, number.ReplaceAllString(m[3], "N"))
		} else {
			n.add("%s: h%s %s", what, m[1], m[2])
		}
	}
}

var simLinks = "--device sim:gen3x4 --device sim:gen3x16 "

func namesOfRuns(t *testing.T, n nameSet) {
	dir := t.TempDir()
	makeDataSets(t, dir)
	n.keys("json: report.host", printed(t, "", "info"))
	n.keys("json: dataset check", printed(t, dir, "dataset check files"))
	for _, r := range []struct{ suite, format, args string }{
		{"pcie", "text", simLinks + "--quick -a source=warm"},
		{"pcie", "gobench", simLinks},
		{"pcie", "csv",
			"--device sim:gen3x4 --quick -a source=warm -a mem=pinned,registered -a dir=d2h -a dtype=uint8 -a " +
				"bytes=1MiB"},
		{"pcie", "markdown", simLinks + "--quick -a source=warm"},
		{"disk", "text", "--data files --quick"},
		{"disk", "gobench", "--data files --repeat 2"},
		{"disk", "csv", "--data tar"},
		{"disk", "markdown", "--data raw"},
		{"disk", "markdown", "--data tensor"},
		{"disk", "markdown", "--data files --disk hdd"},
		{"preprocess", "text", "--data files --quick"},
		{"preprocess", "gobench", "--data files -a threads=1,2 --label name"},
		{"preprocess", "csv", "--data raw --dtype uint8 -a threads=1,2"},
		{"preprocess", "markdown", "--data files --quick -a threads=1,2"},
		{"pipeline", "text", "--data files --step 5ms --quick " + simLinks},
		{"pipeline", "gobench", "--data files --step 5ms " + simLinks},
		{"pipeline", "csv", "--data tensor --dtype uint8 --step 5ms " + simLinks},
		{"pipeline", "markdown", "--data files --disk nvme --step 5ms " + simLinks},
		{"disk,preprocess,pipeline", "text", "--data files --gpu a100 --quick " + simLinks},
	} {
		n.run(t, dir, nil, r.suite, r.format, r.args)
	}
}

func namesOfFakeRuns(t *testing.T, n nameSet) {
	settings := fake(t, "FAKE_CUDA_PCI=fade:65:00.0,fade:66:00.0")
	dir := t.TempDir()
	makeDataSets(t, dir)
	n.run(t, dir, settings, "pcie", "text", "--quick -a source=warm")
	n.run(t, dir, settings, "pcie", "gobench", "-a source=warm")
	n.run(t, dir, settings, "pcie", "csv", "--quick --device cuda:0 --device cuda:1:link=gen3x4")
	n.run(t, dir, settings, "pcie", "markdown", "--quick --device cuda:0 --device cuda:1 "+
		"-a concurrent=none,opposite,devices -a source=warm -a mem=pinned -a numa=local")
	settings = append(settings, "DLBENCH_LIBNVML="+fakecuda.BuildNVML(t), "FAKE_NVML_PCI=fade:65:00.0")
	n.run(t, dir, settings, "pipeline", "text", "--data files --step 5ms --soak 1s")
}

// run adds the names in what a run prints, its report and its charts.
func (n nameSet) run(t *testing.T, dir string, settings []string, suite, format, args string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	args = fmt.Sprintf("run --full --suite %s --format %s %s %s", suite, format, shortRun, args)
	r := runLine(t, dir, args, settings...)
	n.report(suite, parseTree(t, mustRead(t, filepath.Join(dir, "out/report.json"))).(map[string]any))
	n.charts("run "+suite, filepath.Join(dir, "out"))
	switch format {
	case "text":
		n.claims(suite, r.stdout)
	case "gobench":
		n.gobench(suite, r.stdout)
	case "csv":
		n.columns("run csv "+suite, r.stdout)
	case "markdown":
		n.tables("run markdown "+suite, r.stdout)
	}
}

var claimLine = regexp.MustCompile(`(?m)^(\w+) (\([^)]*\)) (?:holds|fails|inconclusive|not measured)\b`)

// claims adds the claims of a run's text, with what they are about.
func (n nameSet) claims(suite, text string) {
	for _, m := range claimLine.FindAllStringSubmatch(text, -1) {
		if m[1] == "verdict" {
			continue
		}
		n.add("claim of %s: %s %s", suite, m[1], m[2])
	}
}

// gobench adds what benchstat sees: keys, and units by suite.
func (n nameSet) gobench(suite, text string) {
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		switch {
		case strings.HasPrefix(l, "Benchmark"):
			name := anyMachine(regexp.MustCompile(`-\d+$`).ReplaceAllString(words[0], ""))
			if c, ok := strings.CutPrefix(name, "BenchmarkSuite/"); ok && n["case: "+c] {
				name = "BenchmarkSuite/CASE"
			}
			n.add("gobench of %s: %s", suite, name)
			for i := 3; i < len(words); i += 2 {
				n.add("gobench unit of %s: %s", suite, words[i])
			}
		case strings.HasPrefix(l, "Unit "):
			n.add("gobench of %s: %s", suite, strings.TrimSpace(l))
		case len(words) > 0 && strings.HasSuffix(words[0], ":"):
			n.add("gobench key: %s", words[0])
		}
	}
}

var (
	number    = regexp.MustCompile(`\b\d+\b`)
	cpuParams = regexp.MustCompile(`\b(threads|workers)=\d+`)
)

// anyMachine replaces the numbers that follow from how many CPUs there are.
func anyMachine(name string) string { return cpuParams.ReplaceAllString(name, "$1=N") }

// report adds the names in a report.
func (n nameSet) report(suite string, rep map[string]any) {
	for _, r := range jsonObjects(rep["results"]) {
		of := r["suite"].(string)
		n.add("case: %s", anyMachine(r["name"].(string)))
		for _, key := range []string{"params", "proof", "fit"} {
			if v, ok := r[key]; ok {
				n.keys(key+" of "+of, v)
			}
			delete(r, key)
		}
		for _, m := range jsonObjects(r["metrics"]) {
			n.add("metric of %s: %v, unit %v, better %v", of, m["name"], m["unit"], m["better"])
		}
		for _, x := range jsonObjects(r["references"]) {
			n.add("reference of %s: %v of %v, from %v", of, x["name"], x["metric"], x["source"])
		}
		for _, s := range jsonObjects(r["series"]) {
			n.add("series of %s: %v, unit %v", of, s["name"], s["unit"])
		}
	}
	for _, f := range jsonObjects(rep["findings"]) {
		n.add("finding of %s: %v", suite, f["claim"])
	}
	for _, p := range jsonObjects(rep["predictions"]) {
		if p["measured"] != nil {
			n.add("checked prediction: %s", number.ReplaceAllString(p["change"].(string), "N"))
		}
		n.add("prediction: kind %v, metric %v, unit %v", p["kind"], p["metric"], p["unit"])
	}
	n.keys("json: report", rep)
}

// jsonObjects is a list of objects, nil where there is none.
func jsonObjects(v any) (all []map[string]any) {
	items, _ := v.([]any)
	for _, x := range items {
		all = append(all, x.(map[string]any))
	}
	return all
}
