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
	"time"

	"dlbench/cuda/fakecuda"
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
	list := func(settings ...string) []Info {
		d, err := newDriver(fakeCalls(t, settings...))
		if err != nil {
			t.Fatal(err)
		}
		devices, err := d.devices()
		if err != nil {
			t.Fatal(err)
		}
		var infos []Info
		for _, dev := range devices {
			infos = append(infos, dev.Info())
		}
		return infos
	}
	want := Info{Spec: "cuda:1", Name: "Fake GPU 1", Index: 1, PCI: "0001:b3:0f.0", Memory: 12345678, Driver: "12.9", Backend: "purego"}
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
		{path: garbage, want: []string{"does not load"}},
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

func TestZeroDevices(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "7")
	_, err := newDriver(noDevices{fakeCalls(t)})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), `no device (CUDA_VISIBLE_DEVICES="7")`) {
		t.Error(err)
	}
}

type noDevices struct{ calls }

func (noDevices) count() (int, error) { return 0, nil }

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
		r := newRig(t, fakeDevice(t, "FAKE_CUDA_FAIL="+fail))
		src, dev, mem, e := r.alloc(Pinned, 4096), r.alloc(OnDevice, 4096), r.alloc(Registered, 4096), r.event()
		var err error
		for i := 0; i < 3 && err == nil; i++ {
			_, queryErr := r.Reached(e)
			err = errors.Join(r.Copy(dev, src, r.s), queryErr, r.SyncStream(r.s))
		}
		if !errors.Is(err, ErrLost) {
			t.Fatalf("%s: %v", fail, err)
		}
		if _, err := r.Alloc(OnDevice, 1); !errors.Is(err, ErrLost) {
			t.Errorf("%s: allocation after it: %v", fail, err)
		}
		if err := r.Close(); err != nil || mem.Host != nil {
			t.Errorf("%s: close: %v", fail, err)
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
	}
}

// TestCopyTime is the article's batch over 16 GB/s by events, 1.215 ms.
func TestCopyTime(t *testing.T) {
	const n = 19_440_000
	for _, c := range []struct {
		settings string
		want     time.Duration
	}{{"", n * time.Nanosecond / 16}, {"FAKE_CUDA_H2D_GBPS=4 FAKE_CUDA_LATENCY_US=10", n*time.Nanosecond/4 + 10*time.Microsecond}} {
		r := newRig(t, fakeDevice(t, strings.Fields(c.settings)...))
		src, dev, a, b := r.alloc(Pinned, n), r.alloc(OnDevice, n), r.event(), r.event()
		r.behind(func(Event) {
			r.must(r.Record(a, r.s))
			r.must(r.Copy(dev, src, r.s))
			r.must(r.Record(b, r.s))
		})
		if d := r.elapsed(a, b); d < c.want*99/100 || d > c.want*101/100 {
			t.Errorf("%s: %v, want %v within 1 %%", c.settings, d, c.want)
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
	r.must(r.Step(time.Millisecond, r.s)) // loads the kernel
	got := testing.AllocsPerRun(100, func() {
		r.must(r.Copy(dev, src, r.s))
		r.must(r.Record(e, r.s))
		r.must(r.WaitEvent(r.s, e))
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
