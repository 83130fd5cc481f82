//go:build linux && (amd64 || arm64)

package sharedlib

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The loader faults on some of these libraries, or says that they do not exist. They are named
// by their path, and lie where the loader looks first.
func TestBadLibraries(t *testing.T) {
	libc, err := Open("libc.so.6")
	if err != nil {
		t.Skip(err)
	}
	if err := libc.Find("abs", "dlbench_nothing"); err == nil || err.Error() != "libc.so.6 lacks dlbench_nothing" {
		t.Errorf("a function that is not there: %v", err)
	}
	if n := libc.Call("abs", ^uintptr(6)); n != 7 { // -7
		t.Errorf("abs(-7) is %d", n)
	}
	whole, err := os.ReadFile(libc.File("abs"))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(whole)
	other[18], other[19] = 0x15, 0 // e_machine: 64-bit PowerPC
	for want, data := range map[string][]byte{
		"<nil>":                  whole,
		"cut off at 3000 bytes":  whole[:3000],
		"cut off at 64 bytes":    whole[:64],
		"cut off at 0 bytes":     nil,
		"is for another machine": other,
		"is no shared library":   []byte("not a library"),
		fmt.Sprintf("cut off at %d bytes", len(whole)/2): whole[:len(whole)/2],
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "libdlbench.so.1")
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("LD_LIBRARY_PATH", "/nonexistent::"+dir)
		names := []string{path, "libdlbench.so.1"}
		if slices.Equal(data, whole) {
			names = names[:1] // the loader read the variable when the process began
		}
		for _, name := range names {
			if l, err := Open(name); !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			} else if err == nil && (l.Find("abs") != nil || l.File("abs") != path) {
				t.Errorf("%s: %+v", name, l)
			}
		}
	}
	for _, name := range []string{"/nonexistent/libdlbench.so.1", "libdlbench-nothing.so.1"} {
		if _, err := Open(name); !errors.Is(err, ErrNotFound) || err.Error() != name+" not found" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
