package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/synth"
)

// madeLine is the line that a command prints about its set.
var madeLine = regexp.MustCompile(`^(\S+): (files|tar|raw|tensor), (\d+) images, \S+ \S*B in \d+\.\d s \(\d+ images/s\), fingerprint ([0-9a-f]{32})(; .*)?\n$`)

// TestDatasetRoundTrips makes every store, opens it, and packs what can be packed
// into every store.
func TestDatasetRoundTrips(t *testing.T) {
	t.Chdir(t.TempDir())
	shape := []string{"--shape", "24x16x3", "--dtype", "uint8"}
	options := func(store string) []string {
		o := []string{"--store", store}
		if store == loader.Raw || store == loader.Tensor {
			o = append(o, shape...)
		}
		if store == loader.Tensor {
			o = append(o, "--batch", "4")
		}
		return o
	}
	run := func(dir, store, count string, args ...string) (fingerprint string) {
		t.Helper()
		code, stdout, stderr := in(t, append([]string{"dataset"}, append(args, options(store)...)...)...)
		m := madeLine.FindStringSubmatch(stdout)
		if code != exitOK || stderr != "" || m == nil || m[1] != dir || m[2] != store || m[3] != count {
			t.Fatalf("%q: exit %d, %q, stderr %q", args, code, stdout, stderr)
		}
		set, err := loader.Open(dir, "")
		if err != nil || set.Store != store {
			t.Fatalf("%s: %+v, %v", dir, set, err)
		}
		if info, err := synth.ReadInfo(dir); err != nil || info.Fingerprint != m[4] {
			t.Errorf("%s: fingerprint %s, in its file %s (%v)", dir, m[4], info.Fingerprint, err)
		}
		return m[4]
	}
	count := map[string]string{loader.Files: "10", loader.Tar: "10", loader.Raw: "10", loader.Tensor: "8"}
	prints := map[string]string{}
	for _, s := range loader.Stores {
		prints[s] = run(s, s, count[s], "make", s, "--images", "10", "--classes", "3")
	}
	for _, from := range []string{loader.Files, loader.Tar} {
		for _, to := range loader.Stores {
			dir := from + "-" + to
			got := run(dir, to, count[to], "pack", from, dir, "--strict")
			if (to == loader.Files || to == loader.Tar) && got != prints[from] {
				t.Errorf("%s: other bytes than %s", dir, from)
			}
		}
	}
}

func TestDatasetErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := in(t, "dataset", "make", "src", "--images", "4"); code != exitOK {
		t.Fatal(stderr)
	}
	save(t, "src", "class-0000/bad.jpg", "no picture")
	if err := os.Mkdir("nothing", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"dataset frobnicate", exitUsage, []string{`"frobnicate"`, "make, check, pack"}},
		{"dataset make", exitUsage, []string{"0 arguments", "DIR"}},
		{"dataset make a b", exitUsage, []string{"2 arguments", "DIR"}},
		{"dataset pack src", exitUsage, []string{"1 argument: want", "SRC DST"}},
		{"dataset pack src dst", exitUsage, []string{"--store", "files|tar|raw|tensor"}},
		{"dataset make dst --store zip", exitUsage, []string{"--store", `"zip"`, "files, tar, raw, tensor"}},
		{"dataset make dst --images 0", exitUsage, []string{"--images", `"0"`, "at least 1"}},
		{"dataset make dst --store tar --shape 2x2x3", exitUsage, []string{"--shape 2x2x3", "not tar"}},
		{"dataset make dst --store raw --batch 2", exitUsage, []string{"--batch 2", "not raw"}},
		{"dataset make dst --store raw --shape 2x2x1", exitUsage, []string{"2x2x1", "pictures have 3"}},
		{"dataset make dst --store raw --layout chwn", exitUsage, []string{"--layout", `"chwn"`, "nhwc, nchw"}},
		{"dataset make dst --store tensor --images 3", exitFailed, []string{"dst", "no whole batch of 32"}},
		{"dataset make dst --images 99999999999999", exitFailed, []string{"dst", "not enough room", "11.6 EB needed"}},
		{"dataset make src", exitFailed, []string{"src", "not empty"}},
		{"dataset make dst --store raw --shape 900x900x3 --images 200000000000", exitFailed,
			[]string{"dst", "not enough room", "1.9 EB needed", "available"}},
		{"dataset pack src src/dst --store tar", exitFailed, []string{"src/dst", "only read"}},
		{"dataset pack gone dst --store tar", exitUsage, []string{"gone"}},
		{"dataset pack src dst --store raw --strict", exitFailed, []string{"bad.jpg", "not an image: text"}},
		{"dataset check", exitUsage, []string{"0 arguments", "PATH"}},
		{"dataset check gone", exitUsage, []string{"gone", "no such file or folder"}},
		{"dataset check nothing", exitUsage, []string{"nothing", "no samples"}},
		{"dataset check src --decoder magic", exitUsage, []string{"--decoder", "auto, turbo, go"}},
		{"dataset check src --threads -1", exitUsage, []string{"--threads"}},
		{"dataset check src --time-limit -1s", exitUsage, []string{"--time-limit"}},
		{"dataset check src --format xml", exitUsage, []string{"--format", "text, json"}},
	} {
		refuses(t, c.code, strings.Fields(c.args), c.want...)
	}
	code, stdout, stderr := in(t, "dataset", "pack", "src", "dst", "--store", "raw", "--shape", "8x8x3")
	if code != exitOK || !strings.Contains(stdout, "4 images") ||
		!strings.Contains(stderr, "skipped: 1\n  class-0000/bad.jpg: not an image: text\n") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

func TestDatasetNamesTenSkipped(t *testing.T) {
	var out bytes.Buffer
	writeSkipped(&out, make([]loader.Fault, 13))
	if s := out.String(); !strings.HasPrefix(s, "skipped: 13\n") || strings.Count(s, "\n") != 12 ||
		!strings.HasSuffix(s, "and 3 more\n") {
		t.Errorf("%q", s)
	}
}

func TestDatasetInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code := execute(ctx, []string{"dataset", "make", "a/b", "--images", "50"}, nil, &out, &errs)
	if code != exitInterrupted || out.Len() > 0 || !oneLineOf(errs.String(), "interrupted", "nothing is left of a/b") {
		t.Errorf("exit %d, %q, %q", code, out.String(), errs.String())
	}
	if entries, _ := os.ReadDir("."); len(entries) > 0 {
		t.Errorf("left %v", entries)
	}
}

// TestDatasetSignal interrupts the process in the middle.
func TestDatasetSignal(t *testing.T) {
	cmd, stdout, stderr := child(t, nil, "dataset", "make", "set", "--images", "100000", "--store", "tensor",
		"--shape", "8x8x3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until there is something to be left behind
		if entries, _ := os.ReadDir(cmd.Dir); len(entries) > 0 {
			break
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Skipf("no interrupts here: %v", err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || stdout.Len() > 0 ||
		!oneLineOf(stderr.String(), "interrupted") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	if entries, _ := os.ReadDir(cmd.Dir); len(entries) > 0 {
		t.Errorf("left %v", entries)
	}
}

// mixed is a set of good images, with bad and other files between them.
func mixed(t *testing.T) (dir string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if code, _, stderr := in(t, "dataset", "make", "src", "--images", "6", "--classes", "2"); code != exitOK {
		t.Fatal(stderr)
	}
	for name, data := range map[string]string{"class-0000/bad.jpg": "no picture", "class-0001/empty.png": "",
		"class-0001/a\x1b[31mred.jpg": "x", "class-0001/.DS_Store": "x"} {
		save(t, "src", name, data)
	}
	return "src"
}

// Everything bad is named with its reason, in the text and in the JSON.
func TestDatasetCheck(t *testing.T) {
	dir := mixed(t)
	code, stdout, stderr := in(t, "dataset", "check", dir, "--format", "json")
	var c struct {
		Images, Good, Damaged int
		Bad                   []struct{ Path, Reason string }
	}
	if err := json.Unmarshal([]byte(stdout), &c); err != nil || code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %v, stderr %q", code, err, stderr)
	}
	if c.Images != 9 || c.Good != 6 || c.Damaged != 0 || len(c.Bad) != 3 {
		t.Errorf("%+v", c)
	}
	for _, b := range c.Bad {
		if b.Path == "" || b.Reason == "" {
			t.Errorf("%+v", b)
		}
	}
	code, stdout, _ = in(t, "dataset", "check", dir)
	for _, want := range []string{"9: 6 good, 0 damaged, 3 bad", "class-0000/bad.jpg: ",
		"class-0001/empty.png: empty file", "class-0001 4", "hidden"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("does not say %q:\n%s", want, stdout)
		}
	}
	if code != exitOK || strings.Contains(stdout, "\x1b") {
		t.Errorf("exit %d; what steers a terminal is passed on: %q", code, stdout)
	}
	code, stdout, _ = in(t, "dataset", "check", dir+"/class-0001/empty.png") // only bad: all the same named
	if code != exitFailed || !strings.Contains(stdout, "empty.png: empty file") {
		t.Errorf("exit %d, %q", code, stdout)
	}
	if code, _, stderr := in(t, "dataset", "check", dir, "--strict"); code != exitFailed ||
		!oneLineOf(stderr, "3 of 9 images are not good: 3 bad") {
		t.Errorf("strict: exit %d, %q", code, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := execute(ctx, []string{"dataset", "check", dir}, nil, &out, &errs); code != exitInterrupted ||
		!oneLineOf(errs.String(), "interrupted", "images were checked") || !strings.Contains(out.String(), "bad") {
		t.Errorf("interrupted: exit %d, %q, %q", code, out.String(), errs.String())
	}
}

// manualOfFormats is the manual's table of formats: what of each is decoded, and what is not.
func manualOfFormats() string {
	var rows, images, others strings.Builder
	list := func(b *strings.Builder, name string) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	for _, t := range decode.FileTypes {
		switch {
		case t.Format != "":
			fmt.Fprintf(&rows, "| %s | %s | %s |\n", t.Name, t.Decoded, t.Named)
		case t.Image:
			list(&images, t.Name)
		default:
			list(&others, t.Name)
		}
	}
	return "| format | decoded | valid, not decoded here |\n| --- | --- | --- |\n" + rows.String() +
		"\nValid, not decoded here: " + images.String() + ".\n\nBad, and named as what it is: " + others.String() + ".\n"
}

// The manual has the table of formats that the decoders have.
func TestManualOfFormats(t *testing.T) {
	text, err := os.ReadFile("help/data.md")
	if err != nil {
		t.Fatal(err)
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if want := manualOfFormats(); !strings.Contains(words(string(text)), words(want)) {
		t.Errorf("help/data.md lacks, its lines filled anew:\n%s", want)
	}
}

// manualOfReaders is the manual's table of what stops readers.
func manualOfReaders() string {
	var rows strings.Builder
	for _, r := range decode.Rules {
		fmt.Fprintf(&rows, "| %s |", r.Kind)
		for _, name := range decode.ReaderNames {
			cell := ""
			if r.Stops&decode.ReaderOf(name) != 0 {
				cell = "stops"
			}
			fmt.Fprintf(&rows, " %s |", cell)
		}
		rows.WriteString("\n")
	}
	return "| file | ImageFolder | torchvision.io | OpenCV | DALI |\n| --- | --- | --- | --- | --- |\n" + rows.String()
}

func TestManualOfReaders(t *testing.T) {
	text, err := os.ReadFile("help/data.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := manualOfReaders(); !strings.Contains(string(text), want) {
		t.Errorf("help/data.md lacks:\n%s", want)
	}
}

// stopping has files that stop readers: some, all or none of them, and what only ImageFolder takes
// for images.
func stopping(t *testing.T) (dir string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if code, _, stderr := in(t, "dataset", "make", "set", "--images", "4", "--classes", "2"); code != exitOK {
		t.Fatal(stderr)
	}
	names, err := filepath.Glob("set/class-0000/*")
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"class-0000/cut off.jpg": string(whole[:len(whole)/2]), "class-0001/page.jpg": "<html>",
		"class-0001/empty.jpg": "", "class-0001/._new\nline.jpg": "\x00\x05\x16\x07", "class-0001/._notes.txt": "x", ".cache/list.txt": "x",
		".seen/a.jpg": "x", "class-0002/notes.txt": "x",
	} {
		save(t, "set", name, data)
	}
	return "set"
}

// What would stop readers is counted, named, listed for xargs and fails with --strict.
func TestCheckForesees(t *testing.T) {
	if _, err := decode.Library(); err != nil {
		t.Skip(err)
	}
	dir := stopping(t)
	pillow := []string{"class-0000/cut off.jpg", "class-0001/page.jpg", ".cache", "class-0001/._new\nline.jpg",
		"class-0001/empty.jpg", "class-0002"}
	code, stdout, stderr := in(t, "dataset", "check", dir, "--list", "all", "-0")
	words := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"would stop torchvision's ImageFolder: 6 of 7, torchvision.io: 3 of 7, OpenCV: 2 of 7, " +
		"DALI: 3 of 7", "would stop torchvision's ImageFolder (6) class-0000/cut off.jpg: JPEG that is cut off",
		" wrote all: 6 names "} {
		if code != exitOK || stderr != "" || !strings.Contains(words, want) {
			t.Errorf("exit %d, %q, %s; want %q", code, stderr, stdout, want)
		}
	}
	text, err := os.ReadFile("all")
	names := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	for i := range names {
		names[i] = strings.TrimPrefix(filepath.ToSlash(names[i]), dir+"/")
	}
	slices.Sort(names)
	slices.Sort(pillow)
	if err != nil || !slices.Equal(names, pillow) {
		t.Errorf("%q, %v; want %q", names, err, pillow)
	}
	for reader, want := range map[string]string{"opencv": "2 would stop OpenCV", "dali": "3 would stop DALI",
		"pillow": "6 would stop torchvision's ImageFolder", "any": "6 would stop one of these readers"} {
		code, _, stderr := in(t, "dataset", "check", dir, "--reader", reader, "--strict", "--null", "--list", "some")
		text, err := os.ReadFile("some")
		lines := strings.Count(string(text), "\x00")
		want = "3 of 7 images are not good: 2 bad, 1 damaged; " + want
		if code != exitFailed || err != nil || !oneLineOf(stderr, want) ||
			!strings.Contains(want, fmt.Sprintf("; %d would", lines)) {
			t.Errorf("%s: exit %d, %q, %d lines %q, %v", reader, code, stderr, lines, text, err)
		}
	}
	var c struct {
		Stops []struct {
			Path, Reason string
			Readers      []string
		}
	}
	_, stdout, _ = in(t, "dataset", "check", dir, "--format", "json")
	if err := json.Unmarshal([]byte(stdout), &c); err != nil || len(c.Stops) != 6 ||
		c.Stops[0].Path != "class-0000/cut off.jpg" || strings.Join(c.Stops[0].Readers, " ") != "pillow torchvision.io dali" {
		t.Errorf("%v, %+v", err, c.Stops)
	}
	if _, stdout, _ = in(t, "dataset", "check", dir); !strings.Contains(stdout, "--list FILE writes these names") {
		t.Errorf("no hint at --list in\n%s", stdout)
	}
	// Without zero bytes a name of two lines would name other files.
	code, _, stderr = in(t, "dataset", "check", dir, "--list", "lines")
	text, err = os.ReadFile("lines")
	if code != exitFailed || err != nil || !oneLineOf(stderr, "--list lines", `._new\nline.jpg`, "add --null") ||
		strings.Count(string(text), "\n") != 5 || strings.Contains(string(text), "line.jpg") {
		t.Errorf("exit %d, %q, names %q, %v", code, stderr, text, err)
	}
	refuses(t, exitUsage, []string{"dataset", "check", dir, "--null"}, "--null", "--list")
	refuses(t, exitFailed, []string{"dataset", "check", dir, "--list", "no/such/folder"}, "no/such/folder")
}

// Files that are good for dlbench, and stop readers, fail with --strict.
func TestCheckStrictOfGoodFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	save(t, "set", "a/1.gif.png", "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00"+
		"\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
	if code, stdout, stderr := in(t, "dataset", "check", "set", "--strict"); code != exitOK {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := in(t, "dataset", "check", "set", "--strict", "--reader", "dali"); code != exitFailed ||
		!oneLineOf(stderr, "1 would stop DALI") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// A check of shards says what it is that WebDataset stops at.
func TestCheckOfShards(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{"dataset make set --images 4 --store tar", "dataset make set/more --images 4 --store tar"} {
		if code, _, stderr := in(t, strings.Fields(args)...); code != exitOK {
			t.Fatal(stderr)
		}
	}
	shards, err := filepath.Glob("set/more/*.tar")
	if err != nil || len(shards) != 1 {
		t.Fatal(shards, err)
	}
	if err := os.Rename(shards[0], "set/z.tar"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := in(t, "dataset", "check", "set", "--strict")
	words := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"shards 2: with more DataLoader workers over all ranks than that, WebDataset stops",
		"would stop WebDataset (Pillow): 0 of 8", "z.tar: keys that are in another shard, too: 4, the first in "} {
		if code != exitOK || stderr != "" || !strings.Contains(words, want) {
			t.Errorf("exit %d, %q, %s; want %q", code, stderr, stdout, want)
		}
	}
}

// Where nothing can be used, neither the check nor a run is a success; what is valid but not
// decoded is counted apart.
func TestNothingUsable(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 4 {
		save(t, "none", fmt.Sprintf("a/%d.jpg", i), []string{"\x1f\x8b\x08", "%PDF-1.7\n"}[i%2])
	}
	code, stdout, stderr := in(t, "dataset", "check", "none")
	if code != exitFailed || !oneLineOf(stderr, "none of 4 images can be used: 2 bad, 2 not decoded here") ||
		!strings.Contains(stdout, "0 good, 0 damaged, 2 bad, 2 valid but not decoded here") ||
		!strings.Contains(stdout, "a/1.jpg: PDF, not decoded here") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	save(t, "packed", "0.tar.gz", "x")
	for _, line := range []string{"dataset check packed", "run packed", "dataset pack packed x --store tar"} {
		refuses(t, exitFailed, strings.Fields(line), "packed: 0.tar.gz is a compressed archive: unpack it")
	}
	for _, batch := range []string{"2", "32"} { // of which there is one, or none
		code, _, stderr = in(t, "run", "--full", "--suite", "preprocess", "--data", "none", "--batch", batch, "--shape",
			"16x16x3", "-o", "out"+batch)
		if code != exitFailed || !strings.Contains(stderr, "none of 4 images can be used: 2 bad, 2 not decoded here") {
			t.Errorf("batch %s: exit %d, %q", batch, code, stderr)
		}
	}
}

// A run over a tree with bad files finishes, and names every one; a strict one refuses.
func TestRunNamesBadFiles(t *testing.T) {
	dir := mixed(t)
	args := []string{"run", "--full", "--suite", "preprocess", "--data", dir, "--batch", "3", "--shape", "16x16x3",
		"--count", "1", "-a", "threads=1", "-a", "decoder=go",
		"-a", "layout=nhwc", "-a", "dtype=float32", "-a", "antialias=on", "-o", "out"}
	code, stdout, stderr := in(t, args...)
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"class-0000/bad.jpg", "class-0001/empty.png: empty file", "red.jpg"} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("%s is not named:\n%s", want, stdout)
		}
	}
	if code, _, stderr := in(t, append(args, "--strict")...); code != exitFailed ||
		!oneLineOf(stderr, "3 of 9", "--strict") {
		t.Errorf("strict: exit %d, %q", code, stderr)
	}
}

// What was not measured is not printed as 0: sizes and rates where nothing could be decoded.
func TestCensusPrintsNoZeros(t *testing.T) {
	for name, c := range map[string]*loader.Census{
		"nothing decodes": {Store: loader.Files, Images: 2, Seconds: 0.1, Formats: map[string]int{"png": 2},
			Bad: []loader.Fault{{Path: "a.png", Reason: "not enough memory"}, {Path: "b.png", Reason: "empty file"}}},
		"nothing at all": {Store: loader.Files},
	} {
		for _, table := range censusTables(c) {
			for row := range table.Rows {
				var line []string
				for _, column := range table.Columns {
					line = append(line, column.Cells[row])
				}
				text := strings.Join(line, " ")
				for _, not := range []string{"width", "height", "0 pixels", "0 images/s", "slowest", "bytes a sample 0"} {
					if strings.Contains(text, not) {
						t.Errorf("%s: %q", name, text)
					}
				}
			}
		}
	}
}

// A batch that does not fit into memory is refused before anything is read; what fits is not, whatever the store.
func TestBatchesFitIntoMemory(t *testing.T) {
	batch := theory.Batch{Images: 64, Height: 1000, Width: 1000, Channels: 3, DType: "float32"} // 768 MB
	for _, c := range []struct {
		store string
		room  int64
		fits  bool
	}{
		{loader.Tensor, 128 << 20, false},
		{loader.Tensor, 750 << 20, false}, // the batch, but not what threads are at
		{loader.Tensor, 900 << 20, true},
		{loader.Raw, 128 << 20, true},
		{loader.Raw, 32 << 20, false},
		{loader.Files, 1, true},
		{loader.Tar, 1, true},
		{loader.Tensor, 0, true}, // not known
	} {
		form := synth.Form{Store: c.store, Batch: batch}
		err := fits(form, c.room, 2)
		if c.fits != (err == nil) || err != nil && !strings.Contains(err.Error(), "--batch") {
			t.Errorf("%s, room for %d bytes: %v; want it to fit: %v", c.store, c.room, err, c.fits)
		}
	}
}
