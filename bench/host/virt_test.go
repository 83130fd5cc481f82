package host

import "testing"

func TestVirtualization(t *testing.T) {
	const (
		vendor  = "sys/class/dmi/id/sys_vendor"
		product = "sys/class/dmi/id/product_name"
		source  = "sys/devices/system/clocksource/clocksource0/available_clocksource"
		bare    = "processor : 0\nflags : fpu sse2\n"
		guest   = "processor : 0\nflags : fpu hypervisor sse2\n"
		arm     = "processor : 0\nFeatures : fp asimd\n"
	)
	for _, c := range []struct {
		name  string
		files files
		want  string
	}{
		{"server", files{"proc/cpuinfo": bare, vendor: "Dell Inc.\n", product: "PowerEdge R740\n"}, "none"},
		{"flag is a whole word", files{"proc/cpuinfo": "flags : hypervisor2\n", vendor: "Dell Inc.\n"}, "none"},
		{"server without DMI", files{"proc/cpuinfo": bare}, "unknown"},
		{"QEMU", files{"proc/cpuinfo": guest, vendor: "QEMU\n", product: "Standard PC (Q35 + ICH9, 2009)\n"}, "kvm"},
		{"EC2", files{"proc/cpuinfo": guest, vendor: "Amazon EC2\n", product: "p5.48xlarge\n"}, "kvm"},
		{"EC2 metal", files{"proc/cpuinfo": bare, vendor: "Amazon EC2\n", product: "g4dn.metal\n"}, "none"},
		{"EC2 on arm64", files{"proc/cpuinfo": arm, vendor: "Amazon EC2\n", product: "g5g.xlarge\n"}, "kvm"},
		{"EC2 metal on arm64", files{"proc/cpuinfo": arm, vendor: "Amazon EC2\n", product: "c8g.metal-24xl\n"}, "none"},
		{"GCE", files{"proc/cpuinfo": guest, vendor: "Google\n", product: "Google Compute Engine\n"}, "kvm"},
		{"Azure", files{"proc/cpuinfo": guest, vendor: "Microsoft Corporation\n", product: "Virtual Machine\n"}, "hyperv"},
		{"Surface with Hyper-V's flag", files{"proc/cpuinfo": guest, vendor: "Microsoft Corporation\n", product: "Surface Book\n"}, "vm-other"},
		{"VMware", files{"proc/cpuinfo": guest, vendor: "VMware, Inc.\n", product: "VMware7,1\n"}, "vmware"},
		{"Xen", files{"proc/cpuinfo": guest, "sys/hypervisor/type": "xen\n"}, "xen"},
		{"Xen's domain 0", files{"proc/cpuinfo": guest, "sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "control_d\n"}, "none"},
		{"WSL", files{"proc/cpuinfo": guest, "proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x)\n"}, "wsl2"},
		{"microVM", files{"proc/cpuinfo": guest, source: "tsc kvm-clock \n"}, "kvm"},
		{"nameless", files{"proc/cpuinfo": guest, source: "tsc\n"}, "vm-other"},
		{"kvm-clock alone proves nothing", files{"proc/cpuinfo": bare, source: "kvm-clock\n"}, "unknown"},
		{"Grace", files{"proc/cpuinfo": arm, vendor: "NVIDIA\n", product: "Grace Hopper\n"}, "none"},
		{"arm64 guest by device tree", files{"proc/cpuinfo": arm, "proc/device-tree/hypervisor/compatible": "linux,kvm\x00"}, "kvm"},
		{"board", files{"proc/cpuinfo": arm}, "unknown"},
		{"noise", files{"proc/cpuinfo": noise, vendor: "", "proc/version": noise, "sys/hypervisor/type": noise}, "unknown"},
		{"nothing", files{}, "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := virtualization(tree(plant(t, c.files))); have != c.want {
				t.Errorf("%q, want %q", have, c.want)
			}
		})
	}
}

func TestContainer(t *testing.T) {
	for _, c := range []struct {
		name  string
		files files
		env   string
		want  string
	}{
		{"none", files{"proc/self/cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n"}, "", ""},
		{"docker", files{".dockerenv": "", "proc/self/cgroup": "0::/\n"}, "", "docker"},
		{"docker by group", files{"proc/self/cgroup": "4:memory:/docker/0123abcd\n"}, "", "docker"},
		{"docker by systemd's group", files{"proc/self/cgroup": "0::/system.slice/docker-0123.scope\n"}, "", "docker"},
		{"docker's own service", files{"proc/self/cgroup": "0::/system.slice/docker.service\n"}, "", ""},
		{"podman", files{"run/.containerenv": "engine=\"podman\"", "run/systemd/container": "oci\n"}, "", "podman"},
		{"podman by group", files{"proc/self/cgroup": "0::/machine.slice/libpod-ab.scope\n"}, "", "podman"},
		{"kubernetes", files{".dockerenv": "", "proc/self/cgroup": "0::/kubepods.slice/kubepods-burstable.slice/x\n"}, "", "kubernetes"},
		{"kubernetes by environment", files{"proc/self/cgroup": "0::/\n"}, "10.0.0.1", "kubernetes"},
		{"kubernetes by secrets", files{"run/secrets/kubernetes.io/serviceaccount/namespace": "x"}, "", "kubernetes"},
		{"lxc", files{"proc/self/cgroup": "0::/lxc.payload.web/init.scope\n"}, "", "lxc"},
		{"lxc by systemd", files{"run/systemd/container": "lxc\n"}, "", "lxc"},
		{"containerd", files{"proc/self/cgroup": "0::/system.slice/cri-containerd-0a.scope\n"}, "", "containerd"},
		{"apptainer", files{".singularity.d/runscript": ""}, "", "apptainer"},
		{"wsl with systemd", files{"run/systemd/container": "wsl\n"}, "", ""},
		{"noise", files{"proc/self/cgroup": noise}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			getenv := func(key string) string {
				if key != "KUBERNETES_SERVICE_HOST" {
					t.Errorf("asked for %s", key)
				}
				return c.env
			}
			if have := container(tree(plant(t, c.files)), getenv); have != c.want {
				t.Errorf("%q, want %q", have, c.want)
			}
		})
	}
}
