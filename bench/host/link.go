package host

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// sysPCI is the folder of PCI devices. prometheus/procfs is not used for them: it reads
// some 20 files of every device of the machine where a link takes four, wants the unit
// "GT/s PCIe" that kernels before 5.7 do not write and gives up all devices without it,
// and knows neither virtual functions nor what is removable.
const sysPCI = "sys/bus/pci/devices"

var addressForm = regexp.MustCompile(`^(?:([0-9a-f]{1,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$`)

// address brings a PCI address into the form of sysfs, 0000:65:00.0: lower case,
// a domain of four digits (CUDA writes eight in some places). It returns "" for
// anything else.
func address(pci string) string {
	m := addressForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(pci)))
	if m == nil {
		return ""
	}
	domain := strings.TrimLeft(m[1], "0")
	return strings.Repeat("0", max(4-len(domain), 0)) + domain + ":" + m[2]
}

// pciPath returns the folders of a device and of the bridges above it up to the
// root port, the device's own first; nil if there is no such device. They are
// nested in /sys/devices, where the link in /sys/bus/pci/devices points to.
func pciPath(t tree, pci string) (dirs []tree) {
	addr := address(pci)
	dir, err := filepath.EvalSymlinks(t.path(sysPCI + "/" + addr))
	if err != nil || addr == "" {
		return nil
	}
	for ; address(filepath.Base(dir)) != ""; dir = filepath.Dir(dir) {
		dirs = append(dirs, tree(dir))
	}
	return dirs
}

// model is the vendor and device of a PCI device, 10de:20b5, "" if there is no such device.
func (t tree) model() string {
	number := func(name string) string { return strings.TrimPrefix(t.text(name), "0x") }
	return strings.Trim(number("vendor")+":"+number("device"), ":")
}

// emulated tells bridges that exist in software only, and that say nothing of the wire:
// those of QEMU (of Red Hat's own vendors 1b36 and 1af4, ioh3420, x3130-upstream,
// xio3130-downstream), and VMware's root port. Bridges of other vendors in a virtual machine
// may mirror the hardware (Amazon's do) and are believed. Some exist as hardware too, so ask
// in virtual machines only.
var emulated = regexp.MustCompile(`^(1b36:.*|1af4:.*|8086:3420|104c:8232|104c:8233|15ad:07a0)$`)

// pciLink is one link. Both of its ends describe it.
type pciLink struct {
	device, port string // addresses of the lower and the upper end; the same where only one is seen
	ends         []tree // those to be believed
	emulated     bool   // one end at least
}

// pciLinks are the links between a device and its root port, the device's own first;
// conventional PCI has none.
//
// A port and the device below it are the two ends of one link, so the ports on
// the way up count in pairs: the upstream and the downstream port of a switch
// belong to different links. Type registers would say the same but want root.
func pciLinks(path []tree, virtual bool) (links []*pciLink) {
	ports := slices.DeleteFunc(slices.Clone(path), func(dir tree) bool {
		return !dir.exists("current_link_speed") && !dir.exists("current_link_width")
	})
	for ends := range slices.Chunk(ports, 2) {
		l := &pciLink{device: ends[0].base(), port: ends[len(ends)-1].base()}
		for _, dir := range ends {
			if virtual && emulated.MatchString(dir.model()) {
				l.emulated = true
			} else {
				l.ends = append(l.ends, dir)
			}
		}
		links = append(links, l)
	}
	return links
}

// read merges what the ends report: of two known numbers the lower holds.
func (l *pciLink) read() results.Hop {
	h := results.Hop{Device: l.device}
	for _, dir := range l.ends {
		h.GTs = lower(h.GTs, parseSpeed(dir.text("current_link_speed")))
		h.MaxGTs = lower(h.MaxGTs, parseSpeed(dir.text("max_link_speed")))
		h.Width = lower(h.Width, parseWidth(dir.text("current_link_width")))
		h.MaxWidth = lower(h.MaxWidth, parseWidth(dir.text("max_link_width")))
	}
	return h
}

// lower is the lower of two numbers of which 0 is unknown.
func lower[T int | float64](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// parseSpeed reads "16.0 GT/s PCIe", "8 GT/s" in GT/s a lane; 0 for "Unknown"
// and every rate that no generation of PCI Express has.
func parseSpeed(s string) float64 {
	number, unit, _ := strings.Cut(s, " ")
	gts, _ := strconv.ParseFloat(number, 64)
	if _, ok := theory.LinkOf(gts, 1); !ok || !strings.HasPrefix(unit, "GT/s") {
		return 0
	}
	return gts
}

// parseWidth reads the number of lanes; 0 for those that a register without a
// link behind it shows: 0, 63, 255.
func parseWidth(s string) int {
	n, _ := strconv.Atoi(s)
	if n < 0 || n > 32 {
		return 0
	}
	return n
}

// lineRate is bytes a second after line coding, 0 if one is unknown.
func lineRate(gts float64, lanes int) float64 {
	l, _ := theory.LinkOf(gts, lanes)
	return l.LineRate()
}

// LinkReader reads the link registers of a PCI device and of the ports above it.
// It keeps which files to read and no open ones. An idle GPU falls to the lowest
// speed, so Read while copying, from one goroutine at a time.
type LinkReader struct {
	links []*pciLink
	state string // when it is known beforehand, and the registers do not matter
	note  string
	// In a virtual machine:
	virtual bool
	hidden  bool // a port above is emulated, or there is none
}

// coherent are the GPUs that reach the CPU's memory over NVLink-C2C; PCI Express only
// configures them. Sources: device table of Linux's drivers/vfio/pci/nvgrace-gpu; GB10 (DGX
// Spark) as its lspci shows it.
var coherent = map[string]string{
	"10de:2342": "GH200", "10de:2345": "GH200", "10de:2348": "GH200",
	"10de:2941": "GB200", "10de:31c2": "GB300", "10de:2e12": "GB10",
}

// NewLinkReader finds the links between a device, "0000:65:00.0" or
// "00000000:65:00.0", and its root port.
func NewLinkReader(root, pci string) *LinkReader {
	t := tree(root)
	path := pciPath(t, pci)
	tegra := strings.Contains(t.text("proc/device-tree/compatible"), "nvidia,tegra")
	switch {
	case tegra && (len(path) == 0 || !path[0].isGPU()):
		return &LinkReader{state: results.LinkOther, note: "integrated GPU, it shares the CPU's memory"}
	case len(path) == 0 && t.exists("dev/dxg"):
		return &LinkReader{state: results.LinkVirtual, note: "WSL2 or another guest of Hyper-V: " +
			"the GPU is reached through /dev/dxg, its link is the Windows host's to know"}
	case len(path) == 0:
		return &LinkReader{state: results.LinkUnknown, note: "no such PCI device in /sys"}
	}
	if name := coherent[path[0].model()]; name != "" {
		return &LinkReader{state: results.LinkOther, note: name + ": copies go over NVLink-C2C"}
	}
	r := &LinkReader{virtual: isVirtual(t)}
	r.links = pciLinks(path, r.virtual)
	if slices.ContainsFunc(path, func(dir tree) bool { return dir.text("removable") == "removable" }) {
		r.state = results.LinkOther
		r.note = "external: the registers of a Thunderbolt or USB4 tunnel do not tell its speed"
	}
	alone := len(r.links) == 0 || r.links[0].device == r.links[0].port
	r.hidden = r.virtual && (alone || slices.ContainsFunc(r.links, func(l *pciLink) bool { return l.emulated }))
	return r
}

// Read returns the link as it is now, from four small files of each device on the
// way: about 0.1 ms, see BenchmarkLinkReader. The narrowest hop is that
// of the lowest line rate; now and at most it may be a different one.
func (r *LinkReader) Read() results.Link {
	l := results.Link{State: results.LinkUnknown, Note: r.note}
	var rate, maxRate float64
	unseen := r.hidden
	for _, link := range r.links {
		now := link.read()
		if now == (results.Hop{Device: link.device}) {
			continue // a device of the root complex, or every end is emulated
		}
		l.Hops = append(l.Hops, now)
		n := lineRate(now.GTs, now.Width)
		if n == 0 {
			unseen = true
		} else if rate == 0 || n < rate {
			rate, l.GTs, l.Width, l.Narrow = n, now.GTs, now.Width, now.Device
		}
		if n := lineRate(now.MaxGTs, now.MaxWidth); n > 0 && (maxRate == 0 || n < maxRate) {
			maxRate, l.MaxGTs, l.MaxWidth = n, now.MaxGTs, now.MaxWidth
		}
	}
	switch {
	case r.state != "":
		return results.Link{State: r.state, Hops: l.Hops, Note: r.note}
	case rate > 0 && unseen:
		l.State, l.Note = results.LinkKnown, "links above the device that cannot be seen are not counted"
	case rate > 0:
		l.State = results.LinkKnown
	case r.virtual:
		l.State = results.LinkVirtual
	}
	return l
}
