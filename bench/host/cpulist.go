package host

import (
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds the numbers in a list, so that a garbled one costs no memory.
// Linux builds allow 8192 CPUs at most.
const maxCPU = 1<<16 - 1

// parseList reads a kernel list of CPUs or nodes, "0-3,8", in ascending order.
// It returns nil for an empty list and for one that is not well formed.
func parseList(s string) []int {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		lo, err := strconv.ParseUint(first, 10, 32)
		if err != nil {
			return nil
		}
		hi, err := strconv.ParseUint(last, 10, 32)
		if err != nil || hi < lo || hi > maxCPU || len(list) > maxCPU {
			return nil
		}
		for n := lo; n <= hi; n++ {
			list = append(list, int(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// NodeCPUs returns the CPUs of a NUMA node in ascending order, from
// /sys/devices/system/node; nil when the node is not there or has none.
func NodeCPUs(root string, node int) []int {
	return parseList(tree(root).text("sys/devices/system/node/node" + strconv.Itoa(node) + "/cpulist"))
}

// NodeDistances returns the distance from a NUMA node to each that is there, itself
// among them: 10 to itself, more to others; nil where the kernel does not tell.
func NodeDistances(root string, node int) map[int]int {
	t := tree(root)
	nodes := parseList(t.text("sys/devices/system/node/online"))
	far := strings.Fields(t.text("sys/devices/system/node/node" + strconv.Itoa(node) + "/distance"))
	if len(nodes) != len(far) {
		return nil
	}
	d := map[int]int{}
	for i, n := range nodes {
		x, err := strconv.Atoi(far[i])
		if err != nil {
			return nil
		}
		d[n] = x
	}
	return d
}
