package bench

import (
	"fmt"
	"math"

	"dlbench/bench/host"
)

// machineState is what may change under a measurement.
type machineState struct {
	hz        float64 // mean clock of the CPUs; 0 unknown
	governor  string
	throttled int64 // periods in which a quota stopped this process
}

func readState(root string, cpus []int) (m machineState) {
	m.throttled = host.Throttled(root)
	n := 0
	for i, cpu := range cpus {
		if i == mostClocks {
			break
		}
		hz, governor := host.Clock(root, cpu)
		if i == 0 {
			m.governor = governor
		}
		if hz > 0 {
			m.hz += hz
			n++
		}
	}
	if n > 0 {
		m.hz /= float64(n)
	}
	return m
}

// mostClocks bounds how many CPUs' clocks are read.
const mostClocks = 16

// changes are warnings about what changed from m to after.
func (m machineState) changes(after machineState) (w []string) {
	if m.hz > 0 && after.hz > 0 && math.Abs(after.hz/m.hz-1) > clockMoved {
		w = append(w, fmt.Sprintf("the CPUs' clock moved from %.2f to %.2f GHz", m.hz/1e9, after.hz/1e9))
	}
	if n := after.throttled - m.throttled; n > 0 {
		w = append(w, fmt.Sprintf("the CPU quota stopped this process in %d periods", n))
	}
	return w
}
