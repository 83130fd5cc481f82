package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"dlbench/results/golden"
)

// checkGolden compares what cases give, by their names, with a file of testdata.
func checkGolden(t *testing.T, file string, have any) {
	t.Helper()
	b, err := json.MarshalIndent(have, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", file), append(b, '\n'))
}

// files are a tree of fixtures: path to content. "-> target" makes a symlink.
type files map[string]string

// plant writes files below a new root.
func plant(t testing.TB, trees ...files) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the paths of /sys have colons")
	}
	root := t.TempDir()
	write(t, root, merge(trees...))
	return root
}

func write(t testing.TB, root string, f files) {
	t.Helper()
	for name, content := range f {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(strings.TrimSpace(target), path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// merge copies trees into one, later ones over earlier ones.
func merge(trees ...files) files {
	all := files{}
	for _, tree := range trees {
		maps.Copy(all, tree)
	}
	return all
}

// at makes files below a folder, of lines such as "name content"; "" makes none.
func at(dir string, lines ...string) files {
	f := files{}
	for _, line := range lines {
		if name, content, _ := strings.Cut(line, " "); name != "" {
			f[path.Join(dir, name)] = content + "\n"
		}
	}
	return f
}

// noisy has the same files, links apart, full of noise.
func noisy(f files) files {
	f = maps.Clone(f)
	for name, content := range f {
		if !strings.HasPrefix(content, "-> ") {
			f[name] = noise
		}
	}
	return f
}

const noise = "\x00\xff\x7fELF -1: garbage, - [\n\n:::\n- - - - - - - cgroup\n99999999999999999999999\n"

const cpuDir = "sys/devices/system/cpu/"

// xeon has two sockets of two cores with SMT; CPU 7 is offline.
func xeon() files {
	f := merge(
		at(cpuDir, "online 0-6", "cpu7/online 0", "cpu7/topology/thread_siblings_list 7"),
		at(cpuDir+"cpu2/cpufreq", "scaling_governor powersave", "scaling_cur_freq 3100000", "cpuinfo_max_freq 3900000"),
		at(cpuDir+"cpu2/cache", "index0/level 1", "index0/type Data", "index0/size 32K",
			"index1/level 1", "index1/type Instruction", "index1/size 64K", "index3/level 3", "index3/type Unified",
			"index3/size 22528K", "index2/level 2", "index2/type Unified", "index2/size 1024K"),
		at("sys/devices/system/node", "has_cpu 0-1", "node0/cpulist 0-1,4-5", "node1/cpulist 2-3,6", "node2/cpulist"),
		files{"proc/cpuinfo": cpuinfo("GenuineIntel", "Intel(R) Xeon(R) Silver 4214", 7)})
	for cpu := range 7 {
		siblings := fmt.Sprintf("core_cpus_list %d,%d", cpu%4, cpu%4+4)
		if cpu%4 == 3 {
			siblings = "core_cpus_list 3"
		}
		f = merge(f, at(fmt.Sprintf(cpuDir+"cpu%d/topology", cpu), siblings,
			fmt.Sprint("physical_package_id ", cpu%4/2),
			fmt.Sprint("core_id ", cpu%2))) // the same in both sockets
	}
	return f
}

// cpuinfo is that of n CPUs on two sockets with SMT.
func cpuinfo(vendor, name string, n int) (s string) {
	for cpu := range n {
		s += fmt.Sprintf("processor\t: %d\nvendor_id\t: %s\nmodel name\t: %s\ncpu MHz\t\t: %d.500\n"+
			"cache size\t: 16384 KB\nphysical id\t: %d\ncore id\t\t: %d\nflags\t\t: fpu vme sse2\n\n",
			cpu, vendor, name, 2200+cpu, cpu%4/2, cpu%2)
	}
	return s
}

// dev is a PCI device of a fixture. link is "current speed xwidth, max speed
// xwidth", or "" for a device without link registers.
type dev struct {
	addr, class, id, link string
	more                  files // further files of its folder
}

// pci makes the files of one path: devices from the root port down to the
// device, below a host bridge, and their links in /sys/bus.
func pci(path ...dev) files {
	f, dir := files{}, "devices/pci"+path[0].addr[:7]
	for _, d := range path {
		dir += "/" + d.addr
		vendor, device, _ := strings.Cut(d.id, ":")
		f = merge(f, files{sysPCI + "/" + d.addr: "-> ../../../" + dir},
			at("sys/"+dir, "vendor 0x"+vendor, "device 0x"+device, "class 0x"+d.class))
		if d.link != "" {
			now, most, _ := strings.Cut(d.link, ", ")
			for name, s := range map[string]string{"current": now, "max": most} {
				speed, width, _ := strings.Cut(s, " x")
				f = merge(f, at("sys/"+dir, name+"_link_speed "+speed, name+"_link_width "+width))
			}
		}
		for name, s := range d.more {
			f["sys/"+dir+"/"+name] = s
		}
	}
	return f
}

// Links of devices, now and at most.
const (
	gen4x4  = "16.0 GT/s PCIe x4, 16.0 GT/s PCIe x4"
	gen4x16 = "16.0 GT/s PCIe x16, 16.0 GT/s PCIe x16"
	gen3x4  = "8.0 GT/s PCIe x4, 8.0 GT/s PCIe x4"
	gen3x16 = "8.0 GT/s PCIe x16, 8.0 GT/s PCIe x16"
	gen5x16 = "32.0 GT/s PCIe x16, 32.0 GT/s PCIe x16"
	gen1x1  = "2.5 GT/s PCIe x1, 2.5 GT/s PCIe x1"
	x8of16  = "16.0 GT/s PCIe x8, 16.0 GT/s PCIe x16"
	x4of16  = "8.0 GT/s PCIe x4, 16.0 GT/s PCIe x16" // a Gen3 x4 slot
	idle    = "2.5 GT/s PCIe x16, 16.0 GT/s PCIe x16"
	none    = "Unknown x0, Unknown x255"
)

func port(addr, link string) dev         { return dev{addr, "060400", "8086:347a", link, nil} }
func gpu(addr, link string) dev          { return dev{addr, "030200", "10de:20b5", link, nil} }
func emulatedPort(addr, link string) dev { return dev{addr, "060400", "1b36:000c", link, nil} }

var (
	onMetal = files{"proc/cpuinfo": "flags : fpu\n", "sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}
	inVM    = files{"proc/cpuinfo": "flags : fpu hypervisor\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"}
)

const card = "0000:65:00.0"

// block makes the files of a block device: its folder below /sys/devices, whose
// last part is the name, and the links to it.
func block(dir, number string, more ...string) files {
	name := path.Base(dir)
	f := at("sys/devices/"+dir, "size 1000000", "queue/read_ahead_kb 128", "queue/logical_block_size 512",
		"queue/physical_block_size 4096", "queue/scheduler none [mq-deadline] kyber", "queue/rotational 0")
	return merge(f, at("sys/devices/"+dir, more...), files{
		"sys/block/" + name:       "-> ../devices/" + dir,
		"sys/class/block/" + name: "-> ../../devices/" + dir,
		"sys/dev/block/" + number: "-> ../../devices/" + dir,
	})
}

func part(dir, number, name string) files {
	return merge(at("sys/devices/"+dir+"/"+name, "partition 2", "size 500"), files{
		"sys/class/block/" + name: "-> ../../devices/" + dir + "/" + name,
		"sys/dev/block/" + number: "-> ../../devices/" + dir + "/" + name,
	})
}

const (
	ssd    = "0000:01:00.0"
	ata    = "pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda"
	sas    = "pci0000:00/0000:00:03.0/0000:02:00.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0/block/sdb"
	nvme   = "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1"
	onNVMe = "30 1 259:2 / / rw,noatime - ext4 /dev/nvme0n1p2 rw\n"
)

// nvmeDisk is a disk in a slot of the given link, with a partition.
func nvmeDisk(slot string) files {
	d := dev{ssd, "010802", "144d:a80a", slot, nil}
	return merge(onMetal, pci(port("0000:00:01.0", slot), d), part(nvme, "259:2", "nvme0n1p2"),
		block(nvme, "259:0", "queue/scheduler [none] mq-deadline", "device -> ../../nvme0"),
		at("sys/devices/"+path.Dir(nvme), "model Samsung SSD 980 PRO 1TB                 ", "transport pcie",
			"address "+ssd, "serial SECRET"))
}

func sata(speed string, more ...string) files {
	more = append([]string{"device/model WDC WD40EFRX-68N", "device/vendor ATA     "}, more...)
	return merge(onMetal, block(ata, "8:0", more...), at("sys/class/ata_link/link3", "sata_spd "+speed))
}
