package host

import (
	"fmt"
	"reflect"
	"testing"

	"dlbench/results"
)

// xeon has two sockets of two cores with SMT; CPU 7 is offline.
func xeon() files {
	f := files{
		"sys/devices/system/cpu/online":                             "0-6\n",
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor":      "powersave\n",
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq":      "3100000\n",
		"sys/devices/system/cpu/cpu2/cpufreq/cpuinfo_max_freq":      "3900000\n",
		"sys/devices/system/node/has_cpu":                           "0-1\n",
		"sys/devices/system/node/node0/cpulist":                     "0-1,4-5\n",
		"sys/devices/system/node/node1/cpulist":                     "2-3,6\n",
		"sys/devices/system/node/node2/cpulist":                     "\n",
		"sys/devices/system/cpu/cpu2/cache/index0/level":            "1\n",
		"sys/devices/system/cpu/cpu2/cache/index0/type":             "Data\n",
		"sys/devices/system/cpu/cpu2/cache/index0/size":             "32K\n",
		"sys/devices/system/cpu/cpu2/cache/index1/level":            "1\n",
		"sys/devices/system/cpu/cpu2/cache/index1/type":             "Instruction\n",
		"sys/devices/system/cpu/cpu2/cache/index1/size":             "64K\n",
		"sys/devices/system/cpu/cpu2/cache/index3/level":            "3\n",
		"sys/devices/system/cpu/cpu2/cache/index3/type":             "Unified\n",
		"sys/devices/system/cpu/cpu2/cache/index3/size":             "22528K\n",
		"sys/devices/system/cpu/cpu2/cache/index2/level":            "2\n",
		"sys/devices/system/cpu/cpu2/cache/index2/type":             "Unified\n",
		"sys/devices/system/cpu/cpu2/cache/index2/size":             "1024K\n",
		"sys/devices/system/cpu/cpufreq/policy0/scaling_governor":   "powersave\n",
		"sys/devices/system/cpu/cpu7/online":                        "0\n",
		"sys/devices/system/cpu/cpu0/topology/physical_package_id":  "0\n",
		"sys/devices/system/cpu/cpu99x/topology/thread_siblings":    "garbage\n",
		"sys/devices/system/cpu/cpu7/topology/thread_siblings_list": "7\n",
		"proc/cpuinfo": cpuinfo("GenuineIntel", "Intel(R) Xeon(R) Silver 4214", 7),
	}
	for cpu := range 7 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
		siblings := fmt.Sprintf("%d,%d\n", cpu%4, cpu%4+4)
		if cpu%4 == 3 {
			siblings = "3\n"
		}
		f[dir+"physical_package_id"] = fmt.Sprintf("%d\n", cpu%4/2)
		f[dir+"core_id"] = fmt.Sprintf("%d\n", cpu%2) // the same in both sockets
		f[dir+"core_cpus_list"] = siblings
	}
	return f
}

// cpuinfo is that of n CPUs on two sockets with SMT.
func cpuinfo(vendor, name string, n int) (s string) {
	for cpu := range n {
		s += fmt.Sprintf("processor\t: %d\nvendor_id\t: %s\nmodel name\t: %s\ncpu MHz\t\t: %d.500\ncache size\t: 16384 KB\n"+
			"physical id\t: %d\ncore id\t\t: %d\nflags\t\t: fpu vme sse2\n\n", cpu, vendor, name, 2200+cpu, cpu%4/2, cpu%2)
	}
	return s
}

func TestReadCPU(t *testing.T) {
	arm := "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
	for _, c := range []struct {
		name   string
		files  files
		usable []int
		want   results.CPU
	}{
		{"two sockets", xeon(), []int{2, 3, 6}, results.CPU{
			Model: "Intel(R) Xeon(R) Silver 4214", Sockets: 2, Cores: 4, Threads: 7, SMT: true, NUMANodes: 2,
			Affinity: 3, Usable: 3, Governor: "powersave", Hz: 3.1e9, MaxHz: 3.9e9, LastCache: 22 << 20,
		}},
		{"cpuinfo alone", files{"proc/cpuinfo": cpuinfo("GenuineIntel", "Xeon", 8)}, []int{5}, results.CPU{
			Model: "Xeon", Sockets: 2, Cores: 4, Threads: 8, SMT: true,
			Affinity: 1, Usable: 1, Governor: "unknown", Hz: 2205.5e6, LastCache: 16 << 20,
		}},
		{"AMD's cache size is not the last level", files{"proc/cpuinfo": cpuinfo("AuthenticAMD", "EPYC", 2)}, []int{0}, results.CPU{
			Model: "EPYC", Sockets: 1, Cores: 2, Threads: 2,
			Affinity: 1, Usable: 1, Governor: "unknown", Hz: 2200.5e6,
		}},
		{"half a CPU", merge(xeon(), files{
			"proc/self/cgroup":          "0::/\n",
			"sys/fs/cgroup/cpu.max":     "50000 100000\n",
			"sys/fs/cgroup/cpu.stat":    "usage_usec 1\nnr_periods 40\nnr_throttled 7\n",
			"sys/fs/cgroup/memory.high": "max\n",
		}), []int{2}, results.CPU{
			Model: "Intel(R) Xeon(R) Silver 4214", Sockets: 2, Cores: 4, Threads: 7, SMT: true, NUMANodes: 2,
			Affinity: 1, Quota: ptr(0.5), Usable: 0.5, NrThrottled: 7,
			Governor: "powersave", Hz: 3.1e9, MaxHz: 3.9e9, LastCache: 22 << 20,
		}},
		{"quota above affinity", merge(files{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "800000 100000"}), []int{0, 1}, results.CPU{
			Model: "unknown", Affinity: 2, Quota: ptr(8.0), Usable: 2, Governor: "unknown",
		}},
		{"arm64", files{
			"proc/cpuinfo":                              arm,
			"sys/devices/system/cpu/cpu0/topology/x":    "",
			"sys/devices/system/node/has_cpu":           "0\n",
			"sys/devices/system/node/possible":          "0-15\n",
			"sys/devices/system/cpu/cpuidle/current_dr": "none",
		}, []int{0}, results.CPU{
			Model: "ARM Neoverse-N1", Threads: 1, NUMANodes: 1, Affinity: 1, Usable: 1, Governor: "unknown",
		}},
		{"nothing", files{}, nil, results.CPU{Model: "unknown", Governor: "unknown"}},
		{"noise", files{
			"proc/cpuinfo": noise, "proc/self/cgroup": noise, "proc/self/mountinfo": noise,
			"sys/fs/cgroup/cpu.max": noise, "sys/fs/cgroup/cpu.stat": noise,
			"sys/devices/system/cpu/online":                             noise,
			"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":      noise,
			"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":      "-5",
			"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq":      noise,
			"sys/devices/system/cpu/cpu0/cache/index0/level":            noise,
			"sys/devices/system/cpu/cpu0/cache/index0/size":             noise,
			"sys/devices/system/cpu/cpu0/topology/core_cpus_list":       noise,
			"sys/devices/system/node/has_cpu":                           noise,
			"sys/devices/system/cpu/cpu0/topology/physical_package_id":  noise,
			"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": noise,
		}, []int{0}, results.CPU{Model: "unknown", Affinity: 1, Usable: 1, Governor: "unknown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			have := readCPU(tree(plant(t, c.files)), c.usable)
			if !reflect.DeepEqual(have, c.want) {
				t.Errorf("have %+v\nwant %+v", have, c.want)
				if have.Quota != nil {
					t.Errorf("quota %v", *have.Quota)
				}
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestClock(t *testing.T) {
	root := plant(t, xeon())
	for _, c := range []struct {
		cpu      int
		hz       float64
		governor string
	}{{2, 3.1e9, "powersave"}, {3, 2203.5e6, "unknown"}, {55, 0, "unknown"}, {-1, 0, "unknown"}} {
		if hz, governor := Clock(root, c.cpu); hz != c.hz || governor != c.governor {
			t.Errorf("CPU %d: %v %q, want %v %q", c.cpu, hz, governor, c.hz, c.governor)
		}
	}
}

func TestModel(t *testing.T) {
	for _, c := range []struct {
		name        string
		info, board string
		want        string
	}{
		{"Grace", "CPU implementer : 0x41\nCPU part : 0xd4f\n", "", "ARM Neoverse-V2"},
		{"board", "CPU implementer : 0x99\nCPU part : 0x001\n", "NVIDIA Jetson Board\x00", "NVIDIA Jetson Board"},
		{"numbers", "CPU implementer : 0x99\nCPU part : 0x001\n", "", "implementer 0x99 part 0x001"},
		{"no part", "CPU implementer : 0x41\n", "", "unknown"},
	} {
		root := plant(t, files{"proc/cpuinfo": c.info, "proc/device-tree/model": c.board})
		if have := parseCPUInfo(tree(root).text("proc/cpuinfo")).model(tree(root)); have != c.want {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}

func TestNodeCPUs(t *testing.T) {
	root := plant(t, xeon())
	for node, want := range map[int][]int{0: {0, 1, 4, 5}, 1: {2, 3, 6}, 2: nil, 3: nil, -1: nil} {
		if have := NodeCPUs(root, node); !reflect.DeepEqual(have, want) {
			t.Errorf("node %d: %v, want %v", node, have, want)
		}
	}
}

func TestParseList(t *testing.T) {
	for s, want := range map[string][]int{
		"0-3,8\n": {0, 1, 2, 3, 8}, "5": {5}, "8,1,1-2": {1, 2, 8},
		"": nil, "a": nil, "3-1": nil, "1-": nil, "-1": nil, "1,,2": nil, "0-4294967295": nil, "0 1": nil,
	} {
		if have := parseList(s); !reflect.DeepEqual(have, want) {
			t.Errorf("%q: %v, want %v", s, have, want)
		}
	}
}

func TestLastCache(t *testing.T) {
	const dir = "sys/devices/system/cpu/cpu0/cache/"
	root := plant(t, files{
		dir + "index0/level": "1", dir + "index0/type": "Instruction", dir + "index0/size": "64K",
		dir + "index1/level": "1", dir + "index1/type": "Data", dir + "index1/size": "32K",
		dir + "index2/level": "2", dir + "index2/type": "Unified", dir + "index2/size": "",
	})
	if have := lastCache(tree(root), nil, 0); have != 32<<10 {
		t.Errorf("%d B, want 32 KiB", have)
	}
}

// Firmware of some arm64 machines numbers no sockets.
func TestTopologyWithoutSockets(t *testing.T) {
	const dir = "sys/devices/system/cpu/cpu0/topology/"
	root := plant(t, files{dir + "physical_package_id": "-1\n", dir + "thread_siblings_list": "0\n"})
	if sockets, cores := topology(tree(root), nil, []int{0}); sockets != 0 || cores != 1 {
		t.Errorf("%d sockets, %d cores, want 0 and 1", sockets, cores)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"32K": 32 << 10, "1024 KB": 1 << 20, "": 0, "K": 0, "-1K": 0, "12": 0, "9G": 0, "99999999999K": 0,
	} {
		if have := parseSize(s); have != want {
			t.Errorf("%q: %d, want %d", s, have, want)
		}
	}
}
