package host

import (
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
	root := plant(t, xeon(), onMetal, pci(port("0000:64:01.0", gen4x16+", "+gen4x16), gpu(card, gen4x16+", "+gen4x16)), files{
		"proc/meminfo":              meminfo,
		"proc/sys/kernel/osrelease": "6.1.0-13-amd64\n",
		"etc/os-release":            "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"etc/hostname":              "secret\n",
	})
	h := Read(root)
	if h.Kernel != "6.1.0-13-amd64" || h.Distribution != "Debian GNU/Linux 12 (bookworm)" || h.Virtualization != "none" ||
		h.Memory.Total != 16000000<<10 || len(h.GPUs) != 1 || h.GPUs[0].Link.Width != 16 {
		t.Errorf("%+v", h)
	}
	notes := strings.Join(h.Notes, "\n")
	for _, want := range []string{"control groups", "NUMA node of GPU " + card} {
		if runtime.GOOS == "linux" && !strings.Contains(notes, want) {
			t.Errorf("notes %q lack %q", h.Notes, want)
		}
	}
}

// Every file that is read, full of noise: nothing is known, nothing breaks.
func TestReadNoise(t *testing.T) {
	f := files{}
	for name := range merge(xeon(), pci(port("0000:64:01.0", gen4x16+", "+gen4x16), gpu(card, gen4x16+", "+gen4x16))) {
		f[name] = noise
	}
	for _, name := range []string{"proc/meminfo", "proc/version", "proc/self/cgroup", "proc/self/mountinfo", "etc/os-release", "sys/class/dmi/id/sys_vendor"} {
		f[name] = noise
	}
	h := Read(plant(t, f))
	if h.CPU.Cores != 0 || h.CPU.Quota != nil || h.Memory.Total != 0 || h.GPUs != nil || h.Distribution != "" {
		t.Errorf("%+v", h)
	}
}

func TestDistribution(t *testing.T) {
	for _, c := range []struct {
		files files
		want  string
	}{
		{files{"etc/os-release": "PRETTY_NAME='Alpine Linux v3.20'\n"}, "Alpine Linux v3.20"},
		{files{"usr/lib/os-release": "PRETTY_NAME=Arch\n", "etc/os-release": "-> /usr/lib/nowhere"}, "Arch"},
		{files{"etc/os-release": "NAME=x\n"}, ""},
		{files{}, ""},
	} {
		if have := distribution(tree(plant(t, c.files))); have != c.want {
			t.Errorf("%v: %q, want %q", c.files, have, c.want)
		}
	}
}
