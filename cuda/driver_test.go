//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestConformance runs on a fake driver, or with DLBENCH_CONFORMANCE=real on the
// machine's own GPUs.
func TestConformance(t *testing.T) {
	if os.Getenv("DLBENCH_CONFORMANCE") == "real" {
		conformance(t, promise{tolerance: 0.05, slack: 20 * time.Microsecond, ordered: true, owned: true, limited: true, open: func(t *testing.T) []Device {
			devices, err := cudaDevices()
			if err != nil {
				t.Fatal(err)
			}
			return devices
		}})
		return
	}
	d, err := newDriver(fakeCalls(t, "FAKE_CUDA_DEVICES=2", "FAKE_CUDA_MEMORY=1000000000"))
	if err != nil {
		t.Fatal(err)
	}
	conformance(t, promise{ordered: true, owned: true, limited: true, twoWay: true, open: func(t *testing.T) []Device {
		devices, err := d.devices()
		if err != nil {
			t.Fatal(err)
		}
		return devices
	}})
}

func TestInfoFake(t *testing.T) {
	list := func(settings ...string) (infos []Info) {
		for _, d := range fakeDevices(t, settings...) {
			infos = append(infos, d.Info())
		}
		return infos
	}
	want := Info{Spec: "cuda:1", Name: "Fake GPU 1", Index: 1, PCI: "0001:b3:0f.0", Memory: 12345678, Driver: "12.9", Backend: Backend}
	settings := []string{"FAKE_CUDA_DEVICES=2", "FAKE_CUDA_PCI=0000:65:00.0,0001:b3:0f.0", "FAKE_CUDA_MEMORY=12345678", "FAKE_CUDA_VERSION=12090"}
	if got := list(settings...); len(got) != 2 || got[1] != want || got[0].PCI != "0000:65:00.0" {
		t.Errorf("got %+v, want %+v as the second", got, want)
	}
	if got := list(append(settings, "FAKE_CUDA_FAIL=cuDeviceGetPCIBusId:801")...); got[1].PCI != want.PCI {
		t.Errorf("by attributes: address %q, want %q", got[1].PCI, want.PCI)
	}
	if got := list(append(settings, "FAKE_CUDA_FAIL=cuDeviceGetPCIBusId:801,cuDeviceGetAttribute:1:1")...); got[1].PCI != "" {
		t.Errorf("address %q where the driver does not say", got[1].PCI)
	}
}

// TestUnbind looks at what is current on the thread.
func TestUnbind(t *testing.T) {
	d, err := newDriver(fakeCalls(t, "FAKE_CUDA_DEVICES=2"))
	if err != nil {
		t.Fatal(err)
	}
	devices, err := d.devices()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	at := func() uintptr {
		ctx, err := d.current()
		if err != nil {
			t.Fatal(err)
		}
		return ctx
	}
	var contexts []uintptr
	var unbinds []func()
	for _, i := range []int{0, 1, 1, 0} {
		contexts = append(contexts, at())
		unbind, err := devices[i].Bind()
		if err != nil {
			t.Fatal(err)
		}
		unbinds = append(unbinds, unbind)
	}
	if c := contexts; c[0] != 0 || c[1] == 0 || c[2] == c[1] || c[3] != c[2] || at() != c[1] {
		t.Errorf("contexts %x, then %x", c, at())
	}
	for i, unbind := range slices.Backward(unbinds) {
		unbind()
		if at() != contexts[i] {
			t.Errorf("unbind %d: context %x, want %x", i, at(), contexts[i])
		}
	}
}

// TestCloseFrees fills what the driver has, closes, and does so again.
func TestCloseFrees(t *testing.T) {
	d, err := newDriver(fakeCalls(t, "FAKE_CUDA_HOST_LIMIT=2000000", "FAKE_CUDA_MEMORY=1000000"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		devices, err := d.devices()
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, devices[0])
		dev, host := r.alloc(OnDevice, 1000000), r.alloc(Pinned, 1000000)
		r.alloc(Registered, 1000000)
		r.must(r.Step(5*time.Millisecond, r.s))
		r.must(r.Copy(dev, host, r.s)) // queued work uses it still
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Alloc(OnDevice, 1); err == nil {
			t.Error("the context is still there")
		}
	}
}

// TestCopyTime is the article's batch over 16 GB/s by events, 1.215 ms.
func TestCopyTime(t *testing.T) {
	const n = 19_440_000
	for _, c := range []struct {
		settings string
		want     time.Duration
	}{{"", n * time.Nanosecond / 16}, {"FAKE_CUDA_H2D_GBPS=4 FAKE_CUDA_LATENCY_US=10", n*time.Nanosecond/4 + 10*time.Microsecond}} {
		t.Run(c.settings, func(t *testing.T) {
			r := newRig(t, fakeDevice(t, strings.Fields(c.settings)...))
			src, dev, a, b := r.alloc(Pinned, n), r.alloc(OnDevice, n), r.event(), r.event()
			r.behind(func(Event) {
				r.must(r.Record(a, r.s))
				r.must(r.Copy(dev, src, r.s))
				r.must(r.Record(b, r.s))
			})
			if d := r.elapsed(a, b); d < c.want*99/100 || d > c.want*101/100 {
				t.Errorf("%v, want %v within 1 %%", d, c.want)
			}
		})
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
	n := imageNet(1, 3, 5, true)
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

func BenchmarkCopyRecord(b *testing.B) {
	d := fakeDevice(b, "FAKE_CUDA_H2D_GBPS=1e6")
	unbind, err := d.Bind()
	if err != nil {
		b.Fatal(err)
	}
	defer unbind()
	s, err1 := d.NewStream()
	e, err2 := d.NewEvent()
	src, err3 := d.Alloc(Pinned, 64)
	dev, err4 := d.Alloc(OnDevice, 64)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Copy(dev, src, s); err != nil {
			b.Fatal(err)
		}
		if err := d.Record(e, s); err != nil {
			b.Fatal(err)
		}
		if err := d.SyncEvent(e); err != nil {
			b.Fatal(err)
		}
	}
}

// Devices over one uplink share it in turn; the others have theirs to themselves.
func TestFakeUplink(t *testing.T) {
	d, err := newDriver(fakeCalls(t, "FAKE_CUDA_DEVICES=3", "FAKE_CUDA_UPLINK=0,0", "FAKE_CUDA_H2D_GBPS=16,16,8"))
	if err != nil {
		t.Fatal(err)
	}
	devices, err := d.devices()
	if err != nil {
		t.Fatal(err)
	}
	const n = 16_000_000 // 1 ms, 2 ms on the third
	var rigs [3]*rig
	var src, dst [3]*Buffer
	var a, b [3]Event
	each := func(f func(i int, r *rig)) {
		for i, r := range rigs {
			unbind, err := r.Bind()
			r.must(err)
			f(i, r)
			unbind()
		}
	}
	for i, dev := range devices {
		rigs[i] = newRig(t, dev)
		src[i], dst[i], a[i], b[i] = rigs[i].alloc(Pinned, n), rigs[i].alloc(OnDevice, n), rigs[i].event(), rigs[i].event()
	}
	each(func(i int, r *rig) {
		r.must(r.Step(50*time.Millisecond, r.s)) // all are queued before the first copy starts
		r.must(r.Record(a[i], r.s))
		for range 40 {
			r.must(r.Copy(dst[i], src[i], r.s))
		}
		r.must(r.Record(b[i], r.s))
	})
	each(func(i int, r *rig) {
		r.must(r.SyncEvent(b[i]))
		got, want := r.elapsed(a[i], b[i]), []time.Duration{70 * time.Millisecond, 70 * time.Millisecond, 80 * time.Millisecond}[i]
		if got < want-time.Microsecond || i == 2 && got > want+time.Millisecond { // the first two began 10 ms apart at most
			t.Errorf("40 copies on device %d took %v, want at least %v", i, got, want)
		}
	})
}
