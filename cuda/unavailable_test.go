//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

func TestUnavailable(t *testing.T) {
	garbage := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(garbage, []byte("no library"), 0o755); err != nil {
		t.Fatal(err)
	}
	fake := fakecuda.Build(t)
	for _, c := range []struct {
		path, settings string
		want           []string
		code           Code
	}{
		{path: "/nowhere/libcuda.so.1", want: []string{"no NVIDIA driver: /nowhere/libcuda.so.1 not found"}},
		{path: garbage, want: []string{"no shared library"}},
		{path: "libm.so.6", want: []string{"libm.so.6 lacks cuInit", "too old"}},
		{settings: "FAKE_CUDA_DEVICES=0", want: []string{"finds no GPU: cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected (100)"}, code: NoDevice},
		{settings: "FAKE_CUDA_DEVICES=0 CUDA_VISIBLE_DEVICES=-1", want: []string{`finds no GPU (CUDA_VISIBLE_DEVICES="-1")`}, code: NoDevice},
		{settings: "FAKE_CUDA_DEVICES=0 CUDA_VISIBLE_DEVICES=", want: []string{`finds no GPU (CUDA_VISIBLE_DEVICES="")`}, code: NoDevice},
		{settings: "FAKE_CUDA_FAIL=cuInit:34", want: []string{"stub", "CUDA_ERROR_STUB_LIBRARY"}, code: StubLibrary},
		{settings: "FAKE_CUDA_FAIL=cuInit:802", want: []string{"nvidia-fabricmanager"}, code: SystemNotReady},
		{settings: "FAKE_CUDA_FAIL=cuInit:803", want: []string{"differ in version", "reboot"}, code: DriverMismatch},
		{settings: "FAKE_CUDA_FAIL=cuInit:804", want: []string{"compatibility"}, code: CompatNotSupported},
		{settings: "FAKE_CUDA_FAIL=cuInit:999", want: []string{"permission", "/dev/nvidia*"}, code: Unknown},
		{settings: "FAKE_CUDA_FAIL=cuInit:12345", want: []string{"does not start: cuInit: unknown error code (12345)"}, code: 12345},
		{settings: "FAKE_CUDA_FAIL=cuDriverGetVersion:999", want: []string{"cuDriverGetVersion"}, code: Unknown},
		{settings: "FAKE_CUDA_FAIL=cuDeviceGetCount:999", want: []string{"cuDeviceGetCount"}, code: Unknown},
		{settings: "FAKE_CUDA_FAIL=cuDeviceGetName:999", want: []string{"cuda:0", "cuDeviceGetName"}, code: Unknown},
		{settings: "FAKE_CUDA_VERSION=7050", want: []string{"too old: it supports CUDA 7.5, and 8.0 is wanted"}},
	} {
		t.Run(c.path+c.settings, func(t *testing.T) {
			os.Unsetenv("CUDA_VISIBLE_DEVICES")
			for name := range strings.FieldsSeq("FAKE_CUDA_DEVICES FAKE_CUDA_FAIL FAKE_CUDA_VERSION") {
				t.Setenv(name, "")
			}
			for kv := range strings.FieldsSeq(c.settings) {
				name, value, _ := strings.Cut(kv, "=")
				t.Setenv(name, value)
			}
			if c.path == "" { // a copy, else the settings of the first load stay
				c.path = filepath.Join(t.TempDir(), "libcuda.so.1")
				lib, err := os.ReadFile(fake)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(c.path, lib, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv(libraryVariable, c.path)
			d, err := openDriver()
			if err == nil {
				_, err = d.devices()
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

// TestOpenProcess opens the fake driver as programs do, in a process of its own.
func TestOpenProcess(t *testing.T) {
	if os.Getenv("DLBENCH_TEST_OPEN") != "" {
		for range 2 {
			devices, err := cudaDevices()
			for _, d := range devices {
				fmt.Printf("%s=%s ", d.Info().Spec, d.Info().Name)
			}
			fmt.Println(err)
		}
		return
	}
	setFake(t)
	for _, c := range []struct{ devices, want string }{{"2", "cuda:0=Fake GPU 0 cuda:1=Fake GPU 1 <nil>\n"}, {"0", "the driver finds no GPU: "}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOpenProcess$")
		cmd.Env = append(os.Environ(), "DLBENCH_TEST_OPEN=1", libraryVariable+"="+fakecuda.Build(t), "FAKE_CUDA_DEVICES="+c.devices)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), c.want) != 2 {
			t.Errorf("%s devices: %v\n%s\nwant twice %q", c.devices, err, out, c.want)
		}
	}
}

// TestOldDriver is about drivers before CUDA 11, which lack one of the names.
func TestOldDriver(t *testing.T) {
	d, err := newDriver(loadFake(t, fakecuda.Build(t, "-DFAKE_CUDA_8"), "FAKE_CUDA_VERSION=8000"))
	if err != nil {
		t.Fatal(err)
	}
	devices, err := d.devices()
	if err != nil {
		t.Fatal(err)
	}
	newRig(t, devices[0])
	if err := devices[0].Close(); err != nil {
		t.Error(err)
	}
}
