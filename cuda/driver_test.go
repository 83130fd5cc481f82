//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestConformance runs on a fake driver, or with DLBENCH_CONFORMANCE=real on the
// machine's own GPUs.
func TestConformance(t *testing.T) {
	p := promise{tolerance: 0.05, slack: 20 * time.Microsecond}
	if os.Getenv("DLBENCH_CONFORMANCE") == "real" {
		p.open = func(t *testing.T) []Device {
			devices, err := cudaDevices()
			if err != nil {
				t.Fatal(err)
			}
			return devices
		}
		conformance(t, p)
		return
	}
	c := fakeCalls(t, "FAKE_CUDA_DEVICES=2", "FAKE_CUDA_MEMORY=1000000000")
	p.tolerance, p.slack, p.twoWay = 0, 0, true
	p.open = func(t *testing.T) []Device { return devicesIn(t, c) }
	conformance(t, p)
}

func TestInfoFake(t *testing.T) {
	settings := []string{"FAKE_CUDA_DEVICES=2", "FAKE_CUDA_PCI=0000:65:00.0,0001:B3:0F.0",
		"FAKE_CUDA_MEMORY=12345678", "FAKE_CUDA_VERSION=12090"}
	want := Info{Spec: "cuda:1", Name: "Fake GPU 1", Index: 1, PCI: "0001:b3:0f.0", Memory: 12345678, Driver: "12.9",
		Backend: Backend}
	if got := fakeDevices(t, settings...); len(got) != 2 || got[1].Info() != want {
		t.Errorf("%d devices, the second %+v, want %+v", len(got), got[1].Info(), want)
	}
	want.PCI = ""
	settings = append(settings, "FAKE_CUDA_FAIL=cuDeviceGetPCIBusId:801")
	if got := fakeDevices(t, settings...)[1].Info(); got != want {
		t.Errorf("the driver does not say where: %+v", got)
	}
}

// After unbind no context is current on the thread.
func TestUnbind(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, d := range fakeDevices(t, "FAKE_CUDA_DEVICES=2") {
		unbind, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.NewStream()
		if err := errors.Join(err, d.CloseStream(s)); err != nil {
			t.Error(err)
		}
		unbind()
		if _, err := d.NewStream(); !errors.Is(err, Code(201)) {
			t.Errorf("%s: a stream after unbind: %v", d.Info().Spec, err)
		}
	}
}

// TestCloseFrees fills what the driver has, closes, and does so again.
func TestCloseFrees(t *testing.T) {
	c := fakeCalls(t, "FAKE_CUDA_HOST_LIMIT=2000000", "FAKE_CUDA_MEMORY=1000000")
	for range 3 {
		d := devicesIn(t, c)[0]
		unbind, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		s, err1 := d.NewStream()
		dev, err2 := d.Alloc(OnDevice, 1000000)
		host, err3 := d.Alloc(Pinned, 1000000)
		_, err4 := d.Alloc(Registered, 1000000)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		err = errors.Join(d.Step(5*time.Millisecond, s), d.Copy(dev, host, s)) // queued work uses it still
		unbind()
		if err := errors.Join(err, d.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

var raceDetector bool // it empties pools at random

// TestAllocations holds that work on a batch allocates nothing.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("allocations under the race detector are others")
	}
	r := newRig(t, fakeDevice(t))
	src, dev, e := r.alloc(Pinned, 64), r.alloc(OnDevice, 64), r.event()
	n := imageNet(1, 3, 5)
	tensor := r.alloc(OnDevice, n.ResultBytes())
	r.must(r.Step(time.Millisecond, r.s)) // loads the kernels
	got := testing.AllocsPerRun(100, func() {
		r.must(r.Copy(dev, src, r.s))
		r.must(r.Record(e, r.s))
		r.must(r.WaitEvent(r.s, e))
		r.must(r.Normalise(tensor, dev, n, r.s))
		r.must(r.Step(100*time.Microsecond, r.s))
		r.must(r.Record(e, r.s))
		r.reached(e)
		r.must(r.SyncEvent(e))
	})
	if got > 0 {
		t.Errorf("%v allocations for a batch", got)
	}
}
