//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
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

var theNVML = sync.OnceValues(func() (*NVML, error) {
	return openNVML(cmp.Or(os.Getenv(nvmlVariable), "libnvidia-ml.so.1"))
})

// OpenNVML opens the library once in this process; nil where it is of no use.
func OpenNVML() *NVML {
	n, _ := theNVML()
	return n
}

func openNVML(path string) (*NVML, error) {
	l, err := sharedlib.Open(path)
	if err != nil {
		return nil, err
	}
	if err := l.Find("nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2",
		"nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
		"nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth"); err != nil {
		return nil, err
	}
	if err := nvmlError("nvmlInit_v2", l.Call("nvmlInit_v2")); err != nil {
		return nil, err
	}
	for _, q := range gauged {
		l.Find(q.call) // what is missing is said when it is read
	}
	return &NVML{Library: l, confidential: l.Find("nvmlSystemGetConfComputeState") == nil}, nil
}

// nvmlErrors are codes of nvmlReturn_t.
var nvmlErrors = map[int32]string{3: "not supported by this GPU", 4: "no permission", 6: "no such GPU",
	9: "the driver is not loaded", 15: "the GPU is lost", 18: "library and driver differ in version"}

// nvmlError is what a call returned.
func nvmlError(name string, code int32) error {
	if code == 0 {
		return nil
	}
	return errors.New(cmp.Or(nvmlErrors[code], fmt.Sprintf("%s: NVML error %d", name, code)))
}

// device is NVML's handle of the GPU at a PCI address.
func (n *NVML) device(pci string) (uintptr, error) {
	id, device := append([]byte(pci), 0), new(uintptr)
	const call = "nvmlDeviceGetHandleByPciBusId_v2"
	code := n.Call(call, uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(device)))
	return *device, nvmlError(call, code)
}

// Link is the own link of the GPU at a PCI address, 0000:65:00.0, now and at most in
// this slot, without any hop above; ok is false where the library does not tell.
func (n *NVML) Link(pci string) (now, most theory.Link, ok bool) {
	if n == nil {
		return now, most, false
	}
	device, err := n.device(pci)
	ok = err == nil
	for what, to := range map[string]*int{"CurrPcieLinkGeneration": &now.Gen, "CurrPcieLinkWidth": &now.Lanes,
		"MaxPcieLinkGeneration": &most.Gen, "MaxPcieLinkWidth": &most.Lanes} {
		v := new(uint32)
		ok = ok && n.Call("nvmlDeviceGet"+what, device, uintptr(unsafe.Pointer(v))) == 0
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

// gauged is what is read for each value of a Reading: a call that takes the device, perhaps a
// kind (none: -1), and where to put a number, in units of unit.
var gauged = [quantities]struct {
	name, call string
	kind       int
	unit       float64
}{
	Temperature: {"temperature", "nvmlDeviceGetTemperature", 0, 1},
	Power:       {"power", "nvmlDeviceGetPowerUsage", -1, 1e-3},
	SMClock:     {"SM clock", "nvmlDeviceGetClockInfo", 1, 1e6},
	MemoryClock: {"memory clock", "nvmlDeviceGetClockInfo", 2, 1e6},
	LinkGen:     {"link generation", "nvmlDeviceGetCurrPcieLinkGeneration", -1, 1},
	LinkWidth:   {"link width", "nvmlDeviceGetCurrPcieLinkWidth", -1, 1},
	Replays:     {"replays", "nvmlDeviceGetPcieReplayCounter", -1, 1},
	SlowedBy:    {"throttle reasons", "nvmlDeviceGetCurrentClocksThrottleReasons", -1, 1},
}

// OpenGauge is the gauge of the GPU at a PCI address, nil where nothing can be read. lacks is
// what it does not tell, and why.
func OpenGauge(pci string) (g Gauge, lacks string) {
	n, err := theNVML()
	if err != nil {
		return nil, "no NVML: " + err.Error()
	}
	return n.gauge(pci)
}

func (n *NVML) gauge(pci string) (g Gauge, lacks string) {
	device, err := n.device(pci)
	if err != nil {
		return nil, "NVML: " + err.Error()
	}
	var told []int
	var missing []string
	for i, q := range gauged {
		if _, err := n.read(device, i); err == nil {
			told = append(told, i)
		} else {
			missing = append(missing, q.name+" ("+err.Error()+")")
		}
	}
	if told != nil {
		g = func() Reading {
			r := unknown()
			for _, i := range told {
				if v, err := n.read(device, i); err == nil {
					r.Values[i] = v
				}
			}
			return r
		}
	}
	return g, strings.Join(missing, ", ")
}

// read is value i of a Reading.
func (n *NVML) read(device uintptr, i int) (float64, error) {
	q, v := gauged[i], new(uint64) // some calls write 32 bits of it
	var code int32
	switch {
	case n.Functions[q.call] == 0:
		return 0, errors.New("not in this driver")
	case q.kind < 0:
		code = n.Call(q.call, device, uintptr(unsafe.Pointer(v)))
	default:
		code = n.Call(q.call, device, uintptr(q.kind), uintptr(unsafe.Pointer(v)))
	}
	return float64(*v) * q.unit, nvmlError(q.call, code)
}
