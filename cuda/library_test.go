//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"dlbench/cuda/fakecuda"
)

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
	setFake(t, "FAKE_CUDA_VERSION=8000")
	t.Setenv(libraryVariable, fakecuda.Build(t, "-DFAKE_CUDA_8"))
	c, err := drivers()
	if err != nil {
		t.Fatal(err)
	}
	d := devicesIn(t, c)[0]
	if err := errors.Join(roundTrips(d, 1), d.Close()); err != nil {
		t.Error(err)
	}
}
