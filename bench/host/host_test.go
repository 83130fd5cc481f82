package host

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestReadThisMachine(t *testing.T) {
	h := Read("/")
	if h.OS != runtime.GOOS || h.CPU.Usable <= 0 || h.CPU.Affinity <= 0 || h.CPU.Threads <= 0 {
		t.Errorf("%+v", h)
	}
	if runtime.GOOS == "linux" && h.Memory.Total <= 0 {
		t.Errorf("memory %+v", h.Memory)
	}
	if cpus := UsableCPUs(); len(cpus) != h.CPU.Affinity || !slices.IsSorted(cpus) {
		t.Errorf("usable CPUs %v, affinity %d", cpus, h.CPU.Affinity)
	}
}

func TestReadTree(t *testing.T) {
	for _, c := range []struct {
		release files
		want    string
	}{
		{at("etc", "os-release NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"", "hostname secret"),
			"Debian GNU/Linux 12 (bookworm)"},
		{at("etc", "os-release PRETTY_NAME='Alpine Linux v3.20'"), "Alpine Linux v3.20"},
		{files{"usr/lib/os-release": "PRETTY_NAME=Arch\n", "etc/os-release": "-> /usr/lib/nowhere"}, "Arch"},
		{at("etc", "os-release NAME=x"), ""},
		{files{}, ""},
	} {
		h := Read(plant(t, xeon(), onMetal, pci(port("0000:64:01.0", gen4x16), gpu(card, gen4x16)),
			at("proc", meminfo, "sys/kernel/osrelease 6.1.0-13-amd64"), c.release))
		if h.Kernel != "6.1.0-13-amd64" || h.Distribution != c.want || h.Virtualization != "none" ||
			h.Memory.Total != 16000000<<10 || len(h.GPUs) != 1 || h.GPUs[0].Link.Width != 16 {
			t.Errorf("want %q in %+v", c.want, h)
		}
	}
}

func TestNotes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have one note")
	}
	metal := merge(xeon(), onMetal, pci(port("0000:64:01.0", gen4x16), gpu(card, gen4x16)))
	governed := at(cpuDir, fmt.Sprintf("cpu%d/cpufreq/scaling_governor performance", UsableCPUs()[0]))
	for _, c := range []struct {
		want    string
		in, not files
	}{
		{"physical cores unknown", onMetal, metal},
		{"CPU governor unknown", onMetal, governed},
		{"control groups cannot be read", metal, at("proc/self", "cgroup 0::/")},
		{"no /sys/bus/pci/devices", onMetal, metal},
		{"NUMA node of GPU " + card, metal, onMetal},
		{"WSL2: ", at("proc", "version Linux version 5.15.153.1-microsoft-standard-WSL2"), metal},
		{"confidential virtual machine", at("dev", "tdx_guest"), metal},
		{"confidential virtual machine", at("dev", "sev-guest"), metal},
	} {
		if notes := strings.Join(Read(plant(t, c.in)).Notes, "\n"); !strings.Contains(notes, c.want) {
			t.Errorf("%q is missing in %q", c.want, notes)
		}
		if notes := strings.Join(Read(plant(t, c.not)).Notes, "\n"); strings.Contains(notes, c.want) {
			t.Errorf("%q is in %q", c.want, notes)
		}
	}
}

func TestVirtualization(t *testing.T) {
	const (
		bare    = "cpuinfo processor : 0\nflags : fpu sse2"
		guest   = "cpuinfo processor : 0\nflags : fpu hypervisor sse2"
		arm     = "cpuinfo processor : 0\nFeatures : fp asimd"
		xen     = "../sys/hypervisor/type xen"
		source  = "../sys/devices/system/clocksource/clocksource0/available_clocksource tsc "
		domain0 = xen + "|xen/capabilities control_d"
	)
	for _, c := range []struct {
		name, cpuinfo, vendor, product, want string
		more                                 string // other files, from /proc
	}{
		{"server", bare, "Dell Inc.", "PowerEdge R740", "none", ""},
		{"flag is a whole word", "cpuinfo flags : hypervisor2", "Dell Inc.", "", "none", ""},
		{"server without DMI", bare, "", "", "unknown", ""},
		{"QEMU", guest, "QEMU", "Standard PC (Q35 + ICH9, 2009)", "kvm", ""},
		{"EC2", guest, "Amazon EC2", "p5.48xlarge", "kvm", ""},
		{"EC2 metal", bare, "Amazon EC2", "g4dn.metal", "none", ""},
		{"EC2 on arm64", arm, "Amazon EC2", "g5g.xlarge", "kvm", ""},
		{"EC2 metal on arm64", arm, "Amazon EC2", "c8g.metal-24xl", "none", ""},
		{"GCE", guest, "Google", "Google Compute Engine", "kvm", ""},
		{"Azure", guest, "Microsoft Corporation", "Virtual Machine", "hyperv", ""},
		{"Surface with Hyper-V's flag", guest, "Microsoft Corporation", "Surface Book", "vm-other", ""},
		{"VMware", guest, "VMware, Inc.", "VMware7,1", "vmware", ""},
		{"Xen", guest, "", "", "xen", xen},
		{"Xen's domain 0", guest, "", "", "none", domain0},
		{"WSL", guest, "", "", "wsl2", "version Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x)"},
		{"microVM", guest, "", "", "kvm", source + "kvm-clock"},
		{"nameless", guest, "", "", "vm-other", source},
		{"kvm-clock alone proves nothing", bare, "", "", "unknown", source + "kvm-clock"},
		{"Grace", arm, "NVIDIA", "Grace Hopper", "none", ""},
		{"arm64 guest by device tree", arm, "", "", "kvm", "device-tree/hypervisor/compatible linux,kvm\x00"},
		{"board", arm, "", "", "unknown", ""},
		{"noise", "cpuinfo " + noise, "", "", "unknown", "version " + noise},
		{"nothing", "x", "", "", "unknown", ""},
	} {
		dmi := at("sys/class/dmi/id", "sys_vendor "+c.vendor, "product_name "+c.product)
		root := plant(t, dmi, at("proc", c.cpuinfo), at("proc", strings.Split(c.more, "|")...))
		if have := virtualization(tree(root)); have != c.want {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}

func TestContainer(t *testing.T) {
	for _, c := range []struct{ name, group, file, env, want string }{
		{"none", "0::/user.slice/user-1000.slice/session-2.scope", "", "", ""},
		{"docker", "0::/", ".dockerenv", "", "docker"},
		{"docker by group", "4:memory:/docker/0123abcd", "", "", "docker"},
		{"docker by systemd's group", "0::/system.slice/docker-0123.scope", "", "", "docker"},
		{"docker's own service", "0::/system.slice/docker.service", "", "", ""},
		{"podman", "", "run/.containerenv engine=\"podman\"", "", "podman"},
		{"podman by group", "0::/machine.slice/libpod-ab.scope", "", "", "podman"},
		{"kubernetes", "0::/kubepods.slice/kubepods-burstable.slice/x", ".dockerenv", "", "kubernetes"},
		{"kubernetes by environment", "0::/", "", "10.0.0.1", "kubernetes"},
		{"kubernetes by secrets", "", "run/secrets/kubernetes.io/serviceaccount/namespace x", "", "kubernetes"},
		{"lxc", "0::/lxc.payload.web/init.scope", "", "", "lxc"},
		{"lxc by systemd", "", "run/systemd/container lxc", "", "lxc"},
		{"containerd", "0::/system.slice/cri-containerd-0a.scope", "", "", "containerd"},
		{"apptainer", "", ".singularity.d/runscript", "", "apptainer"},
		{"wsl with systemd", "", "run/systemd/container wsl", "", ""},
		{"noise", noise, "", "", ""},
	} {
		t.Setenv("KUBERNETES_SERVICE_HOST", c.env)
		root := plant(t, at("", "proc/self/cgroup "+c.group, c.file))
		if have := container(tree(root)); have != c.want {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}
