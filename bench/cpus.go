package bench

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"dlbench/bench/host"
)

// SomeCPUs are n of the CPUs that this process may use, with the same share of SMT
// siblings: half of them are half of the machine.
func SomeCPUs(root string, n int) (cpus []int) {
	slots, cores := cpuSlots(root)
	if n = min(n, len(slots)); n == 0 {
		return nil
	}
	whole := max(1, cores*n/len(slots))
	for i, s := range slots {
		if !s.Sibling && i < whole || s.Sibling && i-cores < n-whole {
			cpus = append(cpus, s.CPU)
		}
	}
	return cpus
}

// cpuSlots are the CPUs that this process may use, physical cores first, and how many of
// those there are.
func cpuSlots(root string) (slots []host.CPUSlot, cores int) {
	slots = host.CPUOrder(root, host.UsableCPUs())
	for _, s := range slots {
		if !s.Sibling {
			cores++
		}
	}
	return slots, cores
}

// UsableThreads is how many CPUs this process may keep busy, and how many of them are
// physical cores.
func UsableThreads(env Env) (all, cores int) {
	slots, cores := cpuSlots(env.Root)
	all = max(1, min(len(slots), int(env.Host.CPU.Usable)))
	return all, max(1, min(cores, all))
}

// MoreThan warns of n threads of a kind where this process may use fewer CPUs.
func MoreThan(env Env, n int, noun string) (warnings []string) {
	if all, _ := UsableThreads(env); n > all {
		warnings = append(warnings, fmt.Sprintf("%d %ss are more than the %.4g CPUs that this process may use",
			n, noun, env.Host.CPU.Usable))
	}
	return warnings
}

// WithProcessors lets n threads run Go code at once, if fewer may, until restore is called:
// one that reads keeps its processor for a while.
func WithProcessors(n int) (restore func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(before, n))
	return func() { runtime.GOMAXPROCS(before) }
}

// ResidentBytes is the memory of this process that is in RAM, 0 if unknown.
func ResidentBytes() int64 {
	text, _ := os.ReadFile("/proc/self/statm") // on Linux alone
	var size, resident int64
	fmt.Sscan(string(text), &size, &resident) // pages
	return resident * int64(os.Getpagesize())
}

// clockMoved is the change of the CPUs' clock, as a share, that is reported.
const clockMoved = 0.05

// MachineState is what may change under a measurement.
type MachineState struct {
	Hz        float64 // mean clock of the CPUs; 0 unknown
	Throttled int64   // periods in which a quota stopped this process
}

// ReadMachineState reads the clocks of the first mostClocks of cpus, and the quota.
func ReadMachineState(root string, cpus []int) (m MachineState) {
	m.Throttled = host.Throttled(root)
	cpus = cpus[:min(len(cpus), mostClocks)]
	for _, cpu := range cpus {
		m.Hz += host.Clock(root, cpu) / float64(len(cpus))
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
