package host

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// groups are the folders of this process's control groups, its own first, then
// its parents up to the mount. A limit anywhere on the way holds.
type groups struct {
	v2     []string // the unified hierarchy
	cpu    []string // version 1, controller cpu
	memory []string // version 1, controller memory
}

// readGroups finds them from /proc/self/cgroup and /proc/self/mountinfo.
func readGroups(t tree) groups {
	var own struct{ v2, cpu, memory string }
	for line := range strings.Lines(t.text("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy:controllers:path
		if len(f) < 3 {
			continue
		}
		controllers := strings.Split(f[1], ",")
		if f[0] == "0" && f[1] == "" {
			own.v2 = f[2]
		}
		if slices.Contains(controllers, "cpu") {
			own.cpu = f[2]
		}
		if slices.Contains(controllers, "memory") {
			own.memory = f[2]
		}
	}
	v2, cpu, memory := groupMounts(t)
	return groups{levels(v2, own.v2), levels(cpu, own.cpu), levels(memory, own.memory)}
}

// groupMount is where a hierarchy is mounted (point), and which of its groups is
// seen there (root): "/", or a container's own.
type groupMount struct{ root, point string }

// octal undoes the escapes of /proc/self/mountinfo.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// groupMounts finds the hierarchies; where mountinfo names none they are looked
// for where every distribution mounts them.
func groupMounts(t tree) (v2, cpu, memory groupMount) {
	for line := range strings.Lines(t.text("proc/self/mountinfo")) {
		// 41 31 0:38 /root /point options [tags...] - type source superoptions
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 1 {
			continue
		}
		m := groupMount{octal.Replace(l[3]), octal.Replace(l[4])}
		controllers := strings.Split(r[len(r)-1], ",")
		switch {
		case r[0] == "cgroup2" && v2.point == "":
			v2 = m
		case r[0] == "cgroup" && slices.Contains(controllers, "cpu") && cpu.point == "":
			cpu = m
		case r[0] == "cgroup" && slices.Contains(controllers, "memory") && memory.point == "":
			memory = m
		}
	}
	if v2.point == "" && cpu.point == "" && memory.point == "" {
		const dir = "/sys/fs/cgroup"
		return groupMount{"/", dir}, groupMount{"/", dir + "/cpu"}, groupMount{"/", dir + "/memory"}
	}
	return v2, cpu, memory
}

// levels lists the folders from a process's own group up to the mount. A group
// outside of what the mount shows (a container without its own namespace of
// cgroups may see that) leaves only the mount itself.
func levels(m groupMount, own string) []string {
	if m.point == "" {
		return nil
	}
	rel := ""
	switch {
	case own == "" || strings.HasPrefix(own, "/.."):
	case m.root == "/":
		rel = own
	case own == m.root || strings.HasPrefix(own, m.root+"/"):
		rel = own[len(m.root):]
	}
	var dirs []string
	for rel = path.Clean("/" + rel); ; rel = path.Dir(rel) {
		dirs = append(dirs, path.Join(m.point, rel))
		if rel == "/" {
			return dirs
		}
	}
}

// quota is the number of CPUs that the control groups grant, the least of all
// levels; nil without a limit.
func quota(t tree) *float64 {
	g, least := readGroups(t), math.Inf(1)
	for _, dir := range g.v2 {
		if cpus, ok := parseCPUMax(t.text(dir + "/cpu.max")); ok {
			least = min(least, cpus)
		}
	}
	for _, dir := range g.cpu {
		quota, _ := t.number(dir + "/cpu.cfs_quota_us") // -1 for none
		period, _ := t.number(dir + "/cpu.cfs_period_us")
		if quota > 0 && period > 0 {
			least = min(least, float64(quota)/float64(period))
		}
	}
	if math.IsInf(least, 1) {
		return nil
	}
	return &least
}

// defaultPeriod is that of cpu.max in microseconds.
const defaultPeriod = 100_000

// parseCPUMax reads cpu.max, "max 100000" or "50000 100000" (quota and period in
// microseconds), as a number of CPUs; ok is false without a limit.
func parseCPUMax(s string) (cpus float64, ok bool) {
	f := strings.Fields(s)
	if len(f) < 1 || len(f) > 2 {
		return 0, false
	}
	quota, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || quota <= 0 {
		return 0, false
	}
	period := int64(defaultPeriod)
	if len(f) == 2 {
		if period, err = strconv.ParseInt(f[1], 10, 64); err != nil || period <= 0 {
			return 0, false
		}
	}
	return float64(quota) / float64(period), true
}

// Throttled returns in how many periods a CPU quota has stopped this process's
// control groups since they were made (nr_throttled of cpu.stat, every level
// that is seen added up: each counts its own quota). Read it before and after a
// run: the difference is the run's.
func Throttled(root string) int64 { return throttled(tree(root)) }

func throttled(t tree) int64 {
	g, n := readGroups(t), int64(0)
	for _, dir := range slices.Concat(g.v2, g.cpu) {
		n += max(t.pairs(dir + "/cpu.stat")["nr_throttled"], 0)
	}
	return n
}
