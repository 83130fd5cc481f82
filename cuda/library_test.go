//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"cmp"
	"errors"
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
		"lacking": {read("-DcuMemHostRegister_v2=renamed"),
			"lacks cuMemHostRegister_v2: the driver is too old, or this is not the driver's library"},
	}
}

// TestAutoStandsIn opens "auto" twice in a process of its own for each library, named
// by its path and where the loader finds it: where it is of no use, assumed links stand
// in, and one line says why.
func TestAutoStandsIn(t *testing.T) {
	if os.Getenv("DLBENCH_TEST_AUTO") != "" {
		for range 2 {
			devices, missing, err := Open(specs(t, "auto"))
			for _, d := range devices {
				fmt.Print(d.Info().Spec, " ")
			}
			fmt.Printf("%v missing: %v\n", err, missing)
		}
		return
	}
	setFake(t)
	for name, c := range badLibraries(t) {
		dir := t.TempDir()
		path := filepath.Join(dir, "libcuda.so.1")
		if err := os.WriteFile(path, c.data, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, set := range []string{libraryVariable + "=" + path, "LD_LIBRARY_PATH=/nonexistent::" + dir} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAutoStandsIn$")
			cmd.Env = append(os.Environ(), "DLBENCH_TEST_AUTO=1", "FAKE_CUDA_DEVICES=2", libraryVariable+"=", set)
			out, err := cmd.CombinedOutput()
			want := "sim:gen3x4 sim:gen3x8 sim:gen3x16 <nil> missing: no usable CUDA device: "
			if c.want == "" {
				want = "cuda:0 cuda:1 <nil> missing: <nil>\n"
			}
			if err != nil || strings.Count(string(out), want) != 2 || !strings.Contains(string(out), c.want) {
				t.Errorf("%s, %s: %v\n%s\nwant %q and %q", name, set, err, out, want, c.want)
			}
		}
	}
}

func TestUnavailable(t *testing.T) {
	for _, c := range []struct {
		path, settings string
		want           []string
		code           Code
	}{
		{path: "/nowhere/libcuda.so.1", want: []string{"no NVIDIA driver: /nowhere/libcuda.so.1 not found"}},
		{path: "libm.so.6", want: []string{"libm.so.6 lacks cuInit", "too old"}},
		{settings: "FAKE_CUDA_DEVICES=0",
			want: []string{"finds no GPU: cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected (100)"},
			code: NoDevice},
		{settings: "FAKE_CUDA_DEVICES=0 CUDA_VISIBLE_DEVICES=-1",
			want: []string{`finds no GPU (CUDA_VISIBLE_DEVICES="-1")`}, code: NoDevice},
		{settings: "FAKE_CUDA_DEVICES=0 CUDA_VISIBLE_DEVICES=",
			want: []string{`finds no GPU (CUDA_VISIBLE_DEVICES="")`}, code: NoDevice},
		{settings: "FAKE_CUDA_FAIL=cuInit:34", want: []string{"stub", "CUDA_ERROR_STUB_LIBRARY"}, code: StubLibrary},
		{settings: "FAKE_CUDA_FAIL=cuInit:802", want: []string{"nvidia-fabricmanager"}, code: SystemNotReady},
		{settings: "FAKE_CUDA_FAIL=cuInit:803", want: []string{"differ in version", "reboot"}, code: DriverMismatch},
		{settings: "FAKE_CUDA_FAIL=cuInit:804", want: []string{"compatibility"}, code: CompatNotSupported},
		{settings: "FAKE_CUDA_FAIL=cuInit:999", want: []string{"permission", "/dev/nvidia*"}, code: Unknown},
		{settings: "FAKE_CUDA_FAIL=cuInit:12345",
			want: []string{"does not start: cuInit: unknown error code (12345)"}, code: 12345},
		{settings: "FAKE_CUDA_FAIL=cuDriverGetVersion:999", want: []string{"cuDriverGetVersion"}, code: Unknown},
		{settings: "FAKE_CUDA_FAIL=cuDeviceGetCount:999", want: []string{"cuDeviceGetCount"}, code: Unknown},
		{settings: "FAKE_CUDA_FAIL=cuDeviceGetName:999", want: []string{"cuda:0", "cuDeviceGetName"}, code: Unknown},
		{settings: "FAKE_CUDA_VERSION=7050", want: []string{"too old: it supports CUDA 7.5, and 8.0 is wanted"}},
	} {
		t.Run(c.path+c.settings, func(t *testing.T) {
			setFake(t, strings.Fields(c.settings)...)
			t.Setenv(libraryVariable, cmp.Or(c.path, fakecuda.Build(t)))
			calls, err := drivers()
			if err == nil {
				_, err = devicesOf(calls)
			}
			if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrLost) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q", err)
			}
			if c.code != 0 && !errors.Is(err, c.code) {
				t.Errorf("%q is not code %d", err, c.code)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

// TestOldDriver is about drivers before CUDA 11, which lack one of the names.
func TestOldDriver(t *testing.T) {
	d := devicesIn(t, loadFake(t, fakecuda.Build(t, "-DFAKE_CUDA_8"), "FAKE_CUDA_VERSION=8000"))[0]
	if err := errors.Join(roundTrips(d, 1), d.Close()); err != nil {
		t.Error(err)
	}
}
