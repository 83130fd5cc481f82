package host

import (
	"math"
	"strconv"
	"strings"

	"dlbench/results"
)

const sysCPU = "sys/devices/system/cpu/"

// readCPU describes the processors. usable are the CPUs that the scheduler may
// use for this process.
func readCPU(t tree, usable []int) results.CPU {
	info := readCPUInfo(t)
	c := results.CPU{Model: model(t, info), Affinity: len(usable), Quota: quota(t), NrThrottled: throttled(t)}

	online := onlineCPUs(t)
	if online == nil {
		online = info.processors()
	}
	c.Threads = len(online)
	c.Sockets, c.Cores = topology(t, online)
	if c.Cores == 0 {
		c.Sockets, c.Cores = info.topology()
	}
	c.SMT = c.Cores > 0 && c.Threads > c.Cores
	c.NUMANodes = numaNodes(t)

	first := 0
	if len(usable) > 0 {
		first = usable[0]
	}
	c.Hz, c.Governor = clock(t, info, first)
	c.MaxHz = kilohertz(t, first, "cpuinfo_max_freq")
	c.LastCache = lastCache(t, info, first)

	c.Usable = float64(c.Affinity)
	if c.Quota != nil {
		c.Usable = min(c.Usable, *c.Quota)
	}
	return c
}

// Clock returns the clock of a CPU now in cycles/s (scaling_cur_freq, or "cpu
// MHz" of /proc/cpuinfo where the kernel has no cpufreq, as in most virtual
// machines), 0 if neither says, and its governor, else "unknown".
func Clock(root string, cpu int) (hz float64, governor string) {
	t := tree(root)
	return clock(t, nil, cpu)
}

// clock is Clock; a nil info is read when it is needed.
func clock(t tree, info cpuInfo, cpu int) (hz float64, governor string) {
	governor = t.text(sysCPU + "cpu" + strconv.Itoa(cpu) + "/cpufreq/scaling_governor")
	if governor == "" || strings.ContainsAny(governor, " \n\x00") {
		governor = "unknown"
	}
	if hz = kilohertz(t, cpu, "scaling_cur_freq"); hz > 0 {
		return hz, governor
	}
	if info == nil {
		info = readCPUInfo(t)
	}
	for _, block := range info {
		if block["processor"] == strconv.Itoa(cpu) {
			mhz, err := strconv.ParseFloat(block["cpu MHz"], 64)
			if err == nil && mhz > 0 && !math.IsInf(mhz, 0) {
				hz = mhz * 1e6
			}
		}
	}
	return hz, governor
}

// kilohertz reads a file of cpufreq, in cycles/s.
func kilohertz(t tree, cpu int, name string) float64 {
	khz, _ := t.number(sysCPU + "cpu" + strconv.Itoa(cpu) + "/cpufreq/" + name)
	return float64(max(khz, 0)) * 1e3
}

// onlineCPUs lists the CPUs that run, nil if sysfs does not say.
func onlineCPUs(t tree) []int {
	if list := parseList(t.text(sysCPU + "online")); list != nil {
		return list
	}
	var list []int
	for _, name := range t.names(sysCPU) {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "cpu"))
		if err == nil && strings.HasPrefix(name, "cpu") && t.text(sysCPU+name+"/online") != "0" {
			list = append(list, n)
		}
	}
	return list
}

// topology counts the sockets and physical cores of the CPUs given, 0 if sysfs
// does not say for each. SMT siblings share one list of siblings; the numbers of
// cores alone will not do, they repeat in every socket and die.
func topology(t tree, cpus []int) (sockets, cores int) {
	packages, siblings := map[string]bool{}, map[string]bool{}
	for _, cpu := range cpus {
		dir := sysCPU + "cpu" + strconv.Itoa(cpu) + "/topology/"
		list := t.text(dir + "core_cpus_list")
		if list == "" {
			list = t.text(dir + "thread_siblings_list") // before Linux 5.3
		}
		if parseList(list) == nil {
			return 0, 0
		}
		siblings[list] = true
		if p, ok := t.number(dir + "physical_package_id"); ok && p >= 0 {
			packages[strconv.FormatInt(p, 10)] = true
		}
	}
	return len(packages), len(siblings)
}

// numaNodes counts the nodes that have CPUs. Memory alone makes no node here:
// CXL expanders and the memory of some GPUs are nodes to the kernel as well.
func numaNodes(t tree) int {
	const dir = "sys/devices/system/node/"
	if list := parseList(t.text(dir + "has_cpu")); list != nil {
		return len(list)
	}
	n := 0
	for _, name := range t.names(dir) {
		if strings.HasPrefix(name, "node") && parseList(t.text(dir+name+"/cpulist")) != nil {
			n++
		}
	}
	return n
}

// lastCache returns the size in bytes of the last-level cache that a CPU
// reaches. AMD's "cache size" in cpuinfo is the second level, so it is not used.
func lastCache(t tree, info cpuInfo, cpu int) (size int64) {
	dir, last := sysCPU+"cpu"+strconv.Itoa(cpu)+"/cache/", int64(0)
	for _, name := range t.names(dir) {
		level, _ := t.number(dir + name + "/level")
		if level <= last || t.text(dir+name+"/type") == "Instruction" {
			continue
		}
		if n := parseSize(t.text(dir + name + "/size")); n > 0 {
			size, last = n, level
		}
	}
	if vendor := info.first("vendor_id"); size == 0 && vendor != "AuthenticAMD" && vendor != "HygonGenuine" {
		size = parseSize(info.first("cache size"))
	}
	return size
}

// parseSize reads "32768K", "1M" or "1024 KB", binary multiples; 0 for others.
func parseSize(s string) int64 {
	i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if i <= 0 {
		return 0
	}
	n, err := strconv.ParseInt(s[:i], 10, 32)
	if err != nil {
		return 0
	}
	switch strings.TrimSuffix(strings.TrimSpace(s[i:]), "B") {
	case "K":
		return n << 10
	case "M":
		return n << 20
	}
	return 0
}
