package host

import (
	"cmp"
	"slices"
	"strconv"
)

// hybrid are the performance-monitoring units of Intel's kinds of core, from the
// fastest. The kernel has them on hybrid processors alone.
var hybrid = []string{"cpu_core", "cpu_atom", "cpu_lowpower"}

// classes sorts the CPUs into classes of speed, 0 the fastest of them: the kinds
// of core of a hybrid Intel processor, or the capacities of arm64
// (Documentation/scheduler/sched-capacity.rst), or else, of the firmware's highest
// performance and the highest clock, the first that tells classes apart. All are 0
// where nothing does.
func classes(t tree, cpus []int) []int {
	if c := kinds(t, cpus); c != nil {
		return c
	}
	for _, name := range []string{"cpu_capacity", "acpi_cppc/highest_perf", "cpufreq/cpuinfo_max_freq"} {
		c := levelsOf(t, cpus, name)
		if c != nil && (name == "cpu_capacity" || slices.Max(c) > 0) {
			return c
		}
	}
	return make([]int, len(cpus))
}

// kinds are classes by the units of hybrid; nil if the CPUs are not all in one.
func kinds(t tree, cpus []int) []int {
	of := map[int]int{}
	for k, unit := range hybrid {
		for _, cpu := range parseList(t.text("sys/devices/" + unit + "/cpus")) {
			of[cpu] = k
		}
	}
	all := make([]int, len(cpus))
	for i, cpu := range cpus {
		k, ok := of[cpu]
		if !ok {
			return nil
		}
		all[i] = k
	}
	return rank(all)
}

// rank numbers the different values of all from 0.
func rank(all []int) []int {
	values := slices.Compact(slices.Sorted(slices.Values(all)))
	for i, v := range all {
		all[i], _ = slices.BinarySearch(values, v)
	}
	return all
}

// levelsOf are classes by a file of each CPU that is greater for faster ones; nil if
// one has none or there are no CPUs. A class ends where the next lower value is
// more than 10 % below: turbo clocks and the firmware's ranks of cores of one kind
// ("preferred cores") differ in smaller steps.
func levelsOf(t tree, cpus []int, name string) []int {
	values := make([]int64, len(cpus))
	for i, cpu := range cpus {
		v, ok := t.number(sysCPU + "cpu" + strconv.Itoa(cpu) + "/" + name)
		if !ok || v <= 0 {
			return nil
		}
		values[i] = v
	}
	if len(values) == 0 {
		return nil
	}
	order := slices.SortedFunc(slices.Values(values), func(a, b int64) int { return cmp.Compare(b, a) })
	class, of := 0, map[int64]int{}
	for i, v := range order {
		if i > 0 && float64(v) < 0.9*float64(order[i-1]) {
			class++
		}
		of[v] = class
	}
	all := make([]int, len(cpus))
	for i, v := range values {
		all[i] = of[v]
	}
	return all
}
