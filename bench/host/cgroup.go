package host

import (
	"path"
	"slices"
	"strings"
)

// groups are the folders of this process's control groups, its own first, then its
// parents up to the mount: those of a controller of version 1, or of the unified
// hierarchy for "". A limit anywhere on the way holds.
func groups(t tree, controller string) []string {
	mounts := readMounts(t)
	i := slices.IndexFunc(mounts, func(m mount) bool {
		return m.fsType == "cgroup2" && controller == "" || m.fsType == "cgroup" && slices.Contains(m.options, controller)
	})
	if i < 0 {
		return nil
	}
	own := ""
	for line := range strings.Lines(t.text("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy:controllers:path
		if len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) {
			own = f[2]
		}
	}
	return levels(mounts[i], own)
}

// levels lists the folders from a process's own group up to the mount. A group
// outside of what the mount shows (a container without its own namespace of
// cgroups may see that) leaves only the mount itself.
func levels(m mount, own string) (dirs []string) {
	rel := ""
	if within(own, m.root) && !strings.HasPrefix(own, "/..") {
		rel = strings.TrimPrefix(own, m.root)
	}
	for rel = path.Clean("/" + rel); rel != "/"; rel = path.Dir(rel) {
		dirs = append(dirs, path.Join(m.point, rel))
	}
	return append(dirs, m.point)
}

// quota is the number of CPUs that the control groups grant, the least of all
// levels; nil without a limit, which the kernel writes as "max" or -1.
func quota(t tree) (least *float64) {
	var limits []string // a quota and its period, both in microseconds
	for _, dir := range groups(t, "") {
		limits = append(limits, t.text(dir+"/cpu.max"))
	}
	for _, dir := range groups(t, "cpu") {
		limits = append(limits, t.text(dir+"/cpu.cfs_quota_us")+" "+t.text(dir+"/cpu.cfs_period_us"))
	}
	for _, limit := range limits {
		text, period, _ := strings.Cut(limit, " ")
		q, p := float64(positive(text)), float64(positive(period))
		if q > 0 && p > 0 && (least == nil || q/p < *least) {
			least = new(q / p)
		}
	}
	return least
}

// Throttled returns in how many periods a CPU quota has stopped this process's
// control groups since they were made (nr_throttled of cpu.stat, every level
// that is seen added up: each counts its own quota). Read it before and after a
// run: the difference is the run's.
func Throttled(root string) (n int64) {
	t := tree(root)
	for _, dir := range slices.Concat(groups(t, ""), groups(t, "cpu")) {
		n += t.counter(dir+"/cpu.stat", "nr_throttled")
	}
	return n
}
