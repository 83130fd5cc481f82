package host

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"dlbench/results"
)

// SharedPort is a link that the copies of several devices pass.
type SharedPort struct {
	Port    string      // address of the link's upper end, "" where nothing is above
	Link    results.Hop // as its ends report it now; an idle link may have slowed down
	Devices []string    // PCI addresses of the devices below, as they were given
}

// SharedPorts finds the links that several of the devices at these PCI addresses
// share; of links that the same devices share the slowest one, by what they can do at
// most. Ports that a hypervisor emulates join what may be apart in truth and are left
// out.
func SharedPorts(root string, pcis []string) []SharedPort {
	t := tree(root)
	virtual := isVirtual(virtualization(t))
	var links []SharedPort
	for _, pci := range pcis {
		var ports []string
		for _, dir := range pciPath(t, address(pci)) {
			if tree(dir).exists("current_link_speed") || tree(dir).exists("current_link_width") {
				ports = append(ports, dir)
			}
		}
		for i := 2; i < len(ports); i += 2 { // above the device's own; see NewLinkReader
			l := SharedPort{}
			h := hop{device: filepath.Base(ports[i])}
			for _, dir := range ports[i:min(i+2, len(ports))] {
				h.ends = append(h.ends, &linkEnd{dir: tree(dir)})
				l.Port = filepath.Base(dir)
				if virtual && emulated(dir) {
					h.ends = nil
					break
				}
			}
			if h.ends == nil {
				continue
			}
			k := slices.IndexFunc(links, func(o SharedPort) bool { return o.Link.Device == h.device })
			if k < 0 {
				k = len(links)
				l.Link = h.read()
				links = append(links, l)
			}
			links[k].Devices = append(links[k].Devices, pci)
		}
	}
	links = slices.DeleteFunc(links, func(l SharedPort) bool { return len(l.Devices) < 2 })
	rate := func(l SharedPort) float64 { return lineRate(l.Link.MaxGTs, cmp.Or(l.Link.Width, l.Link.MaxWidth)) }
	slices.SortStableFunc(links, func(a, b SharedPort) int { return cmp.Compare(rate(a), rate(b)) })
	seen := map[string]bool{}
	return slices.DeleteFunc(links, func(l SharedPort) bool {
		key := strings.Join(l.Devices, " ")
		again := seen[key]
		seen[key] = true
		return again
	})
}
