//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// nvmlVariable names the library to open instead of libnvidia-ml.so.1, for tests.
const nvmlVariable = "DLBENCH_LIBNVML"

// NVML is NVIDIA's management library, which comes with the driver and is optional: a
// container may lack it. What it does not tell is an error, and no case fails of it.
type NVML struct {
	byBusID, gen, width, maxGen, maxWidth uintptr
	confidential                          uintptr // 0 in drivers before 535
}

// OpenNVML opens the library once in this process.
func OpenNVML() (*NVML, error) { return nvmlOnce() }

var nvmlOnce = sync.OnceValues(func() (*NVML, error) {
	path := os.Getenv(nvmlVariable)
	if path == "" {
		path = "libnvidia-ml.so.1"
	}
	return openNVML(path)
})

func openNVML(path string) (*NVML, error) {
	if _, err := checkLibrary(path); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoNVML, err)
	}
	runtime.LockOSThread() // dlerror is the thread's
	defer runtime.UnlockOSThread()
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoNVML, err)
	}
	n := &NVML{}
	for name, addr := range map[string]*uintptr{
		"nvmlDeviceGetHandleByPciBusId_v2": &n.byBusID, "nvmlDeviceGetCurrPcieLinkGeneration": &n.gen, "nvmlDeviceGetCurrPcieLinkWidth": &n.width,
		"nvmlDeviceGetMaxPcieLinkGeneration": &n.maxGen, "nvmlDeviceGetMaxPcieLinkWidth": &n.maxWidth,
	} {
		if *addr, err = purego.Dlsym(h, name); err != nil {
			return nil, fmt.Errorf("%w: %s lacks %s", errNoNVML, path, name)
		}
	}
	n.confidential, _ = purego.Dlsym(h, "nvmlSystemGetConfComputeState")
	start, err := purego.Dlsym(h, "nvmlInit_v2")
	if err != nil {
		return nil, fmt.Errorf("%w: %s lacks nvmlInit_v2", errNoNVML, path)
	}
	if r, _, _ := purego.SyscallN(start); int32(r) != 0 {
		return nil, fmt.Errorf("%w: nvmlInit_v2 returned %d", errNoNVML, int32(r))
	}
	return n, nil
}

// Link is the link of the GPU at a PCI address, 0000:65:00.0.
func (n *NVML) Link(pci string) (p PCIe, err error) {
	id := append([]byte(pci), 0)
	device := new(uintptr)
	if r := nvmlCall(n.byBusID, uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(device))); r != 0 {
		return p, fmt.Errorf("nvmlDeviceGetHandleByPciBusId_v2: result %d", r)
	}
	for _, x := range []struct {
		f  uintptr
		to *int
	}{{n.gen, &p.Gen}, {n.width, &p.Width}, {n.maxGen, &p.MaxGen}, {n.maxWidth, &p.MaxWidth}} {
		v := new(uint32)
		if r := nvmlCall(x.f, *device, uintptr(unsafe.Pointer(v))); r != 0 { // 3: not supported
			return PCIe{}, fmt.Errorf("NVML does not tell the link: result %d", r)
		}
		*x.to = int(*v)
	}
	return p, nil
}

// Confidential tells whether GPUs here run in confidential mode, in which they reach
// host memory through an encrypted bounce buffer alone.
func (n *NVML) Confidential() bool {
	if n.confidential == 0 {
		return false
	}
	state := new([3]uint32) // nvmlConfComputeSystemState_t: environment, ccFeature, devToolsMode
	return nvmlCall(n.confidential, uintptr(unsafe.Pointer(state))) == 0 && state[1] == 1
}

// nvmlCall makes one call. What pointers in args point to stays where it is meanwhile.
//
//go:uintptrescapes
func nvmlCall(f uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(f, args...)
	return int32(r)
}
