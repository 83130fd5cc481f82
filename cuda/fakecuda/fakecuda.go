// Package fakecuda builds a stand-in for the CUDA driver, for tests: devices
// named "Fake GPU N" in host memory, over modelled links. Only tests import it.
//
// The stand-in takes its settings (FAKE_CUDA_DEVICES, FAKE_CUDA_FAIL and others,
// described in testdata/fakecuda.c) from the environment when it is loaded. Tests
// of programs set DLBENCH_LIBCUDA to its path for a child process, or before
// their own process opens the driver, which it does once.
package fakecuda

import (
	"cmp"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

//go:embed testdata/fakecuda.c
var source string

//go:embed testdata/fakenvml.c
var nvmlSource string

// Built libraries by their compiler flags.
var (
	mu    sync.Mutex
	built = map[string][]byte{}
)

// Build returns the path of a freshly written copy of the library, which lasts as
// long as the test; loading it gives a driver of its own, with its own settings.
// The compiler is $CC or cc; without one the test is skipped. cflags are for the compiler:
// -DFAKE_CUDA_8 gives a driver before CUDA 11.
func Build(tb testing.TB, cflags ...string) string {
	tb.Helper()
	return build(tb, "libcuda.so.1", source, cflags...)
}

// BuildNVML is Build for a stand-in for NVIDIA's management library, whose settings are
// described in testdata/fakenvml.c; DLBENCH_LIBNVML names it. cflags are for the compiler:
// -DFAKE_NVML_OLD gives an older library.
func BuildNVML(tb testing.TB, cflags ...string) string {
	tb.Helper()
	return build(tb, "libnvidia-ml.so.1", nvmlSource, cflags...)
}

func build(tb testing.TB, name, source string, cflags ...string) string {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("the fake CUDA driver is for Linux")
	}
	compiler, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil {
		tb.Skip("no C compiler for the fake CUDA driver: ", err)
	}
	mu.Lock()
	defer mu.Unlock()
	path := filepath.Join(tb.TempDir(), name)
	key := strings.Join(append([]string{name}, cflags...), " ")
	if built[key] == nil {
		args := []string{"-O2", "-shared", "-fPIC", "-Wl,-soname," + name, "-x", "c", "-o", path}
		cmd := exec.Command(compiler, slices.Concat(args, cflags, []string{"-", "-lpthread"})...)
		cmd.Stdin = strings.NewReader(source)
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("compile the fake %s: %v\n%s", name, err, out)
		}
		lib, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		built[key] = lib
	}
	if err := os.WriteFile(path, built[key], 0o755); err != nil {
		tb.Fatal(err)
	}
	return path
}
