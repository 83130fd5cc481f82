package host

import (
	"cmp"
	"slices"
)

// CPUSlot is a place for one worker thread.
type CPUSlot struct {
	CPU     int
	Sibling bool // shares its physical core with an earlier slot
	Class   int  // of core, 0 the fastest of those given
}

// CPUOrder is the order in which worker threads get the CPUs given, so that each
// further one gets the most that is left: one thread on each physical core of the
// fastest class, then on those of slower classes, then on the SMT siblings in the
// same order of classes. Within those, NUMA nodes are filled one after another, so
// that few threads stay near each other's memory. Otherwise CPUs keep the order given,
// as they do altogether where nothing is known.
func CPUOrder(root string, cpus []int) []CPUSlot {
	t := tree(root)
	class, node := classes(t, cpus), map[int]int{}
	for _, n := range t.list(sysNode + "has_cpu") {
		for _, cpu := range NodeCPUs(root, n) {
			node[cpu] = n
		}
	}
	taken := map[string]bool{}
	slots := make([]CPUSlot, len(cpus))
	for i, cpu := range cpus {
		core := siblings(t, cpu)
		slots[i] = CPUSlot{CPU: cpu, Sibling: core != "" && taken[core], Class: class[cpu]}
		taken[core] = true
	}
	last := map[bool]int{true: 1}
	slices.SortStableFunc(slots, func(a, b CPUSlot) int {
		return cmp.Or(cmp.Compare(last[a.Sibling], last[b.Sibling]), cmp.Compare(a.Class, b.Class),
			cmp.Compare(node[a.CPU], node[b.CPU]))
	})
	return slots
}

// classes sorts the CPUs into classes of speed, 0 the fastest of them: the capacities of
// arm64 (Documentation/scheduler/sched-capacity.rst), or else, of the firmware's highest
// performance and the highest clock, the first that tells classes apart. All are 0
// where nothing does.
func classes(t tree, cpus []int) map[int]int {
	for _, name := range []string{"cpu_capacity", "acpi_cppc/highest_perf", "cpufreq/cpuinfo_max_freq"} {
		value := map[int]int64{}
		for _, cpu := range cpus {
			value[cpu] = t.cpu(cpu).positive(name)
		}
		if class, n := rank(cpus, value); n > 1 || n == 1 && name == "cpu_capacity" {
			return class
		}
	}
	return nil
}

// rank sorts CPUs into n classes by a value that is greater for faster ones; nil if
// it is not positive for one or there are no CPUs. A class ends where the next lower
// value is more than 10 % below: turbo clocks and the firmware's ranks of cores of
// one kind ("preferred cores") differ in smaller steps.
func rank(cpus []int, value map[int]int64) (class map[int]int, n int) {
	falling := slices.SortedFunc(slices.Values(cpus), func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	if len(cpus) == 0 || value[falling[len(falling)-1]] <= 0 {
		return nil, 0
	}
	class = map[int]int{}
	for i, cpu := range falling {
		if i > 0 && float64(value[cpu]) < 0.9*float64(value[falling[i-1]]) {
			n++
		}
		class[cpu] = n
	}
	return class, n + 1
}

// siblings is the kernel's list of the CPUs that share a core with cpu, itself
// among them; "" if sysfs does not say.
func siblings(t tree, cpu int) string {
	dir := t.cpu(cpu)
	list := cmp.Or(dir.text("topology/core_cpus_list"), dir.text("topology/thread_siblings_list")) // before Linux 5.3
	if !slices.Contains(parseList(list), cpu) {
		return ""
	}
	return list
}
