//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		settings string
		do       func(Device) error
		code     Code
		want     []string
	}{
		{"FAKE_CUDA_MEMORY=1000", alloc(OnDevice, 1001), OutOfMemory, []string{"cuda:0: allocate 1001 bytes of device memory: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: out of memory (2)"}},
		{"FAKE_CUDA_HOST_LIMIT=1000", alloc(Pinned, 1001), OutOfMemory, []string{"allocate 1001 bytes of pinned memory: the host has no more memory to page-lock, the GPU's has not run out"}},
		{"FAKE_CUDA_HOST_LIMIT=1000", alloc(Registered, 1001), OutOfMemory, []string{"registered memory: the host has no more memory to page-lock"}},
		{"FAKE_CUDA_FAIL=cuMemHostRegister:801", alloc(Registered, 10), NotSupported, []string{"registration of host memory is not supported here"}},
		{"FAKE_CUDA_FAIL=cuModuleLoadDataEx:218", func(d Device) error { s, _ := d.NewStream(); return d.Step(time.Millisecond, s) }, 218,
			[]string{"load kernels: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed (218): fakecuda: the PTX does not compile"}},
		{"FAKE_CUDA_FAIL=cuModuleGetFunction:500", func(d Device) error { s, _ := d.NewStream(); return d.Step(time.Millisecond, s) }, 500, []string{"load kernel dlb_spin"}},
		{"FAKE_CUDA_FAIL=cuStreamCreate:2", func(d Device) error { _, err := d.NewStream(); return err }, OutOfMemory, []string{"cuda:0: cuStreamCreate"}},
		{"FAKE_CUDA_FAIL=cuEventCreate:2", func(d Device) error { _, err := d.NewEvent(); return err }, OutOfMemory, []string{"cuda:0: cuEventCreate"}},
	} {
		d := fakeDevice(t, c.settings)
		unbind, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		err = c.do(d)
		unbind()
		if !errors.Is(err, c.code) || errors.Is(err, ErrLost) || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", c.settings, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.settings, err, w)
			}
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: close: %v", c.settings, err)
		}
	}
}

func alloc(k Kind, n int) func(Device) error {
	return func(d Device) error { _, err := d.Alloc(k, n); return err }
}

func TestBindFails(t *testing.T) {
	for _, fail := range []string{"cuCtxGetCurrent:201", "cuDevicePrimaryCtxRetain:2", "cuCtxSetCurrent:201:0:1"} {
		d := fakeDevice(t, "FAKE_CUDA_FAIL="+fail)
		if _, err := d.Bind(); err == nil || !strings.HasPrefix(err.Error(), "cuda:0: "+strings.Split(fail, ":")[0]) {
			t.Errorf("%s: %v", fail, err)
		}
	}
}

// TestLost breaks the context in the middle of some copies.
func TestLost(t *testing.T) {
	for _, fail := range []string{"cuMemcpyHtoDAsync:700:2", "cuStreamSynchronize:719", "cuEventQuery:716"} {
		t.Run(fail, func(t *testing.T) {
			r := newRig(t, fakeDevice(t, "FAKE_CUDA_FAIL="+fail))
			src, dev, mem, e := r.alloc(Pinned, 4096), r.alloc(OnDevice, 4096), r.alloc(Registered, 4096), r.event()
			var err error
			for i := 0; i < 3 && err == nil; i++ {
				_, queryErr := r.Reached(e)
				err = errors.Join(r.Copy(dev, src, r.s), queryErr, r.SyncStream(r.s))
			}
			if !errors.Is(err, ErrLost) {
				t.Fatal(err)
			}
			if _, err := r.Alloc(OnDevice, 1); !errors.Is(err, ErrLost) {
				t.Errorf("allocation after it: %v", err)
			}
			if err := r.Close(); err != nil || mem.Host != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// One GPU that does not open must not hide the others.
func TestOneBrokenDevice(t *testing.T) {
	d, err := newDriver(fakeCalls(t, "FAKE_CUDA_DEVICES=3", "FAKE_CUDA_FAIL=cuDeviceGetName:999:1:1"))
	if err != nil {
		t.Fatal(err)
	}
	devices, err := d.devices()
	if err != nil || len(devices) != 3 {
		t.Fatalf("%d devices, %v; want 3", len(devices), err)
	}
	for i, dev := range devices {
		unbind, err := dev.Bind()
		if err == nil {
			unbind()
		}
		if (err != nil) != (i == 1) || i == 1 && !errors.Is(err, ErrUnavailable) {
			t.Errorf("cuda:%d: %v", i, err)
		}
		if err := dev.Close(); err != nil {
			t.Errorf("close cuda:%d: %v", i, err)
		}
	}
}

// TestGone takes one of two GPUs away while both copy.
func TestGone(t *testing.T) {
	devices := fakeDevices(t, "FAKE_CUDA_DEVICES=2", "FAKE_CUDA_GONE=1:40")
	var errs [2]error
	for range 3 {
		for i, d := range devices {
			if errs[i] == nil {
				errs[i] = roundTrips(d, byte(i), true)
			}
		}
	}
	if errs[0] != nil || !errors.Is(errs[1], ErrLost) || !errors.Is(errs[1], Unknown) || !strings.HasPrefix(errs[1].Error(), "cuda:1: device lost: ") {
		t.Errorf("errors %v", errs)
	}
	for _, d := range devices {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := roundTrips(devices[0], 2, true); err != nil {
		t.Errorf("opened again: %v", err)
	}
	if _, err := devices[1].Bind(); !errors.Is(err, Unknown) {
		t.Errorf("opened again: %v", err)
	}
}

// Unknown once, of a device that goes on, is the error of one call.
func TestUnknownOnce(t *testing.T) {
	d := fakeDevice(t, "FAKE_CUDA_FAIL=cuMemAlloc:999:0:1")
	unbind, err := d.Bind()
	if err != nil {
		t.Fatal(err)
	}
	defer unbind()
	if _, err := d.Alloc(OnDevice, 1); !errors.Is(err, Unknown) || errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if _, err := d.Alloc(OnDevice, 1); err != nil {
		t.Error(err)
	}
}
