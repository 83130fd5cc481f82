package host

import (
	"os"
	"regexp"
	"strings"
)

// signs are words that only virtual machines have in the DMI product and vendor, the type
// of hypervisor or the clock sources that they are shown, lower case; the first that is
// there names the hypervisor. A metal instance of a cloud may bear the same name.
var signs = []struct{ word, name string }{
	{"qemu", "kvm"}, {"openstack", "kvm"}, {"kubevirt", "kvm"},
	{"amazon ec2", "kvm"}, {"google compute engine", "kvm"}, {"alibaba cloud", "kvm"},
	{"vmware", "vmware"}, {"virtualbox", "virtualbox"}, {"xen", "xen"}, {"hvm domu", "xen"},
	{"parallels", "parallels"}, {"bhyve", "bhyve"}, {"bochs", "bochs"},
	{"apple virtualization", "apple"}, {"virtual machine microsoft corporation", "hyperv"},
	{"kvm", "kvm"}, {"hyperv", "hyperv"}, {anyGuest, "vm-other"},
}

// anyGuest stands for the flag by which x86 tells its guests apart.
const anyGuest = "other guest"

// metal is the product name of EC2 instances that are whole machines.
var metal = regexp.MustCompile(`\.metal(-|$)`)

// virtualization names the hypervisor below this kernel: kvm, vmware, hyperv,
// xen, wsl2, ..., vm-other for one that does not say its name; "none" when the
// firmware can be read and nothing points to one, else "unknown".
func virtualization(t tree) string {
	kernel := strings.ToLower(t.text("proc/version") + t.text("proc/sys/kernel/osrelease"))
	product, hypervisor := t.text("sys/class/dmi/id/product_name"), t.text("sys/hypervisor/type")
	firmware := strings.TrimSpace(product + " " + t.text("sys/class/dmi/id/sys_vendor"))
	words := strings.Join([]string{firmware, hypervisor, t.text("proc/device-tree/hypervisor/compatible")}, " ")
	flags := t.after("proc/cpuinfo", "flags") // x86 only
	switch guest := strings.Contains(" "+flags+" ", " hypervisor "); {
	case strings.Contains(kernel, "microsoft"):
		return "wsl2"
	case strings.Contains(t.text("proc/xen/capabilities"), "control_d"):
		return "none" // Xen's domain 0 sees the hardware
	case guest:
		words += " " + t.text("sys/devices/system/clocksource/clocksource0/available_clocksource") + " " + anyGuest
	case metal.MatchString(product), flags != "":
		words = hypervisor
	}
	for _, s := range signs {
		if strings.Contains(strings.ToLower(words), s.word) {
			return s.name
		}
	}
	if firmware != "" {
		return "none"
	}
	return "unknown"
}

// isVirtual tells whether virtualization names a hypervisor.
func isVirtual(t tree) bool {
	name := virtualization(t)
	return name != "none" && name != "unknown"
}

// containers are the forms that container engines give their control groups, and what they put
// into a container. docker.service alone is the engine itself, not a container.
var containers = []struct{ name, group, file string }{
	{"kubernetes", `kubepods`, "run/secrets/kubernetes.io"},
	{"podman", `(^|/)libpod-`, "run/.containerenv"},
	{"docker", `(^|/)docker[/-]`, ".dockerenv"},
	{"apptainer", "", ".singularity.d"},
	{"lxc", `(^|/)lxc(/|\.payload)`, ""},
	{"containerd", `(^|/)(cri-)?containerd-`, ""},
}

// container names what this process is contained in: kubernetes, docker, podman,
// lxc, ...; "" when nothing points to a container.
func container(t tree) string {
	if os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return "kubernetes"
	}
	group := t.text("proc/self/cgroup")
	for _, c := range containers {
		inGroup := c.group != "" && regexp.MustCompile(c.group).MatchString(group)
		if inGroup || c.file != "" && t.exists(c.file) {
			return c.name
		}
	}
	return strings.TrimPrefix(t.after("run/systemd/container", ""), "wsl") // which is no container but a machine
}
