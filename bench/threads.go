package bench

import (
	"fmt"
	"strconv"

	"dlbench/bench/host"
	"dlbench/results"
)

// someCPUs are n of the CPUs that this process may use, with the same share of SMT
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

func ParseThreads(s string) (any, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > results.MostThreads {
		return nil, fmt.Errorf("want a number of threads from 1 to %d", results.MostThreads)
	}
	return int64(n), nil
}

// usableThreads is how many CPUs this process may keep busy, and how many of them are
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
