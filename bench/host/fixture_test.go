package host

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// files are a tree of fixtures: path to content. "-> target" makes a symlink.
type files map[string]string

// plant writes files below a new root.
func plant(t testing.TB, trees ...files) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the paths of /sys have colons")
	}
	root := t.TempDir()
	for name, content := range merge(trees...) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// merge copies trees into one, later ones over earlier ones.
func merge(trees ...files) files {
	all := files{}
	for _, tree := range trees {
		for name, content := range tree {
			all[name] = content
		}
	}
	return all
}

const noise = "\x00\xff\x7fELF -1: garbage, - [\n\n:::\n- - - - - - - cgroup\n99999999999999999999999\n"
