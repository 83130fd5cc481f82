//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"cmp"
	"os"
	"sync"
	"unsafe"

	"dlbench/bench/sharedlib"
	"dlbench/bench/theory"
)

// nvmlVariable names the library to open instead of libnvidia-ml.so.1, for tests.
const nvmlVariable = "DLBENCH_LIBNVML"

// NVML is NVIDIA's management library, which comes with the driver and is optional: a
// container may lack it. Without it, a nil NVML, nothing is known.
type NVML struct {
	*sharedlib.Library
	confidential bool // it can tell Confidential: drivers from 535 on
}

// OpenNVML opens the library once in this process; nil where it is of no use.
var OpenNVML = sync.OnceValue(func() *NVML {
	return openNVML(cmp.Or(os.Getenv(nvmlVariable), "libnvidia-ml.so.1"))
})

func openNVML(path string) *NVML {
	l, err := sharedlib.Open(path)
	if err != nil || l.Find("nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2",
		"nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
		"nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth") != nil || l.Call("nvmlInit_v2") != 0 {
		return nil
	}
	return &NVML{Library: l, confidential: l.Find("nvmlSystemGetConfComputeState") == nil}
}

// Link is the own link of the GPU at a PCI address, 0000:65:00.0, now and at most in
// this slot, without any hop above; ok is false where the library does not tell.
func (n *NVML) Link(pci string) (now, most theory.Link, ok bool) {
	if n == nil {
		return now, most, false
	}
	id, device := append([]byte(pci), 0), new(uintptr)
	ok = n.Call("nvmlDeviceGetHandleByPciBusId_v2",
		uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(device))) == 0
	for what, to := range map[string]*int{"CurrPcieLinkGeneration": &now.Gen, "CurrPcieLinkWidth": &now.Lanes,
		"MaxPcieLinkGeneration": &most.Gen, "MaxPcieLinkWidth": &most.Lanes} {
		v := new(uint32)
		ok = ok && n.Call("nvmlDeviceGet"+what, *device, uintptr(unsafe.Pointer(v))) == 0
		*to = int(*v)
	}
	return now, most, ok
}

// Confidential tells whether GPUs here run in confidential mode, in which they reach
// host memory through an encrypted bounce buffer alone.
func (n *NVML) Confidential() bool {
	state := new([3]uint32) // nvmlConfComputeSystemState_t: environment, ccFeature, devToolsMode
	if n == nil || !n.confidential ||
		n.Call("nvmlSystemGetConfComputeState", uintptr(unsafe.Pointer(state))) != 0 {
		return false
	}
	return state[1] == 1
}
