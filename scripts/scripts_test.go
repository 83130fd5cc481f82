//go:build linux

// Package scripts holds nothing but tests of the scripts.
package scripts

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// all are the shell scripts of the repository.
func all(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.sh")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	return append(files, "../.ci/run")
}

func TestScriptsParse(t *testing.T) {
	for _, f := range all(t) {
		if out, err := exec.Command("bash", "-n", f).CombinedOutput(); err != nil {
			t.Errorf("bash -n %s: %v\n%s", f, err, out)
		}
	}
}

func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no shellcheck")
	}
	args := append([]string{"--exclude=SC1010"}, all(t)...) // which takes the word done for the keyword
	if out, err := exec.Command("shellcheck", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Every script says how it is used.
func TestHelp(t *testing.T) {
	for _, f := range all(t) {
		if filepath.Ext(f) != ".sh" {
			continue
		}
		out, err := exec.Command("bash", f, "-h").CombinedOutput()
		if !strings.Contains(string(out), "usage: scripts/"+f) {
			t.Errorf("%s -h: %v, %q", f, err, out)
		}
	}
}

// Tags can be moved, so actions are named by commit, with the version behind.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	pinned := regexp.MustCompile(`uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\t") {
			t.Errorf("%s: YAML has no tabs", f)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\n"); strings.Contains(line, "uses:") && !pinned.MatchString(line) {
				t.Errorf("%s: %s", f, line)
			}
		}
	}
}

func release(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("bash", append([]string{"release.sh"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("release.sh %q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// entries lists an archive: mode, name, time and content.
func entries(t *testing.T, path string) (list []string) {
	t.Helper()
	note := func(mode fs.FileMode, name string, at time.Time, r io.Reader) {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%v %s %d %s", mode, name, at.Unix(), content))
	}
	if z, err := zip.OpenReader(path); err == nil {
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			note(f.Mode()&^0o022, f.Name, f.Modified, r) // which the umask decides
		}
		return list
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	gz, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(gz)
	for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		note(h.FileInfo().Mode(), h.Name, h.ModTime, r)
	}
	return list
}

// Archives of the same files are the same, byte for byte: in order, of one time, and what can be run
// is marked.
func TestPack(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	files := fstest.MapFS{"dlbench": {Data: []byte("a program"), Mode: 0o700}, "completions/_dlbench": {}, "LICENSE": {}}
	want := []string{"drwxr-xr-x a 1.0/ 1700000000 ", "-rw-r--r-- a 1.0/LICENSE 1700000000 ",
		"drwxr-xr-x a 1.0/completions/ 1700000000 ", "-rw-r--r-- a 1.0/completions/_dlbench 1700000000 ",
		"-rwxr-xr-x a 1.0/dlbench 1700000000 a program"}
	for _, end := range []string{".tar.gz", ".zip"} {
		var made [2]string
		for i := range made {
			dir := filepath.Join(t.TempDir(), "a 1.0")
			if err := os.CopyFS(dir, files); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", "-c", `. ./release.sh; pack "$@"`, "bash", dir+end, dir, "1700000000")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := slices.DeleteFunc(entries(t, dir+end), func(e string) bool { return strings.Contains(e, "pax_global_header") })
			text, err := os.ReadFile(dir + end)
			if made[i] = string(text); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %q, want %q", end, err, got, want)
			}
		}
		if made[0] != made[1] {
			t.Errorf("%s: the same files gave other bytes", end)
		}
	}
}

// The archive of this machine holds a program that runs, and is the same when made anew.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	dir, target := t.TempDir(), runtime.GOOS+"/"+runtime.GOARCH
	sums := release(t, "--dirty", "-o", dir, target)
	sum, archive, _ := strings.Cut(strings.TrimSpace(sums), "  ")
	if !regexp.MustCompile(`^dlbench-\d+\.\d+\.\d+-linux-\w+\.tar\.gz$`).MatchString(archive) || len(sum) != 64 {
		t.Fatalf("sums %q", sums)
	}
	if out, err := exec.Command("tar", "-C", dir, "-xzf", filepath.Join(dir, archive)).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	base := filepath.Join(dir, strings.TrimSuffix(archive, ".tar.gz"))
	version := strings.Split(archive, "-")[1]
	out, err := exec.Command(filepath.Join(base, "dlbench"), "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "dlbench version "+version) {
		t.Errorf("--version: %v, %q", err, out)
	}
	// Through purego, which must outlive the stripping.
	if out, err := exec.Command(filepath.Join(base, "dlbench"), "info").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "GPU") {
		t.Errorf("info: %v\n%s", err, out)
	}
	for file, want := range map[string]string{"LICENSE": "Apache License", "README.md": "# dlbench",
		"CHANGELOG.md": "## " + version, "THIRD-PARTY-LICENSES": "==== github.com/ebitengine/purego@",
		"completions/dlbench.bash": "bash completion", "completions/_dlbench": "#compdef dlbench",
		"completions/dlbench.fish": "complete -c dlbench"} {
		text, err := os.ReadFile(filepath.Join(base, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v; lacks %q", file, err, want)
		}
	}
	if again := release(t, "--dirty", "-o", t.TempDir(), target); again != sums {
		t.Errorf("made anew: %q, before %q", again, sums)
	}
}

// A tree with changes, or none that git knows, is refused.
func TestReleaseRefuses(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("release.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, fstest.MapFS{
		"scripts/release.sh":     {Data: script},
		"cmd/dlbench/version.go": {Data: []byte("const release = \"7.0.0\"\n")},
		"CHANGELOG.md":           {Data: []byte("## 6.0.0\n")},
	}); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		out, err := cmd.CombinedOutput()
		if name == "git" && err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		if name != "git" && err == nil {
			t.Errorf("%q was not refused", args)
		}
		return string(out)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	refused := func(want string) {
		t.Helper()
		out := run("bash", "scripts/release.sh", "-o", filepath.Join(t.TempDir(), "dist"))
		if !strings.Contains(out, want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
	git := func(args ...string) {
		run("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	}
	refused("not a git checkout")
	git("init", "-q")
	refused("the tree has changes")
	git("add", "-A")
	git("commit", "-q", "-m", "all")
	refused("CHANGELOG.md says nothing of 7.0.0")
	git("tag", "v7.0.1")
	refused("the commit is tagged v7.0.1")
}

// madeRuns stands in for dlbench: its runs are made up, the second side's as slow as $SLOWER says, and all else
// is dlbench's.
const madeRuns = `#!/usr/bin/env bash
[ "$1" = run ] || exec "$DLBENCH_BUILT" "$@"
while [ "$1" != -o ]; do shift; done
mkdir -p "$2"
echo >>"$0.count"
case $2 in */a/*) level=1 ;; *) level=$SLOWER ;; esac
jq -n --argjson run "$(wc -l <"$0.count")" --argjson level "$level" '
	[range(12) | {value: ($level * (1 + 0.0001 * ((7 * . + $run) % 97))), n: 1, t: .}] as $samples
	| {schema_version: 1, status: "complete", started: (60 * $run | todate), results: [
		{suite: "disk", name: "disk/readers=1", params: {readers: 1}, status: "ok",
			metrics: [{name: "time", unit: "s", better: "lower", $samples}]}]}' >"$2/report.json"
`

// What is called better or worse although it is the same counts, and so does what is slower and not found.
func TestCheckCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	for _, program := range []string{"go", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	stub, built := filepath.Join(dir, "stub"), filepath.Join(dir, "dlbench")
	if err := os.WriteFile(stub, []byte(madeRuns), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", built, "../cmd/dlbench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		comparisons, slower string
		code                int
		want                []string
	}{
		{"2", "1", 0, []string{"in turn:\n\n      2 disk/readers=1 time: same\n", "one after the other:\n\n      1 ",
			"False better or worse: 0.0 % of 2 (at most 5 %). Slow-downs found: 100.0 %"}},
		{"1", "1.1", 1, []string{"False better or worse: 100.0 % of 1", "compare is wrong too often"}},
		{"1", "0.952", 1, []string{"False better or worse: 100.0 % of 1", "Slow-downs found: 0.0 %"}},
	} {
		cmd := exec.Command("bash", "check-compare.sh", "-n", c.comparisons, "-r", "9", "-o", filepath.Join(t.TempDir(), "out"))
		cmd.Env = append(os.Environ(), "DLBENCH="+stub, "DLBENCH_BUILT="+built, "SLOWER="+c.slower)
		out, _ := cmd.CombinedOutput()
		for _, want := range c.want {
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), want) {
				t.Errorf("%s times as slow: exit code %d, want %d and %q in\n%s", c.slower, code, c.code, want, out)
			}
		}
	}
}
