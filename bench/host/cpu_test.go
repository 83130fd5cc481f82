package host

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

func TestReadCPU(t *testing.T) {
	arm := "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
	cpu0 := cpuDir + "cpu0"
	all := map[string]results.CPU{}
	for _, c := range []struct {
		name   string
		usable []int
		files  files
	}{
		{"two sockets", []int{2, 3, 6}, xeon()},
		{"cpuinfo alone", []int{5}, files{"proc/cpuinfo": cpuinfo("GenuineIntel", "Xeon", 8)}},
		{"half a CPU", []int{2}, merge(xeon(), at("proc/self", "cgroup 0::/", mountV2), at("sys/fs/cgroup",
			"cpu.max 50000 100000", "cpu.stat usage_usec 1\nnr_periods 40\nnr_throttled 7", "memory.high max"))},
		{"quota above affinity", []int{0, 1}, at("", "proc/self/cgroup 0::/", "proc/self/"+mountV2,
			"sys/fs/cgroup/cpu.max 800000 100000")},
		{"arm64", []int{0}, merge(files{"proc/cpuinfo": arm},
			at("sys/devices/system", "node/has_cpu 0", "node/possible 0-15",
				"cpu/cpu0/topology/x", "cpu/cpuidle/current_dr none"))},
		// Firmware of some arm64 machines numbers no sockets.
		{"no sockets", []int{0}, at(cpuDir, "online 0", "cpu0/topology/physical_package_id -1",
			"cpu0/topology/thread_siblings_list 0")},
		{"cache without a size", []int{0}, at(cpu0+"/cache", "index0/level 1", "index0/type Data",
			"index0/size 32K", "index1/level 1", "index1/type Instruction", "index1/size 64K",
			"index2/level 2", "index2/type Unified", "index2/size")},
		{"nothing", nil, files{}},
		{"noise", []int{0}, noisy(merge(xeon(), at("proc", "self/cgroup", "self/mountinfo"),
			at("sys/fs/cgroup", "cpu.max", "cpu.stat"), at(cpu0, "cpufreq/scaling_governor", "cpufreq/cpuinfo_max_freq",
				"cache/index0/level", "cache/index0/size", "topology/thread_siblings_list")))},
		{"negative clock", []int{0}, at(cpu0, "cpufreq/scaling_cur_freq -5")},

		{"Grace", nil, at("proc", "cpuinfo CPU implementer : 0x41\nCPU part : 0xd4f")},
		{"board", nil, at("proc", "cpuinfo CPU implementer : 0x99\nCPU part : 0x001",
			"device-tree/model NVIDIA Jetson Board\x00")},
		{"numbers", nil, at("proc", "cpuinfo CPU implementer : 0x99\nCPU part : 0x001")},
		{"no part", nil, at("proc", "cpuinfo CPU implementer : 0x41")},
	} {
		all[c.name] = readCPU(tree(plant(t, c.files)), c.usable)
	}
	checkGolden(t, "cpus.json", all)
}

// The limits are set while a clock is held, and are as before afterwards; where there
// is no cpufreq, the error says so.
func TestHoldClock(t *testing.T) {
	const dir = cpuDir + "cpu1/cpufreq"
	root := plant(t, at(dir, "scaling_min_freq 1500000", "scaling_max_freq 3900000"))
	limits := func() string {
		return tree(root).text(dir+"/scaling_min_freq") + " " + tree(root).text(dir+"/scaling_max_freq")
	}
	for hz, want := range map[float64]string{2e9: "2000000", 4.5e9: "4500000", 1e9: "1000000"} {
		restore, err := HoldClock(root, 1, hz)
		if err != nil {
			t.Fatal(err)
		}
		if have := limits(); have != want+" "+want {
			t.Errorf("%g: %s, want %s", hz, have, want)
		}
		restore()
		if have := limits(); have != "1500000 3900000" {
			t.Errorf("%g: restored to %s", hz, have)
		}
	}
	if _, err := HoldClock(t.TempDir(), 0, 2e9); err == nil || !strings.Contains(err.Error(), "takes root, and cpufreq") {
		t.Errorf("without cpufreq: %v", err)
	}
	if os.Getuid() == 0 {
		return // who may write everything
	}
	for _, name := range []string{"scaling_min_freq", "scaling_max_freq"} {
		if err := os.Chmod(filepath.Join(root, dir, name), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := HoldClock(root, 1, 2e9); err == nil || !strings.Contains(err.Error(), "takes root, and cpufreq") {
		t.Errorf("without permission: %v", err)
	}
}

func TestNodes(t *testing.T) {
	root := plant(t, xeon())
	for node, want := range map[int][]int{0: {0, 1, 4, 5}, 1: {2, 3, 6}, 2: nil, 3: nil, -1: nil} {
		if have := NodeCPUs(root, node); !reflect.DeepEqual(have, want) {
			t.Errorf("node %d: %v, want %v", node, have, want)
		}
	}
	for _, c := range []struct {
		online, distance string
		want             map[int]int
	}{
		{"0-1", "10 21", map[int]int{0: 10, 1: 21}},
		{"0,2", "21 10", map[int]int{0: 21, 2: 10}}, // one was taken out
		{"0-1", "10", nil},
		{"", "", nil},
	} {
		root := plant(t, at("sys/devices/system/node", "online "+c.online, "node0/distance "+c.distance))
		if have := NodeDistances(root, 0); !maps.Equal(have, c.want) {
			t.Errorf("%q %q: %v, want %v", c.online, c.distance, have, c.want)
		}
	}
}

func TestParseList(t *testing.T) {
	for s, want := range map[string][]int{
		"0-3,8\n": {0, 1, 2, 3, 8}, "5": {5}, "8,1,1-2": {1, 2, 8},
		"": nil, "a": nil, "3-1": nil, "-1": nil, "1,,2": nil, "0-4294967295": nil, "0 1": nil,
	} {
		if have := parseList(s); !reflect.DeepEqual(have, want) {
			t.Errorf("%q: %v, want %v", s, have, want)
		}
	}
}

func FuzzParseList(f *testing.F) {
	for _, s := range []string{"0-3,8", "", "0-", "4294967295", "0-65535,0-65535"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := parseList(s)
		rising := slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list)
		if !rising || len(list) > 0 && (list[0] < 0 || list[len(list)-1] > maxCPU) {
			t.Errorf("%q: %v", s, list)
		}
	})
}

// cores gives each CPU the list of those on its core.
func cores(lists ...string) (f files) {
	for _, list := range lists {
		for _, cpu := range parseList(list) {
			f = merge(f, at(cpuDir, fmt.Sprintf("cpu%d/topology/core_cpus_list %s", cpu, list)))
		}
	}
	return f
}

// each gives CPUs from 0 a file with these contents.
func each(name string, contents ...string) (f files) {
	for cpu, s := range contents {
		f = merge(f, at(cpuDir, fmt.Sprintf("cpu%d/%s %s", cpu, name, s)))
	}
	return f
}

// order writes slots: "0 1 2s 3.1s", s a sibling and .1 a class that is not 0.
func order(slots []CPUSlot) string {
	var all []string
	for _, s := range slots {
		text := fmt.Sprint(s.CPU)
		if s.Class > 0 {
			text += fmt.Sprintf(".%d", s.Class)
		}
		if s.Sibling {
			text += "s"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func TestCPUOrder(t *testing.T) {
	alder := merge(cores("0-1", "2-3", "4", "5", "6", "7"), // two cores with SMT, four without
		each("cpufreq/cpuinfo_max_freq", "5000000", "5000000", "5200000", "5200000", // two preferred
			"3900000", "3900000", "3900000", "3900000"))
	two := at("sys/devices/system/node", "has_cpu 0-1", "node0/cpulist 0,2,4,6", "node1/cpulist 1,3,5,7")
	smt, single := cores("0,4", "1,5", "2,6", "3,7"), cores("0", "1", "2", "3")
	eight := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for _, c := range []struct {
		name  string
		cpus  []int
		want  string
		files files
	}{
		{"nothing known", []int{3, 1, 2}, "3 1 2", files{}},
		{"no CPU", nil, "", smt},
		{"no SMT", []int{2, 0, 1}, "2 0 1", single},
		{"siblings far", eight, "0 1 2 3 4s 5s 6s 7s", smt},
		{"siblings near, older kernel", eight[:4], "0 2 1s 3s",
			each("topology/thread_siblings_list", "0-1", "0-1", "2-3", "2-3")},
		{"narrow affinity", []int{4, 5, 1, 7}, "4 5 7 1s", smt},
		{"two nodes", eight, "0 2 1 3 4s 6s 5s 7s", merge(smt, two)},
		{"two nodes of xeon", []int{6, 5, 4, 3, 2, 1, 0}, "5 4 6 3 1s 0s 2s", xeon()},
		{"Intel hybrid", eight, "0 2 4.1 5.1 6.1 7.1 1s 3s", alder},
		{"its slow cores alone", []int{6, 5}, "6 5", alder},
		{"three kinds", eight[:3], "2 1.1 0.2",
			merge(single, each("acpi_cppc/highest_perf", "25", "41", "65"))},
		{"arm", eight[:4], "2 3 0.1 1.1", merge(single, each("cpu_capacity", "446", "446", "1024", "981"))},
		{"capacity beats clocks", eight[:2], "0 1",
			merge(each("cpu_capacity", "1024", "1024"), each("cpufreq/cpuinfo_max_freq", "1000", "3000"))},
		{"SMT of both classes", eight[:4], "2 0.1 3s 1.1s",
			merge(cores("0-1", "2-3"), each("acpi_cppc/highest_perf", "120", "120", "196", "196"))},
		{"preferred cores of one kind", eight[:7], "0 1 2 3 4 5 6",
			each("acpi_cppc/highest_perf", "166", "176", "186", "196", "206", "216", "231")},
		{"performance says nothing, clocks do", eight[:2], "1 0.1",
			merge(each("acpi_cppc/highest_perf", "255", "255"),
				each("cpufreq/cpuinfo_max_freq", "2000000", "3000000"))},
		{"clocks within 10 %", eight[:2], "0 1", each("cpufreq/cpuinfo_max_freq", "5400000", "5700000")},
		{"clock of one unknown", eight[:3], "0 1 2", each("cpufreq/cpuinfo_max_freq", "2000000", "3000000", noise)},
		{"noise", []int{1, 0}, "1 0", merge(single, each("topology/core_cpus_list", noise, "7"),
			noisy(at("sys/devices", "system/node/has_cpu")))},
	} {
		given := slices.Clone(c.cpus)
		if have := order(CPUOrder(plant(t, c.files), c.cpus)); have != c.want {
			t.Errorf("%s: %s, want %s", c.name, have, c.want)
		}
		if !slices.Equal(given, c.cpus) {
			t.Errorf("%s: the CPUs given were changed", c.name)
		}
	}
}
