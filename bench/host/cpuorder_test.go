package host

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// cores gives each CPU a file with the content of its core's number.
func cores(lists ...string) files {
	f := files{}
	for _, list := range lists {
		for _, cpu := range parseList(list) {
			f[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu)] = list + "\n"
		}
	}
	return f
}

// each gives CPUs from 0 a file with these contents.
func each(name string, contents ...string) files {
	f := files{}
	for cpu, s := range contents {
		f[fmt.Sprintf("sys/devices/system/cpu/cpu%d/%s", cpu, name)] = s + "\n"
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
	alder := cores("0-1", "2-3", "4", "5", "6", "7") // two cores with SMT, four without
	intel := files{"sys/devices/cpu_core/cpus": "0-3\n", "sys/devices/cpu_atom/cpus": "4-7\n"}
	two := files{"sys/devices/system/node/has_cpu": "0-1\n", "sys/devices/system/node/node0/cpulist": "0,2,4,6\n",
		"sys/devices/system/node/node1/cpulist": "1,3,5,7\n"}
	smt := cores("0,4", "1,5", "2,6", "3,7")
	older := files{}
	for cpu := range 4 {
		older[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)] = fmt.Sprintf("%d-%d", cpu/2*2, cpu/2*2+1)
	}
	for _, c := range []struct {
		name  string
		files files
		cpus  []int
		want  string
	}{
		{"nothing known", files{}, []int{3, 1, 2}, "3 1 2"},
		{"no CPU", smt, nil, ""},
		{"no SMT", cores("0", "1", "2"), []int{2, 0, 1}, "2 0 1"},
		{"siblings far", smt, []int{0, 1, 2, 3, 4, 5, 6, 7}, "0 1 2 3 4s 5s 6s 7s"},
		{"siblings near, older kernel", older, []int{0, 1, 2, 3}, "0 2 1s 3s"},
		{"narrow affinity", smt, []int{4, 5, 1, 7}, "4 5 7 1s"},
		{"two nodes", merge(smt, two), []int{0, 1, 2, 3, 4, 5, 6, 7}, "0 2 1 3 4s 6s 5s 7s"},
		{"two sockets", merge(cores("0", "1", "2", "3"), each("topology/physical_package_id", "0", "1", "0", "1")), []int{0, 1, 2, 3}, "0 2 1 3"},
		{"socket of some unknown", merge(cores("0", "1", "2"), each("topology/physical_package_id", "0", "1", "-1")), []int{1, 0, 2}, "1 0 2"},
		{"nodes of some unknown", merge(cores("0", "1", "8"), two), []int{1, 0, 8}, "1 0 8"},
		{"Intel hybrid", merge(alder, intel), []int{0, 1, 2, 3, 4, 5, 6, 7}, "0 2 4.1 5.1 6.1 7.1 1s 3s"},
		{"its slow cores alone", merge(alder, intel), []int{6, 5}, "6 5"},
		{"three kinds", merge(cores("0", "1", "2"), files{"sys/devices/cpu_core/cpus": "2", "sys/devices/cpu_atom/cpus": "1", "sys/devices/cpu_lowpower/cpus": "0"}),
			[]int{0, 1, 2}, "2 1.1 0.2"},
		{"arm", merge(cores("0", "1", "2", "3"), each("cpu_capacity", "446", "446", "1024", "981")), []int{0, 1, 2, 3}, "2 3 0.1 1.1"},
		{"capacity beats clocks", merge(each("cpu_capacity", "1024", "1024"), each("cpufreq/cpuinfo_max_freq", "1000", "3000")), []int{0, 1}, "0 1"},
		{"SMT of both classes", merge(cores("0-1", "2-3"), each("acpi_cppc/highest_perf", "120", "120", "196", "196")), []int{0, 1, 2, 3}, "2 0.1 3s 1.1s"},
		{"preferred cores of one kind", each("acpi_cppc/highest_perf", "166", "176", "186", "196", "206", "216", "231"), []int{0, 1, 2, 3, 4, 5, 6}, "0 1 2 3 4 5 6"},
		{"performance says nothing, clocks do", merge(each("acpi_cppc/highest_perf", "255", "255"), each("cpufreq/cpuinfo_max_freq", "2000000", "3000000")), []int{0, 1}, "1 0.1"},
		{"clocks within 10 %", each("cpufreq/cpuinfo_max_freq", "5400000", "5700000"), []int{0, 1}, "0 1"},
		{"clock of one unknown", each("cpufreq/cpuinfo_max_freq", "2000000", "3000000", noise), []int{0, 1, 2}, "0 1 2"},
		{"noise", merge(cores("0", "1"), each("topology/core_cpus_list", noise, "7"), files{"sys/devices/cpu_core/cpus": noise, "sys/devices/system/node/has_cpu": noise}),
			[]int{1, 0}, "1 0"},
	} {
		given := append([]int(nil), c.cpus...)
		if have := order(CPUOrder(plant(t, c.files), c.cpus)); have != c.want {
			t.Errorf("%s: %s, want %s", c.name, have, c.want)
		}
		if !reflect.DeepEqual(given, append([]int(nil), c.cpus...)) {
			t.Errorf("%s: the CPUs given were changed", c.name)
		}
	}
}

// Threads on one socket of xeon: node 0 first, its siblings last.
func TestCPUOrderOfXeon(t *testing.T) {
	if have, want := order(CPUOrder(plant(t, xeon()), []int{6, 5, 4, 3, 2, 1, 0})), "5 4 6 3 1s 0s 2s"; have != want {
		t.Errorf("%s, want %s", have, want)
	}
}
