package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"dlbench/bench/sharedlib"
)

// nvmlVariable names the library to open instead of libnvidia-ml.so.1, for tests.
const nvmlVariable = "DLBENCH_LIBNVML"

// nvml is NVIDIA's management library, which comes with the driver and is optional: a
// container may lack it.
type nvml struct{ *sharedlib.Library }

// theNVML is opened once in this process.
var theNVML = sync.OnceValues(func() (nvml, error) {
	return openNVML(cmp.Or(os.Getenv(nvmlVariable), "libnvidia-ml.so.1"))
})

// Calls of NVML, but for those of gauged.
const (
	nvmlInit   = "nvmlInit_v2"
	nvmlHandle = "nvmlDeviceGetHandleByPciBusId_v2"
)

func openNVML(path string) (nvml, error) {
	l, err := sharedlib.Open(path)
	if err != nil {
		return nvml{}, err
	}
	l.Find(nvmlInit)
	l.Find(nvmlHandle)
	for _, q := range gauged {
		l.Find(q.call)
	}
	n := nvml{l}
	return n, n.call(nvmlInit)
}

// nvmlErrors are codes of nvmlReturn_t.
var nvmlErrors = map[int32]string{3: "not supported by this GPU", 4: "no permission", 6: "no such GPU",
	9: "the driver is not loaded", 15: "the GPU is lost", 18: "library and driver differ in version"}

// call makes a call, if the library has it.
//
//go:uintptrescapes
func (n nvml) call(name string, args ...uintptr) error {
	if n.Functions[name] == 0 {
		return errors.New("not in this driver")
	}
	code := n.Call(name, args...)
	if code == 0 {
		return nil
	}
	return errors.New(cmp.Or(nvmlErrors[code], fmt.Sprintf("%s: NVML error %d", name, code)))
}

// device is NVML's handle of the GPU at a PCI address.
func (n nvml) device(pci string) (uintptr, error) {
	id, device := append([]byte(pci), 0), new(uintptr)
	err := n.call(nvmlHandle, uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(device)))
	return *device, err
}

// What a Reading has, by index.
const (
	Temperature = iota // C
	Power              // W
	SMClock            // Hz
	MemoryClock        // Hz
	LinkGen            // of the GPU's own link, now
	LinkWidth          // lanes
	Replays            // of packets on the link, since the driver was loaded
	SlowedBy           // why clocks are lower than the highest, as bits
	quantities
)

// gauged is what is read for each value of a Reading, in units of unit: by a call that takes the
// device, perhaps a kind (none: -1), and where to put a number.
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

// Reading is what a GPU tells of itself at a moment, NaN where it does not.
type Reading struct {
	At     time.Time
	Values [quantities]float64
}

// Gauge reads a GPU.
type Gauge func() Reading

// OpenGauge is the gauge of the GPU at a PCI address, nil where nothing can be read. lacks is
// what it does not tell, and why.
func OpenGauge(pci string) (g Gauge, lacks string) {
	n, err := theNVML()
	if err != nil {
		return nil, "no NVML: " + err.Error()
	}
	return n.gauge(pci)
}

func (n nvml) gauge(pci string) (g Gauge, lacks string) {
	device, err := n.device(pci)
	if err != nil {
		return nil, "NVML: " + err.Error()
	}
	_, missing := n.read(device)
	if len(missing) < quantities {
		g = func() Reading {
			r, _ := n.read(device)
			return r
		}
	}
	return g, strings.Join(missing, ", ")
}

// read reads a device; missing is what it does not tell, and why.
func (n nvml) read(device uintptr) (r Reading, missing []string) {
	r.At = time.Now()
	for i, q := range gauged {
		v := new(uint64) // some calls write 32 bits of it
		var err error
		if q.kind < 0 {
			err = n.call(q.call, device, uintptr(unsafe.Pointer(v)))
		} else {
			err = n.call(q.call, device, uintptr(q.kind), uintptr(unsafe.Pointer(v)))
		}
		r.Values[i] = float64(*v) * q.unit
		if err != nil {
			r.Values[i] = math.NaN()
			missing = append(missing, q.name+" ("+err.Error()+")")
		}
	}
	return r, missing
}

// Heat begins the reasons that say that the GPU got too hot.
const Heat = "heat"

// slowdowns are reasons for lower clocks, nvmlClocksThrottleReason... of nvml.h. Heat and power
// throttle a GPU; idleness and settings do not.
var slowdowns = []struct {
	bit       uint64
	throttles bool
	text      string
}{
	{0x1, false, "idleness"},
	{0x2, false, "a setting of the clocks"},
	{0x4, true, "the power limit"},
	{0x8, true, "a hardware slowdown"},
	{0x10, false, "sync boost"},
	{0x20, true, Heat},
	{0x40, true, Heat + " (hardware)"},
	{0x80, true, "the power brake"},
	{0x100, false, "a setting of the display's clocks"},
}

// Slowdowns are the reasons for lower clocks, in words, and whether one of them throttles the
// GPU.
func (r Reading) Slowdowns() (texts []string, throttled bool) {
	bits := uint64(0)
	if v := r.Values[SlowedBy]; v > 0 {
		bits = uint64(v)
	}
	for _, s := range slowdowns {
		if bits&s.bit != 0 {
			texts, throttled = append(texts, s.text), throttled || s.throttles
		}
	}
	return texts, throttled
}
