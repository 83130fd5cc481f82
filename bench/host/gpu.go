package host

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
)

// isGPU tells by the class of a PCI device: a display controller, or an accelerator.
func (t tree) isGPU() bool {
	class := t.text("class")
	return strings.HasPrefix(class, "0x03") || strings.HasPrefix(class, "0x1200")
}

// readGPUs lists NVIDIA's GPUs on the PCI bus by address. A container may see more
// of them here than CUDA lets it use. Index and Memory are CUDA's to say.
func readGPUs(t tree) (gpus []results.GPU) {
	var pcis []string
	for _, addr := range t.names(sysPCI) {
		path := pciPath(t, addr)
		if len(path) == 0 || !strings.HasPrefix(path[0].model(), "10de:") || !path[0].isGPU() ||
			path[0].exists("physfn") { // a virtual function of a GPU that is listed itself
			continue
		}
		g := results.GPU{PCI: address(addr), Link: NewLinkReader(string(t), addr).Read()}
		g.Name = cmp.Or(t.after("proc/driver/nvidia/gpus/"+g.PCI+"/information", "Model:"), path[0].model())
		if node, ok := path[0].index("numa_node"); ok {
			g.NUMANode = &node
		}
		gpus, pcis = append(gpus, g), append(pcis, g.PCI)
	}
	for _, port := range SharedPorts(string(t), pcis) {
		for _, pci := range port.Devices {
			if g := Find(gpus, pci); len(port.Devices) > len(g.Shares)+1 { // the port of the most
				g.Uplink, g.Shares = port.Port, results.Without(port.Devices, pci)
			}
		}
	}
	return gpus
}

// Find returns the GPU at a PCI address, in upper or lower case, with a domain
// of four or eight digits or none; nil if it is not among them. The result
// points into gpus.
func Find(gpus []results.GPU, pci string) *results.GPU {
	addr := address(pci)
	for i := range gpus {
		if addr != "" && address(gpus[i].PCI) == addr {
			return &gpus[i]
		}
	}
	return nil
}

// SharedPort is a link that the copies of several devices pass.
type SharedPort struct {
	Port    string      // address of the link's upper end, as far as it is seen
	Link    results.Hop // as its ends report it now; an idle link may have slowed down
	Devices []string    // PCI addresses of the devices below, as they were given
}

// SharedPorts finds the links that several of the devices at these PCI addresses
// share; of links that the same devices share the slowest one, by what they can do at
// most. Ports that a hypervisor emulates join what may be apart in truth and are left
// out.
func SharedPorts(root string, pcis []string) (ports []SharedPort) {
	t := tree(root)
	virtual := isVirtual(t)
	var all []SharedPort
	for _, pci := range pcis {
		links := pciLinks(pciPath(t, pci), virtual)
		for _, l := range links[min(1, len(links)):] { // above the device's own
			if l.emulated {
				continue
			}
			k := slices.IndexFunc(all, func(o SharedPort) bool { return o.Link.Device == l.device })
			if k < 0 {
				k = len(all)
				all = append(all, SharedPort{Port: l.port, Link: l.read()})
			}
			all[k].Devices = append(all[k].Devices, pci)
		}
	}
	rate := func(l SharedPort) float64 { return lineRate(l.Link.MaxGTs, cmp.Or(l.Link.Width, l.Link.MaxWidth)) }
	slower := func(a, b SharedPort) int { return cmp.Compare(rate(a), rate(b)) }
	for _, same := range results.Grouped(all, func(l SharedPort) string { return strings.Join(l.Devices, " ") }) {
		if len(same[0].Devices) > 1 {
			ports = append(ports, slices.MinFunc(same, slower))
		}
	}
	return ports
}
