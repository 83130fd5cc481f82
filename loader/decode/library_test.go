//go:build linux && (amd64 || arm64)

package decode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The loader faults on some of these, or says that they do not exist.
func TestLibrariesThatAreNone(t *testing.T) {
	lib, err := Library()
	if err != nil {
		t.Skip(err)
	}
	good := readFile(t, lib.Path)
	other := append([]byte(nil), good...)
	other[18], other[19] = 0x15, 0 // e_machine: 64-bit PowerPC
	const none, cut, machine = "no shared library", "cut off", "another machine"
	for name, c := range map[string]struct {
		data []byte
		want []string // one of them; nil for a library that is fine
	}{
		"whole":         {good, nil},
		"cut":           {good[:len(good)/2], []string{none, cut}},
		"header":        {good[:64], []string{none, cut}},
		"other machine": {other, []string{none, machine}},
		"text":          {[]byte("not a library"), []string{none}},
		"empty":         {nil, []string{none}},
	} {
		path := filepath.Join(t.TempDir(), "libturbojpeg.so.0")
		must(t, os.WriteFile(path, c.data, 0o755))
		l, err := open(path)
		switch text := fmt.Sprint(err); {
		case c.want == nil:
			if err != nil || l.Path != path || l.API != lib.API || l.Version != lib.Version {
				t.Errorf("%s: %+v, %v, want the version %s", name, l, err, lib.Version)
			}
		case !strings.Contains(text, path),
			!slices.ContainsFunc(c.want, func(w string) bool { return strings.Contains(text, w) }):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := open("/nonexistent/libturbojpeg.so.0"); !errors.Is(err, errNotFound) {
		t.Errorf("a path that is none: %v", err)
	}
	if _, err := open("libturbojpeg-nonexistent.so.0"); !errors.Is(err, errNotFound) {
		t.Errorf("a name that is none: %v", err)
	}
	// Of the right kind, but without the functions.
	if _, err := open("libc.so.6"); err == nil || !strings.Contains(err.Error(),
		"libc.so.6 lacks the function tjInitDecompress") {
		t.Errorf("another library: %v", err)
	}
}

func TestLoadByVariable(t *testing.T) {
	t.Setenv(libraryVariable, "/nonexistent/libturbojpeg.so.0")
	if _, err := load(); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), libraryVariable) {
		t.Errorf("%v", err)
	}
}

func TestResolve(t *testing.T) {
	for name, c := range map[string]struct {
		lacks string
		api   int
		bad   bool
	}{
		"3":           {"", 3, false},
		"3 of before": {"tj3SetCroppingRegion", 3, true},
		"2":           {"tj3", 2, false},
		"1":           {"tj3 tjGetErrorCode", 2, true},
	} {
		l := new(Lib)
		err := l.resolve("lib", func(name string) (uintptr, error) {
			for _, lack := range strings.Fields(c.lacks) {
				if strings.HasPrefix(name, lack) {
					return 0, errors.New("undefined symbol")
				}
			}
			return 1, nil
		})
		if l.API != c.api || (err != nil) != c.bad {
			t.Errorf("%s: API %d, %v", name, l.API, err)
		}
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
