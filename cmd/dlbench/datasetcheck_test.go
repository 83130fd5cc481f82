package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mixed is a set of good images, with bad and other files between them.
func mixed(t *testing.T) (dir string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if code, _, stderr := in(t, "dataset", "make", "src", "--images", "6", "--classes", "2"); code != exitOK {
		t.Fatal(stderr)
	}
	for name, data := range map[string]string{"class-0000/bad.jpg": "no picture", "class-0001/empty.png": "", "class-0001/a\x1b[31mred.jpg": "x", "class-0001/.DS_Store": "x"} {
		if err := os.WriteFile(filepath.Join("src", filepath.FromSlash(name)), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "src"
}

// The JSON has the documented fields, and everything bad with its reason.
func TestDatasetCheckJSON(t *testing.T) {
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
}

func TestDatasetCheckText(t *testing.T) {
	dir := mixed(t)
	code, stdout, _ := in(t, "dataset", "check", dir)
	for _, want := range []string{"9: 6 good, 0 damaged, 3 bad", "class-0000/bad.jpg: ", "class-0001/empty.png: empty file", "class-0001 4", "hidden"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("does not say %q:\n%s", want, stdout)
		}
	}
	if code != exitOK || strings.Contains(stdout, "\x1b") {
		t.Errorf("exit %d; what steers a terminal is passed on: %q", code, stdout)
	}
	if code, _, stderr := in(t, "dataset", "check", dir, "--strict"); code != exitFailed || !oneLineOf(stderr, "3 of 9 images are bad") {
		t.Errorf("strict: exit %d, %q", code, stderr)
	}
}

func TestDatasetCheckErrors(t *testing.T) {
	dir := mixed(t)
	if err := os.Mkdir("nothing", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"", exitUsage, []string{"0 arguments", "PATH"}},
		{"gone", exitUsage, []string{"gone", "no such file or folder"}},
		{dir + "/class-0001/empty.png", exitOK, nil}, // only bad: all the same named
		{"nothing", exitFailed, []string{"nothing", "no samples"}},
		{dir + " --decoder magic", exitUsage, []string{"--decoder", "auto, turbo, go"}},
		{dir + " --threads -1", exitUsage, []string{"--threads"}},
		{dir + " --time-limit -1s", exitUsage, []string{"--time-limit"}},
		{dir + " --format xml", exitUsage, []string{"--format", "text, json"}},
	} {
		code, stdout, stderr := in(t, append([]string{"dataset", "check"}, strings.Fields(c.args)...)...)
		if c.code == exitOK {
			if code != exitOK || !strings.Contains(stdout, "empty.png: empty file") {
				t.Errorf("check %s: exit %d, %q", c.args, code, stdout)
			}
			continue
		}
		if code != c.code || !oneLineOf(stderr, c.want...) || stdout != "" {
			t.Errorf("check %s: exit %d, stderr %q; want exit %d and one line with %q", c.args, code, stderr, c.code, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := execute(ctx, []string{"dataset", "check", dir}, &out, &errs); code != exitInterrupted || !oneLineOf(errs.String(), "interrupted", "images were checked") || !strings.Contains(out.String(), "bad") {
		t.Errorf("interrupted: exit %d, %q, %q", code, out.String(), errs.String())
	}
}

// A run over a tree with bad files finishes, and names every one; a strict one refuses.
func TestRunNamesBadFiles(t *testing.T) {
	dir := mixed(t)
	args := []string{"run", "--suite", "preprocess", "--data", dir, "--batch", "3", "--shape", "16x16x3", "--count", "1", "-a", "threads=1", "-a", "decoder=go",
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
	if code, _, stderr := in(t, append(args, "--strict")...); code != exitFailed || !oneLineOf(stderr, "3 of 9", "--strict") {
		t.Errorf("strict: exit %d, %q", code, stderr)
	}
}
