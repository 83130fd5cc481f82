package host

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"dlbench/results"
)

// sataRates are bytes a second after 8b/10b coding, by sata_spd of an ata_link.
var sataRates = map[string]float64{"1.5 Gbps": 150e6, "3.0 Gbps": 300e6, "6.0 Gbps": 600e6}

// sataLink reads the speed that the port has agreed on. Link N belongs to port
// ataN; behind a port multiplier it is the host's side.
func (b blockDev) sataLink(t tree, way []string, d *disk) {
	i := slices.IndexFunc(way, ataPort.MatchString)
	if i < 0 {
		return
	}
	port := ataPort.FindStringSubmatch(way[i])[1]
	speed := t.text("sys/class/ata_link/link" + port + "/sata_spd")
	if rate := sataRates[speed]; rate > 0 {
		d.link, d.linkRate = "SATA "+speed[:3]+" Gb/s", rate
	}
}

var nvmeController = regexp.MustCompile(`^nvme[0-9]+$`)

// nvmeLink finds the controller of an NVMe disk and its link. The disk's parent
// is the controller, or the subsystem with links to several of them (multipath);
// controllers behind a network have no PCI device.
func (b blockDev) nvmeLink(t tree, d *disk) {
	parent := tree(filepath.Dir(string(b.dir)))
	controllers := []tree{parent}
	if !nvmeController.MatchString(filepath.Base(string(parent))) {
		controllers = nil
		for _, name := range parent.names(".") {
			if nvmeController.MatchString(name) {
				controllers = append(controllers, tree(parent.path(name)))
			}
		}
	}
	for _, c := range controllers {
		switch transport := printable(c.text("transport")); transport {
		case "pcie", "": // older kernels have no such file
			if pci := address(c.text("address")); pci != "" {
				d.pciLink(t, pci)
				return
			}
			if dir, err := filepath.EvalSymlinks(c.path("device")); err == nil && address(filepath.Base(dir)) != "" {
				d.pciLink(t, filepath.Base(dir))
				return
			}
		case "tcp", "rdma", "fc", "loop":
			d.kind = results.DiskNetwork
			d.notes = append(d.notes, b.name+": NVMe over "+transport)
			return
		}
	}
}

// pciLink takes the narrowest hop between the controller and its root port.
func (d *disk) pciLink(t tree, pci string) {
	l := ReadLink(string(t), pci)
	if l.State != results.LinkKnown {
		return
	}
	d.link, d.linkRate = generation(l.GTs, l.Width), lineRate(l.GTs, l.Width)*1e9/8
	if lineRate(l.MaxGTs, l.MaxWidth) > lineRate(l.GTs, l.Width) {
		d.notes = append(d.notes, fmt.Sprintf("%s: its link is at %s now and can do %s", d.name, d.link, generation(l.MaxGTs, l.MaxWidth)))
	}
}

// generation names a PCI Express link, "Gen4 x4".
func generation(gts float64, width int) string {
	for i, rate := range []float64{2.5, 5, 8, 16, 32, 64, 128} {
		if gts == rate {
			return fmt.Sprintf("Gen%d x%d", i+1, width)
		}
	}
	return "unknown"
}
