package host

import (
	"path/filepath"
	"strconv"
	"strings"

	"dlbench/results"
)

// ReadLink reads the link of the PCI device at an address, as NewLinkReader and
// Read do.
func ReadLink(root, pci string) results.Link { return NewLinkReader(root, pci).Read() }

// LinkReader reads the link registers of a PCI device and of the ports above it.
// It keeps which files to read and no open ones. An idle GPU falls to the lowest
// speed, so Read while copying, from one goroutine at a time.
type LinkReader struct {
	hops  []*hop
	state string // when it is known beforehand, and the registers do not matter
	note  string
	// In a virtual machine:
	virtual bool
	hidden  bool // a port above is emulated, or there is none
}

// hop is one link. Both of its ends describe it.
type hop struct {
	device string // address of the lower end
	ends   []*linkEnd
}

// linkEnd is the device at one end of a link. What it can do at most is read
// again only when it is unknown or outdone.
type linkEnd struct {
	dir      tree
	maxGTs   float64
	maxWidth int
}

// GPUs that reach the CPU's memory over NVLink-C2C; PCI Express only configures
// them. Sources: device table of Linux's drivers/vfio/pci/nvgrace-gpu; GB10 (DGX
// Spark) as its lspci shows it.
var coherent = map[uint32]string{
	0x2342: "GH200", 0x2345: "GH200", 0x2348: "GH200", 0x2941: "GB200", 0x31c2: "GB300", 0x2e12: "GB10",
}

// NewLinkReader finds the links between a device, "0000:65:00.0" or
// "00000000:65:00.0", and its root port.
//
// A port and the device below it are the two ends of one link, so the ports on
// the way up count in pairs: the upstream and the downstream port of a switch
// belong to different links. Type registers would say the same but want root.
func NewLinkReader(root, pci string) *LinkReader {
	t, addr := tree(root), address(pci)
	dirs := pciPath(t, addr)
	tegra := strings.Contains(t.head("proc/device-tree/compatible", 4096), "nvidia,tegra")
	switch {
	case tegra && (len(dirs) == 0 || !isGPU(dirs[0])):
		return &LinkReader{state: results.LinkOther, note: "integrated GPU, it shares the CPU's memory"}
	case len(dirs) == 0 && t.exists("dev/dxg"):
		return &LinkReader{state: results.LinkVirtual, note: "WSL2 or another guest of Hyper-V: the GPU is reached through /dev/dxg, its link is the Windows host's to know"}
	case len(dirs) == 0:
		return &LinkReader{state: results.LinkUnknown, note: "no such PCI device in /sys"}
	}
	if name := coherent[pciID(dirs[0], "device")]; name != "" && pciID(dirs[0], "vendor") == nvidia {
		return &LinkReader{state: results.LinkOther, note: name + ": copies go over NVLink-C2C"}
	}

	r := &LinkReader{virtual: isVirtual(virtualization(t))}
	var ports []string // those that have a link at all: conventional PCI has none
	for _, dir := range dirs {
		if tree(dir).exists("current_link_speed") || tree(dir).exists("current_link_width") {
			ports = append(ports, dir)
		}
		if tree(dir).text("removable") == "removable" {
			r.state = results.LinkOther
			r.note = "external: the registers of a Thunderbolt or USB4 tunnel do not tell its speed"
		}
		if r.virtual && emulated(dir) {
			r.hidden = true
		}
	}
	if r.virtual && len(ports) < 2 {
		r.hidden = true
	}
	for i := 0; i < len(ports); i += 2 {
		h := &hop{device: filepath.Base(ports[i])}
		for _, dir := range ports[i:min(i+2, len(ports))] {
			if !r.virtual || !emulated(dir) {
				h.ends = append(h.ends, &linkEnd{dir: tree(dir)})
			}
		}
		r.hops = append(r.hops, h)
	}
	return r
}

// Read returns the link as it is now, from two small files of each device on the
// way: tens of microseconds, see BenchmarkLinkReader. The narrowest hop is that
// of the lowest line rate; now and at most it may be a different one.
func (r *LinkReader) Read() results.Link {
	l := results.Link{State: results.LinkUnknown, Note: r.note}
	var rate, maxRate float64
	var silent string
	for _, h := range r.hops {
		now := h.read()
		if now == (results.Hop{Device: h.device}) {
			continue // a device of the root complex, or every end is emulated
		}
		l.Hops = append(l.Hops, now)
		n := lineRate(now.GTs, now.Width)
		if n == 0 {
			silent = h.device
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
	case rate > 0:
		l.State = results.LinkKnown
		if r.hidden {
			l.Note = "hops above the device cannot be seen in this virtual machine"
		} else if silent != "" {
			l.Note = "the link above " + silent + " is unknown, so it is not counted"
		}
	case r.virtual:
		l.State = results.LinkVirtual
	}
	return l
}

// read merges what the ends report: of two known numbers the lower holds.
func (h *hop) read() results.Hop {
	now := results.Hop{Device: h.device}
	for _, e := range h.ends {
		gts, width := parseSpeed(e.dir.text("current_link_speed")), parseWidth(e.dir.text("current_link_width"))
		if e.maxGTs == 0 || e.maxGTs < gts {
			e.maxGTs = parseSpeed(e.dir.text("max_link_speed"))
		}
		if e.maxWidth == 0 || e.maxWidth < width {
			e.maxWidth = parseWidth(e.dir.text("max_link_width"))
		}
		now.GTs, now.Width = lower(now.GTs, gts), lower(now.Width, width)
		now.MaxGTs, now.MaxWidth = lower(now.MaxGTs, e.maxGTs), lower(now.MaxWidth, e.maxWidth)
	}
	return now
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
	if !strings.HasPrefix(unit, "GT/s") {
		return 0
	}
	gts, _ := strconv.ParseFloat(number, 64)
	switch gts {
	case 2.5, 5, 8, 16, 32, 64, 128:
		return gts
	}
	return 0
}

// parseWidth reads the number of lanes; 0 for those that a register without a
// link behind it shows: 0, 63, 255.
func parseWidth(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 32 {
		return 0
	}
	return n
}

// lineRate is GT/s x coding x lanes, 0 if one is unknown. Coding: 8b/10b below
// 8 GT/s, 128b/130b to 32, flits of 236 in 256 bytes from 64.
func lineRate(gts float64, lanes int) float64 {
	switch {
	case gts < 8:
		gts *= 8.0 / 10
	case gts < 64:
		gts *= 128.0 / 130
	default:
		gts *= 236.0 / 256
	}
	return gts * float64(lanes)
}
