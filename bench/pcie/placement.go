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
	if p.node < 0 {
		p.warning = "the GPU's NUMA node is unknown: copies may come from a remote node"
		return p
	}
	if p.cpus = usableCPUs(env, p.node); p.cpus == nil {
		p.warning = fmt.Sprintf("this process may not use the CPUs of the GPU's NUMA node %d: "+
			"copies come from a remote node", p.node)
		return p
	}
	p.from = p.node
	return p
}

// usableCPUs are those of a node that this process may use, nil for none.
func usableCPUs(env bench.Env, node int) (cpus []int) {
	usable := host.UsableCPUs()
	for _, cpu := range host.NodeCPUs(env.Root, node) {
		if slices.Contains(usable, cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
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
		if node == near.node || distances[node] <= most {
			continue
		}
		if cpus := usableCPUs(env, node); cpus != nil {
			p, ok, most = placement{node: near.node, from: node, cpus: cpus}, true, distances[node]
		}
	}
	return p, ok
}

func (p placement) report(r *results.Result, proof *results.PCIeProof) {
	proof.NUMANode, proof.CPUs = &results.OrUnknown[int]{Value: p.node}, p.cpus
	if p.node < 0 {
		proof.NUMANode.Why = "unknown"
	}
	if p.from >= 0 && p.from != p.node {
		proof.CopiedFromNode = &results.OrUnknown[int]{Value: p.from}
	}
	r.Warnf("%s", p.warning)
}

// pages is where the pages of a buffer lie.
type pages struct {
	huge   results.OrUnknown[float64]         // share of the buffer that lies in transparent huge pages
	byNode *results.OrUnknown[map[string]int] // of some pages; nil where there is one node only
}

// pagesOf says where the pages of buf lie, which is touched. Nodes are asked for where
// there are several.
func pagesOf(buf []byte, nodes int) (p pages) {
	p.huge.Why = "unknown"
	if len(buf) == 0 {
		return p
	}
	if huge, known := hostmem.Huge(buf); known {
		p.huge = results.OrUnknown[float64]{Value: float64(huge) / float64(len(buf))}
	}
	if nodes > 1 {
		p.byNode = nodesOf(buf)
	}
	return p
}

// mostPages is how many pages of a buffer are asked for, evenly spread.
const mostPages = 1024

// countNodes reads what move_pages says of each page: a node, or an error below 0.
func countNodes(status []int32) *results.OrUnknown[map[string]int] {
	by := map[string]int{}
	var last int32
	for _, s := range status {
		if s >= 0 {
			by[strconv.Itoa(int(s))]++
		} else {
			last = s
		}
	}
	if len(by) == 0 {
		why := fmt.Sprintf("unknown: the kernel does not tell where these pages are (%v)", syscall.Errno(-last))
		return &results.OrUnknown[map[string]int]{Why: why}
	}
	return &results.OrUnknown[map[string]int]{Value: by}
}

// report adds the pages to the proof, and warns when most of them are not on the node
// where they should be; -1 is for one that is not known.
func (p pages) report(r *results.Result, proof *results.PCIeProof, want int) {
	proof.HugePages, proof.PagesByNode = &p.huge, p.byNode
	if p.byNode == nil || want < 0 {
		return
	}
	all := 0
	for _, n := range p.byNode.Value {
		all += n
	}
	if away := all - p.byNode.Value[strconv.Itoa(want)]; 2*away > all {
		r.Warnf("%d of %d pages of the buffer do not lie on NUMA node %d, where the thread that copies is",
			away, all, want)
	}
}
