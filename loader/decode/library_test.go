//go:build linux && (amd64 || arm64)

package decode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	lib, err := Library()
	if err != nil {
		t.Skip(err)
	}
	if !filepath.IsAbs(lib.Path) || strings.HasSuffix(lib.Version, ".x") {
		t.Errorf("%+v: want the file's path, and what it says of its version", lib)
	}
	if l, err := open(lib.Path); err != nil || l.Path != lib.Path || l.API != lib.API || l.Version != lib.Version {
		t.Errorf("%+v, %v, want %+v", l, err, lib)
	}
	if _, err := open("libc.so.6"); err == nil || !strings.Contains(err.Error(), "libc.so.6 lacks tjInitDecompress: ") {
		t.Errorf("another library: %v", err)
	}
}

func TestLoadByVariable(t *testing.T) {
	t.Setenv(libraryVariable, "/nonexistent/libturbojpeg.so.0")
	if _, err := load(); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), libraryVariable) {
		t.Errorf("%v", err)
	}
}

func TestVersionOf(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"\x00libjpeg-turbo version 3.1.3 (build 20260415)\x00": "3.1.3",
		"libjpeg-turbo version 2.1.5":                          "2.1.5",
		"libjpeg-turbo version ":                               "2.x",
		"nothing":                                              "2.x",
	} {
		path := filepath.Join(dir, "lib")
		must(t, os.WriteFile(path, []byte(text), 0o644))
		if got := versionOf(path, 2); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := versionOf(filepath.Join(dir, "none"), 3); got != "3.x" {
		t.Errorf("no file: %q", got)
	}
}
