package host

import (
	"regexp"
	"strings"
)

// dmiHypervisors are words of the DMI vendor or product that only virtual
// machines have, lower case, and the hypervisor behind them. A metal instance of
// a cloud may bear the same name: x86 tells them apart by the hypervisor flag.
var dmiHypervisors = []struct{ word, name string }{
	{"kvm", "kvm"}, {"qemu", "kvm"}, {"openstack", "kvm"}, {"kubevirt", "kvm"},
	{"amazon ec2", "kvm"}, {"google compute engine", "kvm"}, {"alibaba cloud", "kvm"},
	{"vmware", "vmware"}, {"virtualbox", "virtualbox"}, {"xen", "xen"}, {"hvm domu", "xen"},
	{"parallels", "parallels"}, {"bhyve", "bhyve"}, {"bochs", "bochs"},
	{"apple virtualization", "apple"}, {"virtual machine microsoft corporation", "hyperv"},
}

// clockHypervisors are clock sources that a hypervisor gives its guests.
var clockHypervisors = []struct{ word, name string }{
	{"kvm-clock", "kvm"}, {"hyperv", "hyperv"}, {"xen", "xen"},
}

// metal is the product name of EC2 instances that are whole machines.
var metal = regexp.MustCompile(`\.metal(-|$)`)

// virtualization names the hypervisor below this kernel: kvm, vmware, hyperv,
// xen, wsl2, ..., vm-other for one that does not say its name; "none" when the
// firmware can be read and nothing points to one, else "unknown". Of cpuinfo
// only the beginning is read: the whole takes milliseconds on large machines.
func virtualization(t tree) string {
	kernel := strings.ToLower(t.text("proc/version") + t.text("proc/sys/kernel/osrelease"))
	if strings.Contains(kernel, "microsoft") {
		return "wsl2"
	}
	if strings.Contains(t.text("proc/xen/capabilities"), "control_d") {
		return "none" // Xen's domain 0 sees the hardware
	}
	if hypervisor := t.text("sys/hypervisor/type"); hypervisor == "xen" {
		return "xen"
	}

	vendor, product := t.text("sys/class/dmi/id/sys_vendor"), t.text("sys/class/dmi/id/product_name")
	firmware := vendor != "" || product != ""
	flags := " " + parseCPUInfo(t.head("proc/cpuinfo", 8<<10)).first("flags") + " " // x86 only
	x86, flagged := flags != "  ", strings.Contains(flags, " hypervisor ")

	if !x86 || flagged {
		dmi := strings.ToLower(product + " " + vendor)
		for _, h := range dmiHypervisors {
			if strings.Contains(dmi, h.word) && (flagged || !metal.MatchString(product)) {
				return h.name
			}
		}
	}
	if !x86 {
		node := t.text("proc/device-tree/hypervisor/compatible")
		for _, name := range []string{"kvm", "xen"} {
			if strings.Contains(node, name) {
				return name
			}
		}
	}
	if flagged {
		sources := t.text("sys/devices/system/clocksource/clocksource0/available_clocksource")
		for _, h := range clockHypervisors {
			if strings.Contains(sources, h.word) {
				return h.name
			}
		}
		return "vm-other"
	}
	if firmware {
		return "none"
	}
	return "unknown"
}

// isVirtual tells whether virtualization named a hypervisor.
func isVirtual(name string) bool { return name != "" && name != "none" && name != "unknown" }

// Confidential names the device by which this kernel knows that it runs in a
// confidential virtual machine, whose memory a GPU reaches through encrypted bounce
// buffers; "" for none seen.
func Confidential(root string) string {
	for _, name := range []string{"/dev/tdx_guest", "/dev/sev-guest"} {
		if tree(root).exists(name) {
			return name
		}
	}
	return ""
}
