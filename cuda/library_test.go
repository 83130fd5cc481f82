//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

// The loader faults on some of these, or says that they do not exist.
func TestLibrariesThatAreNone(t *testing.T) {
	whole, err := os.ReadFile(fakecuda.Build(t))
	if err != nil {
		t.Fatal(err)
	}
	other := append([]byte(nil), whole...)
	other[18], other[19] = 0x15, 0 // e_machine: 64-bit PowerPC
	for name, c := range map[string]struct {
		data []byte
		want string // "" for a library that is fine
	}{
		"whole":         {whole, ""},
		"cut":           {whole[:3000], "cut off at 3000 bytes"},
		"header":        {whole[:64], "cut"},
		"other machine": {other, "another machine"},
		"text":          {[]byte("not a library"), "no shared library"},
		"empty":         {nil, "no shared library"},
	} {
		path := filepath.Join(t.TempDir(), "libcuda.so.1")
		if err := os.WriteFile(path, c.data, 0o755); err != nil {
			t.Fatal(err)
		}
		err := checkLibrary(path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "no shared library") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := checkLibrary("/nonexistent/libcuda.so.1"); err == nil || !strings.Contains(err.Error(), "no NVIDIA driver") {
		t.Errorf("missing: %v", err)
	}
	if err := checkLibrary("libcuda.so.1"); err != nil {
		t.Errorf("one that the loader looks for: %v", err)
	}
}
