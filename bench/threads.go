package bench

import (
	"fmt"
	"runtime"

	"dlbench/bench/host"
)

// SomeCPUs are n of the CPUs that this process may use, with the same share of SMT
// siblings: half of them are half of the machine.
func SomeCPUs(root string, n int) (cpus []int) {
	slots := host.CPUOrder(root, host.UsableCPUs())
	cores := 0
	for _, s := range slots {
		if !s.Sibling {
			cores++
		}
	}
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

// UsableThreads is how many CPUs this process may keep busy, and how many of them are
// physical cores.
func UsableThreads(env Env) (all, cores int) {
	slots := host.CPUOrder(env.Root, host.UsableCPUs())
	for _, s := range slots {
		if !s.Sibling {
			cores++
		}
	}
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
