//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestErrorText(t *testing.T) {
	alloc := func(k Kind, n int) func(*rig) error {
		return func(r *rig) error { _, err := r.Alloc(k, n); return err }
	}
	step := func(r *rig) error { return r.Step(time.Millisecond, r.s) }
	const moreHost = "the host has no more memory to page-lock, the GPU's has not run out"
	for _, c := range []struct {
		settings string
		do       func(*rig) error
		code     Code
		want     string
	}{
		{"FAKE_CUDA_MEMORY=1000", alloc(OnDevice, 1001), OutOfMemory,
			"cuda:0: allocate 1001 bytes of device memory: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: out of memory (2)"},
		{"FAKE_CUDA_HOST_LIMIT=1000", alloc(Pinned, 1001), OutOfMemory,
			"allocate 1001 bytes of pinned memory: " + moreHost},
		{"FAKE_CUDA_HOST_LIMIT=1000", alloc(Registered, 1001), OutOfMemory, "registered memory: " + moreHost},
		{"FAKE_CUDA_FAIL=cuMemHostRegister:801", alloc(Registered, 10), NotSupported,
			"registration of host memory is not supported here"},
		{"FAKE_CUDA_FAIL=cuModuleLoadDataEx:218", step, 218,
			"load kernels: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed (218): " +
				"fakecuda: the PTX does not compile"},
		{"FAKE_CUDA_FAIL=cuModuleGetFunction:500", step, 500, "load kernel dlb_spin"},
		{"FAKE_CUDA_FAIL=cuStreamCreate:2:1", func(r *rig) error { _, err := r.NewStream(); return err }, OutOfMemory,
			"cuda:0: cuStreamCreate"},
		{"FAKE_CUDA_FAIL=cuEventCreate:2", func(r *rig) error { _, err := r.NewEvent(); return err }, OutOfMemory,
			"cuda:0: cuEventCreate"},
		// once, of a device that goes on
		{"FAKE_CUDA_FAIL=cuMemAlloc:999:0:1", alloc(OnDevice, 1), Unknown, "device memory: cuMemAlloc_v2"},
	} {
		t.Run(c.settings, func(t *testing.T) { // a driver at a time
			err := c.do(newRig(t, fakeDevice(t, c.settings)))
			if !errors.Is(err, c.code) || errors.Is(err, ErrLost) || errors.Is(err, ErrUnavailable) ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestBindFails(t *testing.T) {
	for _, fail := range []string{"cuDevicePrimaryCtxRetain:2", "cuCtxSetCurrent:201:0:1"} {
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
			src, dev, e := r.alloc(Pinned, 4096), r.alloc(OnDevice, 4096), r.event()
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
		})
	}
}

// One GPU that does not open must not hide the others.
func TestOneBrokenDevice(t *testing.T) {
	devices := fakeDevices(t, "FAKE_CUDA_DEVICES=3", "FAKE_CUDA_FAIL=cuDeviceGetName:999:1:1")
	for i, d := range devices {
		unbind, err := d.Bind()
		if err == nil {
			unbind()
		}
		if (err != nil) != (i == 1) || errors.Is(err, ErrUnavailable) != (i == 1) || d.Close() != nil ||
			len(devices) != 3 {
			t.Errorf("cuda:%d of %d: %v", i, len(devices), err)
		}
	}
}

// TestGone takes one of two GPUs away while both copy.
func TestGone(t *testing.T) {
	c := fakeCalls(t, "FAKE_CUDA_DEVICES=2", "FAKE_CUDA_GONE=1:40")
	devices := devicesIn(t, c)
	var errs [2]error
	for range 3 {
		for i, d := range devices {
			if errs[i] == nil {
				errs[i] = roundTrips(d, byte(i))
			}
		}
	}
	if errs[0] != nil || !errors.Is(errs[1], ErrLost) || !errors.Is(errs[1], Unknown) ||
		!strings.HasPrefix(errs[1].Error(), "cuda:1: device lost: ") {
		t.Errorf("errors %v", errs)
	}
	for _, d := range devices {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	devices = devicesIn(t, c)
	if err := roundTrips(devices[0], 2); err != nil {
		t.Errorf("opened again: %v", err)
	}
	if _, err := devices[1].Bind(); !errors.Is(err, Unknown) {
		t.Errorf("opened again: %v", err)
	}
}
