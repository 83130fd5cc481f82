package host

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

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
func pciPath(t tree, addr string) []string {
	if addr == "" {
		return nil
	}
	link := filepath.Join(t.path(sysPCI), addr)
	dir, err := os.Readlink(link)
	switch {
	case err != nil:
		if _, err := os.Stat(link); err != nil {
			return nil
		}
		return []string{link}
	case filepath.IsAbs(dir):
		dir = t.path(dir)
	default:
		dir = filepath.Join(filepath.Dir(link), dir)
	}
	var dirs []string
	for ; address(filepath.Base(dir)) != ""; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// pciID reads a number such as "0x10de\n" from a device's folder, 0 if it is not
// one.
func pciID(dir, name string) uint32 {
	n, err := strconv.ParseUint(tree(dir).text(name), 0, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// Vendors and devices of bridges that exist in software only, and that say
// nothing of the wire: models of QEMU, and VMware's root port. Bridges of other
// vendors in a virtual machine may mirror the hardware (Amazon's do) and are
// believed.
var (
	emulatedVendors = map[uint32]bool{0x1b36: true, 0x1af4: true} // Red Hat: QEMU and virtio
	emulatedBridges = map[[2]uint32]bool{
		{0x8086, 0x3420}: true, // ioh3420, a root port
		{0x104c, 0x8232}: true, // x3130-upstream
		{0x104c, 0x8233}: true, // xio3130-downstream
		{0x15ad, 0x07a0}: true, // VMware's root port
	}
)

// emulated tells whether the device in dir is one of them. Some exist as
// hardware too, so ask in virtual machines only.
func emulated(dir string) bool {
	vendor := pciID(dir, "vendor")
	return emulatedVendors[vendor] || emulatedBridges[[2]uint32{vendor, pciID(dir, "device")}]
}
