package bench

import (
	"fmt"
	"math"

	"dlbench/bench/host"
)

// MachineState is what may change under a measurement.
type MachineState struct {
	Hz        float64 // mean clock of the CPUs; 0 unknown
	Governor  string
	Throttled int64 // periods in which a quota stopped this process
}

func ReadMachineState(root string, cpus []int) (m MachineState) {
	m.Throttled = host.Throttled(root)
	n := 0
	for i, cpu := range cpus {
		if i == mostClocks {
			break
		}
		hz, governor := host.Clock(root, cpu)
		if i == 0 {
			m.Governor = governor
		}
		if hz > 0 {
			m.Hz += hz
			n++
		}
	}
	if n > 0 {
		m.Hz /= float64(n)
	}
	return m
}

// mostClocks bounds how many CPUs' clocks are read.
const mostClocks = 16

// Changes are warnings about what changed from m to after.
func (m MachineState) Changes(after MachineState) (w []string) {
	if m.Hz > 0 && after.Hz > 0 && math.Abs(after.Hz/m.Hz-1) > clockMoved {
		w = append(w, fmt.Sprintf("the CPUs' clock moved from %.2f to %.2f GHz", m.Hz/1e9, after.Hz/1e9))
	}
	if n := after.Throttled - m.Throttled; n > 0 {
		w = append(w, fmt.Sprintf("the CPU quota stopped this process in %d periods", n))
	}
	return w
}
