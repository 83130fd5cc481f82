package pcie

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"syscall"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/bench/hostmem"
	"dlbench/cuda"
	"dlbench/results"
)

// placement is the NUMA node that a device's copies are made from.
type placement struct {
	node    int   // of the device, -1 when it is unknown
	from    int   // of the thread, -1 when it is unknown
	cpus    []int // of from, as far as this process may use them; nil leaves the thread where it is
	warning string
}

// placeNear puts the thread that copies onto the device's NUMA node. Memory
// follows, since that thread touches it first.
func placeNear(env bench.Env, d cuda.Info) placement {
	p := placement{node: -1, from: -1}
	if g := host.Find(env.Host.GPUs, d.PCI); g != nil && g.NUMANode != nil {
		p.node = *g.NUMANode
	}
	if env.Host.CPU.NUMANodes <= 1 || d.Assumed {
		return p // any place is as good
	}
	switch cpus := usableCPUs(env, p.node); {
	case p.node < 0:
		p.warning = "the GPU's NUMA node is unknown: copies may come from a remote one"
	case len(cpus) == 0:
		p.warning = fmt.Sprintf("this process may not use the CPUs of the GPU's NUMA node %d: "+
			"copies come from a remote one", p.node)
	default:
		p.from, p.cpus = p.node, cpus
	}
	return p
}

// usableCPUs are those of a node that this process may use.
func usableCPUs(env bench.Env, node int) []int {
	return results.Common([][]int{host.NodeCPUs(env.Root, node), host.UsableCPUs()})
}

// placeFar puts the thread that copies onto the NUMA node farthest from the device's.
// ok is false where there is none, or the device's own is not known. Of several that are
// as far it is the first, so that all copies from afar are from one.
func placeFar(env bench.Env, d cuda.Info) (p placement, ok bool) {
	near := placeNear(env, d)
	if near.cpus == nil || d.AssumedLink() {
		return placement{}, false
	}
	most := 0
	distances := host.NodeDistances(env.Root, near.node)
	for _, node := range slices.Sorted(maps.Keys(distances)) {
		cpus := usableCPUs(env, node)
		if node != near.node && len(cpus) > 0 && distances[node] > most {
			p, ok, most = placement{node: near.node, from: node, cpus: cpus}, true, distances[node]
		}
	}
	return p, ok
}

// report adds the placement to a proof that has the pages of the buffer, and warns when most
// of them are not on the thread's node.
func (p placement) report(r *results.Result, proof *results.PCIeProof) {
	proof.NUMANode, proof.CPUs = &results.OrUnknown[int]{Value: p.node}, p.cpus
	if p.node < 0 {
		proof.NUMANode.Why = "unknown"
	}
	r.Warnf("%s", p.warning)
	if p.from < 0 {
		return
	}
	if p.from != p.node {
		proof.CopiedFromNode = &results.OrUnknown[int]{Value: p.from}
	}
	if proof.PagesByNode == nil {
		return
	}
	all, near := 0, proof.PagesByNode.Value[strconv.Itoa(p.from)]
	for _, n := range proof.PagesByNode.Value {
		all += n
	}
	if 2*near < all {
		r.Warnf("%d of %d pages of the buffer do not lie on NUMA node %d, where the thread that copies is",
			all-near, all, p.from)
	}
}

// mostPages is how many pages of a buffer are asked for, evenly spread.
const mostPages = 1024

// addPages adds to a proof where the pages of buf lie, which is touched: the share in
// transparent huge pages and, where there are several NUMA nodes, the number on each.
func addPages(p *results.PCIeProof, buf []byte, nodes int) {
	p.HugePages = &results.OrUnknown[float64]{Why: "unknown"}
	if huge, known := hostmem.Huge(buf); known {
		p.HugePages = &results.OrUnknown[float64]{Value: float64(huge) / float64(len(buf))}
	}
	if nodes > 1 {
		p.PagesByNode = countNodes(nodesOf(buf))
	}
}

// countNodes counts pages by their node; status has an error below 0 for one that is not known.
func countNodes(status []int32, err error) *results.OrUnknown[map[string]int] {
	by := map[string]int{}
	for _, s := range status {
		if s >= 0 {
			by[strconv.Itoa(int(s))]++
		} else {
			err = syscall.Errno(-s)
		}
	}
	if len(by) == 0 {
		return &results.OrUnknown[map[string]int]{Why: fmt.Sprintf("unknown: move_pages: %v", err)}
	}
	return &results.OrUnknown[map[string]int]{Value: by}
}
