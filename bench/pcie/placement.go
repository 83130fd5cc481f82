package pcie

import (
	"fmt"
	"maps"
	"slices"

	"dlbench/bench"
	"dlbench/bench/host"
	"dlbench/cuda"
	"dlbench/results"
)

// placement is where a device's copies are made from.
type placement struct {
	node    int   // the device's NUMA node, -1 when it is unknown
	cpus    []int // of that node, as far as this process may use them; nil leaves the thread where it is
	far     bool  // on purpose on another node, which at is
	at      int
	warning string
}

// placeNear puts the thread that copies onto the device's NUMA node. Memory
// follows, since that thread touches it first.
func placeNear(env bench.Env, d cuda.Info) placement {
	p := placement{node: -1}
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
	usable := host.UsableCPUs()
	p.cpus = slices.DeleteFunc(host.NodeCPUs(env.Root, p.node), func(cpu int) bool { return !slices.Contains(usable, cpu) })
	if len(p.cpus) == 0 {
		p.cpus = nil
		p.warning = fmt.Sprintf("this process may not use the CPUs of the GPU's NUMA node %d: copies come from a remote node", p.node)
	}
	return p
}

// placeFar puts the thread that copies onto the NUMA node farthest from the device's.
// ok is false where there is none, or the device's own is not known. Of several that are
// as far it is the first, so that all copies from afar are from one.
func placeFar(env bench.Env, d cuda.Info) (p placement, ok bool) {
	near := placeNear(env, d)
	if near.node < 0 || near.cpus == nil || d.AssumedLink() {
		return placement{}, false
	}
	usable := host.UsableCPUs()
	most := 0
	distances := host.NodeDistances(env.Root, near.node)
	for _, node := range slices.Sorted(maps.Keys(distances)) {
		if node == near.node || distances[node] <= most {
			continue
		}
		cpus := slices.DeleteFunc(host.NodeCPUs(env.Root, node), func(cpu int) bool { return !slices.Contains(usable, cpu) })
		if len(cpus) > 0 {
			p, ok, most = placement{node: near.node, far: true, at: node, cpus: cpus}, true, distances[node]
		}
	}
	return p, ok
}

// stands is the node that the thread is on, -1 when that is not known.
func (p placement) stands() int {
	switch {
	case p.far:
		return p.at
	case p.cpus == nil:
		return -1
	}
	return p.node
}

func (p placement) report(r *results.Result, proof *results.PCIeProof) {
	proof.NUMANode, proof.CPUs = &results.OrUnknown[int]{Value: p.node}, p.cpus
	if p.node < 0 {
		proof.NUMANode.Why = "unknown"
	}
	if p.far {
		proof.CopiedFromNode = &results.OrUnknown[int]{Value: p.at}
	}
	if p.warning != "" {
		r.Warnings = append(r.Warnings, p.warning)
	}
}
