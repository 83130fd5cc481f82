//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// nvmlVariable names the library to open instead of libnvidia-ml.so.1, for tests.
const nvmlVariable = "DLBENCH_LIBNVML"

// NVML is NVIDIA's management library, which comes with the driver and is optional: a
// container may lack it. What it does not tell is an error, and no case fails of it.
type NVML struct {
	*library
	confidential bool // it can tell Confidential: drivers from 535 on
}

// OpenNVML opens the library once in this process.
func OpenNVML() (*NVML, error) { return nvmlOnce() }

var nvmlOnce = sync.OnceValues(func() (*NVML, error) {
	return openNVML(cmp.Or(os.Getenv(nvmlVariable), "libnvidia-ml.so.1"))
})

func openNVML(path string) (*NVML, error) {
	l, err := openLibrary(path)
	if err == nil {
		err = l.find("nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2",
			"nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
			"nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoNVML, err)
	}
	if r := l.call("nvmlInit_v2"); r != 0 {
		return nil, fmt.Errorf("%w: nvmlInit_v2 returned %d", errNoNVML, r)
	}
	return &NVML{library: l, confidential: l.find("nvmlSystemGetConfComputeState") == nil}, nil
}

// Link is the link of the GPU at a PCI address, 0000:65:00.0.
func (n *NVML) Link(pci string) (p PCIe, err error) {
	id := append([]byte(pci), 0)
	device := new(uintptr)
	r := n.call("nvmlDeviceGetHandleByPciBusId_v2", uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(device)))
	if r != 0 {
		return PCIe{}, fmt.Errorf("nvmlDeviceGetHandleByPciBusId_v2: result %d", r)
	}
	for what, to := range map[string]*int{"CurrPcieLinkGeneration": &p.Gen, "CurrPcieLinkWidth": &p.Width,
		"MaxPcieLinkGeneration": &p.MaxGen, "MaxPcieLinkWidth": &p.MaxWidth} {
		v := new(uint32)
		if r := n.call("nvmlDeviceGet"+what, *device, uintptr(unsafe.Pointer(v))); r != 0 { // 3: not supported
			return PCIe{}, fmt.Errorf("NVML does not tell the link: result %d", r)
		}
		*to = int(*v)
	}
	return p, nil
}

// Confidential tells whether GPUs here run in confidential mode, in which they reach
// host memory through an encrypted bounce buffer alone.
func (n *NVML) Confidential() bool {
	state := new([3]uint32) // nvmlConfComputeSystemState_t: environment, ccFeature, devToolsMode
	if !n.confidential || n.call("nvmlSystemGetConfComputeState", uintptr(unsafe.Pointer(state))) != 0 {
		return false
	}
	return state[1] == 1
}
