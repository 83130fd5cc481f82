package host

import (
	"fmt"
	"path/filepath"
	"strings"

	"dlbench/results"
)

const nvidia = 0x10de // vendor

// isGPU tells by the device's class: a display controller, or an accelerator.
func isGPU(dir string) bool {
	class := pciID(dir, "class")
	return class>>16 == 0x03 || class>>8 == 0x1200
}

// GPUs lists NVIDIA's GPUs on the PCI bus by address. A container may see more
// of them here than CUDA lets it use. Index and Memory are CUDA's to tell.
func GPUs(root string) []results.GPU {
	t := tree(root)
	virtual := isVirtual(virtualization(t))
	var gpus []results.GPU
	for _, addr := range t.names(sysPCI) {
		dirs := pciPath(t, address(addr))
		if len(dirs) == 0 || pciID(dirs[0], "vendor") != nvidia || !isGPU(dirs[0]) {
			continue
		}
		if tree(dirs[0]).exists("physfn") {
			continue // a virtual function of a GPU that is listed itself
		}
		g := results.GPU{PCI: address(addr), Name: gpuName(t, dirs[0]), Link: ReadLink(root, addr)}
		if node, ok := tree(dirs[0]).number("numa_node"); ok && node >= 0 {
			n := int(node)
			g.NUMANode = &n
		}
		// Emulated ports join what is apart in truth.
		if top := dirs[len(dirs)-1]; len(dirs) > 1 && !(virtual && emulated(top)) {
			g.Uplink = filepath.Base(top)
		}
		gpus = append(gpus, g)
	}
	for i := range gpus {
		for j := range gpus {
			if i != j && gpus[i].Uplink != "" && gpus[i].Uplink == gpus[j].Uplink {
				gpus[i].Shares = append(gpus[i].Shares, gpus[j].PCI)
			}
		}
	}
	return gpus
}

// gpuName is the model that NVIDIA's driver tells, else vendor:device.
func gpuName(t tree, dir string) string {
	info := t.text("proc/driver/nvidia/gpus/" + filepath.Base(dir) + "/information")
	for line := range strings.Lines(info) {
		if name, ok := strings.CutPrefix(line, "Model:"); ok && strings.TrimSpace(name) != "" {
			return strings.TrimSpace(name)
		}
	}
	return fmt.Sprintf("%04x:%04x", nvidia, pciID(dir, "device"))
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
