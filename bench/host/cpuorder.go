package host

import (
	"cmp"
	"slices"
	"strconv"
)

// CPUSlot is a place for one worker thread.
type CPUSlot struct {
	CPU     int
	Sibling bool // shares its physical core with an earlier slot
	Class   int  // of core, 0 the fastest of those given
}

// CPUOrder is the order in which worker threads take the CPUs given, so that each
// further one gets the most that is left: one thread on each physical core of the
// fastest class, then on those of slower classes, then on the SMT siblings in the
// same order of classes. Within those, NUMA nodes are filled one after another, so
// that few threads stay near each other's memory, and where sysfs knows no nodes
// sockets are. Otherwise CPUs keep the order given, as they do altogether where
// nothing is known.
func CPUOrder(root string, cpus []int) []CPUSlot {
	t := tree(root)
	class, node := classes(t, cpus), nodes(t, cpus)
	taken := map[string]bool{}
	order := make([]int, len(cpus)) // indices
	slots := make([]CPUSlot, len(cpus))
	for i, cpu := range cpus {
		core := siblings(t, cpu)
		order[i], slots[i] = i, CPUSlot{CPU: cpu, Sibling: core != "" && taken[core], Class: class[i]}
		taken[core] = true
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := slots[i], slots[j]
		if a.Sibling != b.Sibling {
			if b.Sibling {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(node[i], node[j]))
	})
	sorted := make([]CPUSlot, len(order))
	for i, k := range order {
		sorted[i] = slots[k]
	}
	return sorted
}

// siblings is the kernel's list of the CPUs that share a core with cpu, itself
// among them; "" if sysfs does not say.
func siblings(t tree, cpu int) string {
	dir := sysCPU + "cpu" + strconv.Itoa(cpu) + "/topology/"
	list := t.text(dir + "core_cpus_list")
	if list == "" {
		list = t.text(dir + "thread_siblings_list") // before Linux 5.3
	}
	if !slices.Contains(parseList(list), cpu) {
		return ""
	}
	return list
}

// nodes are the NUMA nodes of the CPUs, or else their sockets: all 0 unless each
// is known.
func nodes(t tree, cpus []int) []int {
	const dir = "sys/devices/system/node/"
	of := map[int]int{}
	for _, node := range parseList(t.text(dir + "has_cpu")) {
		for _, cpu := range NodeCPUs(string(t), node) {
			of[cpu] = node
		}
	}
	all := make([]int, len(cpus))
	for i, cpu := range cpus {
		node, ok := of[cpu]
		if !ok {
			return sockets(t, cpus)
		}
		all[i] = node
	}
	return all
}

func sockets(t tree, cpus []int) []int {
	all := make([]int, len(cpus))
	for i, cpu := range cpus {
		p, ok := t.number(sysCPU + "cpu" + strconv.Itoa(cpu) + "/topology/physical_package_id")
		if !ok || p < 0 {
			return make([]int, len(cpus))
		}
		all[i] = int(p)
	}
	return all
}
