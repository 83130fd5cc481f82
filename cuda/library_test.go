//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

// badLibraries are libraries that are none of use, and what is said of them. The
// loader faults on some, or says that they do not exist.
func badLibraries(t *testing.T) map[string]struct {
	data []byte
	want string // "" for a library that is fine
} {
	read := func(cflags ...string) []byte {
		lib, err := os.ReadFile(fakecuda.Build(t, cflags...))
		if err != nil {
			t.Fatal(err)
		}
		return lib
	}
	whole := read()
	other := append([]byte(nil), whole...)
	other[18], other[19] = 0x15, 0 // e_machine: 64-bit PowerPC
	return map[string]struct {
		data []byte
		want string
	}{
		"whole":         {whole, ""},
		"cut":           {whole[:3000], "cut off at 3000 bytes"},
		"half":          {whole[:len(whole)/2], "cut off at"},
		"header":        {whole[:64], "cut off at 64 bytes"},
		"other machine": {other, "another machine"},
		"text":          {[]byte("not a library"), "no shared library"},
		"empty":         {nil, "cut off at 0 bytes"},
		"lacking":       {read("-DcuMemHostRegister_v2=renamed"), "lacks cuMemHostRegister_v2: the driver is too old, or this is not the driver's library"},
	}
}

func TestCheckLibrary(t *testing.T) {
	for name, c := range badLibraries(t) {
		path := filepath.Join(t.TempDir(), "libcuda.so.1")
		if err := os.WriteFile(path, c.data, 0o755); err != nil {
			t.Fatal(err)
		}
		if name == "lacking" { // which only opening it shows
			c.want = ""
		}
		_, err := checkLibrary(path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := checkLibrary("/nonexistent/libcuda.so.1"); err == nil || !strings.Contains(err.Error(), "no NVIDIA driver") {
		t.Errorf("missing: %v", err)
	}
	t.Setenv("LD_LIBRARY_PATH", t.TempDir()+"::/nonexistent")
	if other, err := checkLibrary("libcuda.so.1"); other != nil || err != nil {
		t.Errorf("one that the loader looks for: %v, %v", other, err)
	}
}

// TestAutoStandsIn opens "auto" in a process of its own for each bad library, named
// by its path and where the loader finds it: assumed links stand in, and one line
// says why.
func TestAutoStandsIn(t *testing.T) {
	if os.Getenv("DLBENCH_TEST_AUTO") != "" {
		devices, missing, err := Open(specs(t, "auto"))
		for _, d := range devices {
			fmt.Print(d.Info().Spec, " ")
		}
		fmt.Printf("%v missing: %v\n", err, missing)
		return
	}
	setFake(t)
	for name, c := range badLibraries(t) {
		dir := t.TempDir()
		path := filepath.Join(dir, "libcuda.so.1")
		if err := os.WriteFile(path, c.data, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, set := range []string{libraryVariable + "=" + path, "LD_LIBRARY_PATH=" + dir} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAutoStandsIn$")
			cmd.Env = append(os.Environ(), "DLBENCH_TEST_AUTO=1", libraryVariable+"=", set)
			out, err := cmd.CombinedOutput()
			got, _, _ := strings.Cut(string(out), "\n")
			if err != nil || c.want == "" && got != "cuda:0 <nil> missing: <nil>" ||
				c.want != "" && !(strings.HasPrefix(got, "sim:gen3x4 sim:gen3x8 sim:gen3x16 <nil> missing: no usable CUDA device: ") && strings.Contains(got, c.want)) {
				t.Errorf("%s, %s: %v\n%s\nwant %q", name, set, err, out, c.want)
			}
		}
	}
}
