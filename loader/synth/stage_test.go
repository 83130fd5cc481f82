package synth

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/loader"
)

func TestNothingIsOverwritten(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	full := filepath.Join(root, "full")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(full, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Store: loader.Files, Images: 2}
	if _, err := Make(t.Context(), full, spec, nil); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a folder with something in it: %v", err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), ""} {
		if _, err := Make(t.Context(), dir, spec, nil); err == nil {
			t.Errorf("%q: no error", dir)
		}
	}
	entries, _ := os.ReadDir(root)
	if data, err := os.ReadFile(file); err != nil || string(data) != "x" || len(entries) != 2 {
		t.Errorf("%v, %q: %v", err, data, entries)
	}
}

// TestEmptyFolder makes a set in a folder that is there but empty, and through a
// link to one.
func TestEmptyFolder(t *testing.T) {
	root := t.TempDir()
	dir, link := filepath.Join(root, "empty"), filepath.Join(root, "link")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	target := dir
	if err := os.Symlink("empty", link); err == nil {
		target = link
	}
	if _, err := Make(t.Context(), target, Spec{Store: loader.Tar, Images: 2}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := loader.Open(dir, loader.OpenOptions{}); err != nil {
		t.Error(err)
	}
}

// TestFullDisk asks for more than there is.
func TestFullDisk(t *testing.T) {
	root := t.TempDir()
	spec := Spec{Store: loader.Raw, Images: 10, Batch: small}
	record := int64(4096)
	need := 10*record + 4*10 + 4096
	asked := ""
	makeWith := func(free int64) error {
		_, err := makeAll(t.Context(), []string{filepath.Join(root, "a", "b")}, []Spec{spec}, nil, func(dir string) (int64, bool) {
			asked = dir
			return free, true
		})
		return err
	}
	err := makeWith(need + need/20 - 1)
	var full *FullError
	if !errors.As(err, &full) || full.Need != need+need/20 || full.Free != full.Need-1 || !strings.Contains(err.Error(), "47 kB needed, 47 kB available") {
		t.Errorf("a byte too few: %v", err)
	}
	if left, _ := os.ReadDir(root); len(left) > 0 || asked != root {
		t.Errorf("left %v; asked about %s", left, asked)
	}
	if err := makeWith(need + need/20); err != nil {
		t.Errorf("just enough: %v", err)
	}
}

// TestFreeBytes sees that the system is asked at all.
func TestFreeBytes(t *testing.T) {
	if n, ok := freeBytes(t.TempDir()); ok && n <= 0 {
		t.Errorf("%d bytes free", n)
	}
	if _, ok := freeBytes(filepath.Join(t.TempDir(), "not there")); ok {
		t.Error("a folder that is not there has room")
	}
}
