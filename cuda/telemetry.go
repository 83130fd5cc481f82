package cuda

import (
	"math"
	"time"
)

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

// Reading is what a GPU tells of itself at a moment, NaN where it does not.
type Reading struct {
	At     time.Time
	Values [quantities]float64
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

// unknown is a reading of a GPU that tells nothing.
func unknown() (r Reading) {
	r.At = time.Now()
	for i := range r.Values {
		r.Values[i] = math.NaN()
	}
	return r
}

// Gauge reads a GPU.
type Gauge func() Reading
