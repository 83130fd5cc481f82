package host

import (
	"path"
	"runtime"
	"strings"
	"testing"

	"dlbench/results"
)

const (
	mountV2 = "mountinfo 30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
	mountV1 = "mountinfo 33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n" +
		"34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
	mountHybrid = mountV1 + "\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
	mountDocker = "mountinfo 33 31 0:30 /docker/ab12 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct"
	meminfo     = "meminfo MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:   12000000 kB\n" +
		"HugePages_Total:       0\nHugepagesize:       2048 kB"
)

// limitCases are control groups: the one of this process, the mounts, and files below
// /sys/fs/cgroup.
var limitCases = []struct {
	name, own, mounts string
	files             []string
}{
	{"container", "0::/", mountV2, []string{"cpu.max 150000 100000", "cpu.stat nr_throttled 3"}},
	{"parent is tighter", "0::/a.slice/b.scope", mountV2, []string{"a.slice/b.scope/cpu.max 400000 100000",
		"a.slice/b.scope/cpu.stat nr_throttled 5", "a.slice/cpu.max 200000 100000", "a.slice/cpu.stat nr_throttled 11",
		"cpu.stat usage_usec 9", "other.slice/cpu.max 100 100000"}},
	{"no limit", "0::/a", mountV2, []string{"a/cpu.max max 100000", "a/cpu.stat nr_throttled 0",
		"a/memory.max max", "a/memory.current 300"}},
	{"version 1", "4:memory:/x\n3:cpu,cpuacct:/x/y", mountV1, []string{
		"cpu,cpuacct/x/y/cpu.cfs_quota_us -1", "cpu,cpuacct/x/y/cpu.cfs_period_us 100000",
		"cpu,cpuacct/x/cpu.cfs_quota_us 25000", "cpu,cpuacct/x/cpu.cfs_period_us 50000",
		"cpu,cpuacct/x/cpu.stat nr_periods 9\nnr_throttled 2",
		"memory/x/memory.limit_in_bytes 8000", "memory/x/memory.usage_in_bytes 7000",
		"memory/x/memory.stat inactive_file 1\ntotal_inactive_file 2000\ntotal_active_file 500",
		"memory/memory.limit_in_bytes 9223372036854771712"}},
	{"version 1 without limit", "4:memory:/", mountV1, []string{"memory/memory.limit_in_bytes 9223372036854771712"}},
	{"hybrid takes the least", "1:cpu:/\n0::/u", mountHybrid, []string{"cpu,cpuacct/cpu.cfs_quota_us 300000",
		"cpu,cpuacct/cpu.cfs_period_us 100000", "unified/u/cpu.max 250000 100000"}},
	{"version 1 container that sees its host's path", "3:cpu,cpuacct:/docker/ab12/job", mountDocker, []string{
		"cpu,cpuacct/job/cpu.cfs_quota_us 70000", "cpu,cpuacct/job/cpu.cfs_period_us 100000",
		"cpu,cpuacct/docker/ab12/job/cpu.cfs_quota_us 10", "cpu,cpuacct/docker/ab12/job/cpu.cfs_period_us 100000"}},
	{"group outside of the mount", "3:cpu,cpuacct:/docker/ab129", mountDocker, []string{
		"cpu,cpuacct/cpu.cfs_quota_us 30000", "cpu,cpuacct/cpu.cfs_period_us 100000",
		"cpu,cpuacct/9/cpu.cfs_quota_us 10", "cpu,cpuacct/9/cpu.cfs_period_us 100000"}},
	{"group outside of the namespace", "0::/../../x", mountV2,
		[]string{"cpu.max 60000 100000", "x/cpu.max 10000 100000"}},
	{"mount point with a space", "0::/", `mountinfo 30 23 0:26 / /my\040groups rw - cgroup2 none rw`,
		[]string{"../../../my groups/cpu.max 90000 100000"}},
	{"period missing", "3:cpu,cpuacct:/", mountV1, []string{"cpu,cpuacct/cpu.cfs_quota_us 200000"}},
	{"limit", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.current 300"}},
	{"pages of files can be dropped", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.current 950",
		"p/c/memory.stat anon 100\nfile 840\ninactive_file 600\nactive_file 200"}},
	{"more files than use", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.current 300",
		"p/c/memory.stat inactive_file 301"}},
	{"negative use", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.current -9223372036854775808",
		"p/c/memory.stat inactive_file -5"}},
	{"parent is fuller", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.current 300",
		"p/memory.max 5000", "p/memory.current 4900"}},
	{"slowed before it is killed", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.high 800",
		"p/c/memory.current 300"}},
	{"slowed by the parent's", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.high max",
		"p/memory.high 500", "p/memory.current 450"}},
	{"full", "0::/p/c", mountV2, []string{"p/c/memory.max 1000", "p/c/memory.current 1004"}},
	{"limit above what is there", "0::/p/c", mountV2, []string{"p/c/memory.max 99000000000", "p/c/memory.current 0"}},
	{"noise", noise, "mountinfo " + noise, []string{"memory.max " + noise, "memory.current " + noise,
		"memory.stat " + noise, "cpu.max " + noise, "cpu.stat " + noise}},
	{"nothing", "", "x", nil},
}

func TestLimits(t *testing.T) {
	type limits struct {
		Quota             *float64 `json:",omitempty"`
		Throttled         int64    `json:",omitempty"`
		Available, Memory int64
		BoundBy           string `json:",omitempty"`
	}
	all := map[string]limits{}
	for _, c := range limitCases {
		root := plant(t, at("proc", "self/cgroup "+c.own, "self/"+c.mounts, meminfo), at("sys/fs/cgroup", c.files...))
		m := ReadMemory(root)
		all[c.name] = limits{quota(tree(root)), Throttled(root), m.Available, m.Limit, m.BoundBy}
	}
	checkGolden(t, "limits.json", all)
}

func TestReadMemory(t *testing.T) {
	const thp = "kernel/mm/transparent_hugepage/enabled "
	group := merge(at("proc/self", "cgroup 0::/", mountV2), at("sys/fs/cgroup", "memory.max 1000"))
	for _, c := range []struct {
		name  string
		files files
		want  results.Memory
	}{
		{"all", merge(at("proc", meminfo), at("sys", thp+"always [madvise] never")),
			results.Memory{Total: 16000000 << 10, Available: 12000000 << 10, HugePage: 2 << 20, THP: "madvise"}},
		{"no word is chosen", at("sys", thp+"always [madvise"), results.Memory{}},
		{"MemAvailable unknown", merge(group, at("proc", "meminfo MemTotal: 5 kB")),
			results.Memory{Total: 5 << 10, Available: 1000, Limit: 1000, BoundBy: "memory.max"}},
		{"noise", at("proc", "meminfo "+noise+"MemTotal: 99999999999999999 kB\nMemAvailable: -4 kB"), results.Memory{}},
		{"nothing", files{}, results.Memory{}},
	} {
		c.want.MemLock = memLock() // this process's own
		if m := ReadMemory(plant(t, c.files)); m != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, m, c.want)
		}
	}
	if m := ReadMemory(plant(t, at("dev/shm", "x"))); runtime.GOOS == "linux" && m.ShmFree <= 0 {
		t.Errorf("/dev/shm has %d B", m.ShmFree)
	}
}

func FuzzLevels(f *testing.F) {
	f.Add("/", "/a/b")
	f.Add("/", "/a/../../../etc")
	f.Add("/d/x", "/d/x/y")
	f.Add("/docker/x", "/docker/x/../../..")
	f.Add("..", "//")
	f.Fuzz(func(t *testing.T, root, own string) {
		dirs := levels(mount{root: root, point: "/sys/fs/cgroup"}, own)
		if len(dirs) == 0 || dirs[len(dirs)-1] != "/sys/fs/cgroup" {
			t.Fatalf("%q %q: %v does not end at the mount", root, own, dirs)
		}
		for _, dir := range dirs {
			if path.Clean(dir) != dir || dir != "/sys/fs/cgroup" && !strings.HasPrefix(dir, "/sys/fs/cgroup/") {
				t.Errorf("%q %q: %q leaves the mount", root, own, dir)
			}
		}
	})
}
