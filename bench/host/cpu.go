package host

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dlbench/results"
)

const (
	sysCPU  = "sys/devices/system/cpu/"
	sysNode = "sys/devices/system/node/"
)

// cpu is the folder of a CPU, node that of a NUMA node.
func (t tree) cpu(n int) tree  { return tree(t.path(sysCPU + "cpu" + strconv.Itoa(n))) }
func (t tree) node(n int) tree { return tree(t.path(sysNode + "node" + strconv.Itoa(n))) }

var usableOnce = sync.OnceValue(affinity)

// UsableCPUs are the CPUs that the scheduler may use for this process, in order. They
// are read once: what the kernel tells is the main thread's affinity, which a worker that
// is pinned may have narrowed later.
func UsableCPUs() []int { return slices.Clone(usableOnce()) }

// NodeCPUs returns the CPUs of a NUMA node in ascending order, from
// /sys/devices/system/node; nil when the node is not there or has none.
func NodeCPUs(root string, node int) []int { return tree(root).node(node).list("cpulist") }

// NodeDistances returns the distance from a NUMA node to each that is there, itself
// among them: 10 to itself, more to others; nil where the kernel does not tell.
func NodeDistances(root string, node int) map[int]int {
	nodes := tree(root).list(sysNode + "online")
	far := strings.Fields(tree(root).node(node).text("distance"))
	if len(nodes) != len(far) {
		return nil
	}
	d := map[int]int{}
	for i, n := range nodes {
		d[n] = int(positive(far[i]))
	}
	return d
}

// readCPU describes the processors. usable are the CPUs that the scheduler may
// use for this process. Memory alone makes no NUMA node here: CXL expanders and the
// memory of some GPUs are nodes to the kernel as well.
func readCPU(t tree, usable []int) results.CPU {
	c := results.CPU{Model: model(t), NUMANodes: len(t.list(sysNode + "has_cpu")), Affinity: len(usable),
		Usable: float64(len(usable)), Quota: quota(t), NrThrottled: Throttled(string(t))}
	if c.Quota != nil {
		c.Usable = min(c.Usable, *c.Quota)
	}
	online := t.list(sysCPU + "online")
	c.Threads = len(online)
	c.Sockets, c.Cores = topology(t, online)
	c.SMT = c.Cores > 0 && c.Threads > c.Cores

	first := 0
	if len(usable) > 0 {
		first = usable[0]
	}
	c.Hz, c.MaxHz = Clock(string(t), first), t.cpu(first).kilohertz("cpuinfo_max_freq")
	c.Governor = cmp.Or(printable(t.cpu(first).text("cpufreq/scaling_governor")), results.Unknown)
	c.LastCache = lastCache(t.cpu(first))
	return c
}

// topology counts the sockets and physical cores of the CPUs given, 0 if sysfs does not
// say for each. SMT siblings share one list of siblings; the numbers of cores alone will
// not do, they repeat in every socket and die.
func topology(t tree, cpus []int) (sockets, cores int) {
	packages, places := map[int]bool{}, map[string]bool{}
	for _, cpu := range cpus {
		core := siblings(t, cpu)
		if core == "" {
			return 0, 0
		}
		places[core] = true
		if socket, ok := t.cpu(cpu).index("topology/physical_package_id"); ok { // firmware of some arm64 machines says -1
			packages[socket] = true
		}
	}
	return len(packages), len(places)
}

// lastCache returns the size in bytes of the last-level cache that a CPU reaches, 0 if
// sysfs does not say.
func lastCache(cpu tree) (size int64) {
	last := int64(0)
	for _, name := range cpu.names("cache") {
		level := cpu.positive("cache/" + name + "/level")
		kilobytes := strings.TrimSuffix(cpu.text("cache/"+name+"/size"), "K")
		if n := positive(kilobytes) << 10; n > 0 && level > last {
			size, last = n, level
		}
	}
	return size
}

// Clock returns the clock of a CPU now in cycles/s (scaling_cur_freq, or "cpu
// MHz" of /proc/cpuinfo where the kernel has no cpufreq, as in most virtual
// machines), 0 if neither says.
func Clock(root string, cpu int) (hz float64) {
	t := tree(root)
	if hz = t.cpu(cpu).kilohertz("scaling_cur_freq"); hz > 0 {
		return hz
	}
	_, own, _ := strings.Cut(t.text("proc/cpuinfo"), fmt.Sprintf("processor\t: %d\n", cpu))
	_, own, _ = strings.Cut(own, "cpu MHz\t\t: ")
	fmt.Sscan(own, &hz)
	return max(0, hz) * 1e6
}

// kilohertz reads a file of a CPU's cpufreq, in cycles/s.
func (t tree) kilohertz(name string) float64 { return float64(t.positive("cpufreq/"+name)) * 1e3 }

// HoldClock holds a CPU to a clock, in cycles/s, by the limits of cpufreq, which only
// root may set, until restore is called.
func HoldClock(root string, cpu int, hz float64) (restore func(), err error) {
	dir := tree(root).cpu(cpu)
	set := func(least, most string) (err error) {
		for range 2 { // a minimum above the maximum is refused, and works once the maximum has moved
			err = cmp.Or(os.WriteFile(dir.path("cpufreq/scaling_min_freq"), []byte(least), 0o644),
				os.WriteFile(dir.path("cpufreq/scaling_max_freq"), []byte(most), 0o644))
		}
		return err
	}
	least, most := dir.text("cpufreq/scaling_min_freq"), dir.text("cpufreq/scaling_max_freq")
	restore = func() { set(least, most) }
	khz := strconv.FormatInt(int64(hz/1e3), 10)
	if err := set(khz, khz); err != nil {
		restore()
		return nil, fmt.Errorf("the clock of CPU %d cannot be set to %.2f GHz, which takes root, and cpufreq, "+
			"which most virtual machines lack: %w", cpu, hz/1e9, err)
	}
	return restore, nil
}

// armCores names cores of servers by "implementer part" of
// /proc/cpuinfo. Source: part numbers that lscpu of util-linux lists.
var armCores = map[string]string{
	"0x41 0xd0c": "ARM Neoverse-N1",
	"0x41 0xd40": "ARM Neoverse-V1",
	"0x41 0xd49": "ARM Neoverse-N2",
	"0x41 0xd4f": "ARM Neoverse-V2",
	"0x41 0xd83": "ARM Neoverse-V3AE",
	"0x41 0xd84": "ARM Neoverse-V3",
	"0x41 0xd85": "ARM Cortex-X925",
	"0x41 0xd87": "ARM Cortex-A725",
	"0x41 0xd8e": "ARM Neoverse-N3",
	"0x48 0xd01": "HiSilicon TaiShan-v110",
	"0xc0 0xac3": "Ampere-1",
	"0xc0 0xac4": "Ampere-1a",
}

// model names the processor. arm64 has numbers instead of a name; where they
// are not in armCores the board's name says more than they do.
func model(t tree) string {
	const info = "proc/cpuinfo"
	implementer, part := t.after(info, "CPU implementer"), t.after(info, "CPU part")
	numbers := results.Unknown
	if implementer != "" && part != "" {
		numbers = "implementer " + implementer + " part " + part
	}
	return cmp.Or(t.after(info, "model name"), armCores[implementer+" "+part], t.text("proc/device-tree/model"), numbers)
}
