package host

import (
	"os"
	"regexp"
	"strings"
)

// sign is a word that points to a hypervisor.
type sign struct{ word, name string }

// nameOf is the name of the first sign whose word is in s, "" without one.
func nameOf(s string, signs []sign) string {
	for _, h := range signs {
		if strings.Contains(s, h.word) {
			return h.name
		}
	}
	return ""
}

// dmiSigns are words of the DMI product and vendor that only virtual machines have,
// lower case. A metal instance of a cloud may bear the same name: x86 tells them apart
// by the hypervisor flag.
var dmiSigns = []sign{
	{"kvm", "kvm"}, {"qemu", "kvm"}, {"openstack", "kvm"}, {"kubevirt", "kvm"},
	{"amazon ec2", "kvm"}, {"google compute engine", "kvm"}, {"alibaba cloud", "kvm"},
	{"vmware", "vmware"}, {"virtualbox", "virtualbox"}, {"xen", "xen"}, {"hvm domu", "xen"},
	{"parallels", "parallels"}, {"bhyve", "bhyve"}, {"bochs", "bochs"},
	{"apple virtualization", "apple"}, {"virtual machine microsoft corporation", "hyperv"},
}

// clockSigns are clock sources that a hypervisor gives its guests, treeSigns those of
// an arm64 guest's device tree.
var (
	clockSigns = []sign{{"kvm-clock", "kvm"}, {"hyperv", "hyperv"}, {"xen", "xen"}, {"", "vm-other"}}
	treeSigns  = []sign{{"kvm", "kvm"}, {"xen", "xen"}}
)

// metal is the product name of EC2 instances that are whole machines.
var metal = regexp.MustCompile(`\.metal(-|$)`)

// virtualization names the hypervisor below this kernel: kvm, vmware, hyperv,
// xen, wsl2, ..., vm-other for one that does not say its name; "none" when the
// firmware can be read and nothing points to one, else "unknown". Of cpuinfo
// only the beginning is read: the whole takes milliseconds on large machines.
func virtualization(t tree) string {
	kernel := t.text("proc/version") + t.text("proc/sys/kernel/osrelease")
	vendor, product := t.text("sys/class/dmi/id/sys_vendor"), t.text("sys/class/dmi/id/product_name")
	flags := parseCPUInfo(t.head("proc/cpuinfo", 8<<10)).first("flags") // x86 only
	guest := strings.Contains(" "+flags+" ", " hypervisor ")
	byFirmware := nameOf(strings.ToLower(product+" "+vendor), dmiSigns)
	byTree := nameOf(t.text("proc/device-tree/hypervisor/compatible"), treeSigns)
	switch {
	case strings.Contains(strings.ToLower(kernel), "microsoft"):
		return "wsl2"
	case strings.Contains(t.text("proc/xen/capabilities"), "control_d"):
		return "none" // Xen's domain 0 sees the hardware
	case t.text("sys/hypervisor/type") == "xen":
		return "xen"
	case byFirmware != "" && (guest || flags == "" && !metal.MatchString(product)):
		return byFirmware
	case byTree != "" && flags == "":
		return byTree
	case guest:
		return nameOf(t.text("sys/devices/system/clocksource/clocksource0/available_clocksource"), clockSigns)
	case vendor != "" || product != "":
		return "none"
	}
	return "unknown"
}

// isVirtual tells whether virtualization names a hypervisor.
func isVirtual(t tree) bool {
	name := virtualization(t)
	return name != "none" && name != "unknown"
}

// groupContainers are the forms that container engines give their control
// groups. docker.service alone is the engine itself, not a container.
var groupContainers = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`kubepods`), "kubernetes"},
	{regexp.MustCompile(`(^|/)docker[/-]`), "docker"},
	{regexp.MustCompile(`(^|/)libpod-`), "podman"},
	{regexp.MustCompile(`(^|/)lxc(/|\.payload)`), "lxc"},
	{regexp.MustCompile(`(^|/)(cri-)?containerd-`), "containerd"},
}

// container names what this process is contained in: kubernetes, docker, podman,
// lxc, ...; "" when nothing points to a container.
func container(t tree) string {
	group := t.text("proc/self/cgroup")
	inGroup := ""
	for _, c := range groupContainers {
		if inGroup == "" && c.form.MatchString(group) {
			inGroup = c.name
		}
	}
	systemd, _, _ := strings.Cut(t.text("run/systemd/container"), "\n")
	switch {
	case inGroup == "kubernetes", os.Getenv("KUBERNETES_SERVICE_HOST") != "", t.exists("run/secrets/kubernetes.io"):
		return "kubernetes"
	case t.exists("run/.containerenv"):
		return "podman"
	case t.exists(".dockerenv"):
		return "docker"
	case t.exists(".singularity.d"):
		return "apptainer"
	case systemd != "" && systemd != "wsl": // that one is no container but a machine
		return systemd
	}
	return inGroup
}
