package host

import (
	"reflect"
	"testing"
)

const (
	mountV2     = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountV1     = "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	mountHybrid = mountV1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	mountDocker = "33 31 0:30 /docker/ab12 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
)

func TestQuota(t *testing.T) {
	for _, c := range []struct {
		name      string
		files     files
		want      float64 // 0 for none
		throttled int64
	}{
		{"container", files{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/cpu.max": "150000 100000\n", "sys/fs/cgroup/cpu.stat": "nr_throttled 3\n",
		}, 1.5, 3},
		{"parent is tighter", files{
			"proc/self/cgroup": "0::/a.slice/b.scope\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/a.slice/b.scope/cpu.max":  "400000 100000\n",
			"sys/fs/cgroup/a.slice/b.scope/cpu.stat": "nr_throttled 5\n",
			"sys/fs/cgroup/a.slice/cpu.max":          "200000 100000\n",
			"sys/fs/cgroup/a.slice/cpu.stat":         "nr_throttled 11\n",
			"sys/fs/cgroup/cpu.stat":                 "usage_usec 9\n",
			"sys/fs/cgroup/other.slice/cpu.max":      "100 100000\n",
		}, 2, 16},
		{"no limit", files{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/a/cpu.max": "max 100000\n", "sys/fs/cgroup/a/cpu.stat": "nr_throttled 0\n",
		}, 0, 0},
		{"version 1", files{
			"proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/x/y\n", "proc/self/mountinfo": mountV1,
			"sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":    "25000\n",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us":   "50000\n",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.stat":            "nr_periods 9\nnr_throttled 2\n",
		}, 0.5, 2},
		{"hybrid takes the least", files{
			"proc/self/cgroup": "1:cpu:/\n0::/u\n", "proc/self/mountinfo": mountHybrid,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "300000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/unified/u/cpu.max":             "250000 100000\n",
		}, 2.5, 0},
		{"version 1 container that sees its host's path", files{
			"proc/self/cgroup": "3:cpu,cpuacct:/docker/ab12/job\n", "proc/self/mountinfo": mountDocker,
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us":              "70000\n",
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us":             "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/docker/ab12/job/cpu.cfs_quota_us":  "10\n",
			"sys/fs/cgroup/cpu,cpuacct/docker/ab12/job/cpu.cfs_period_us": "100000\n",
		}, 0.7, 0},
		{"group outside of the mount", files{
			"proc/self/cgroup": "3:cpu,cpuacct:/docker/ab129\n", "proc/self/mountinfo": mountDocker,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":    "30000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":   "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/9/cpu.cfs_quota_us":  "10\n",
			"sys/fs/cgroup/cpu,cpuacct/9/cpu.cfs_period_us": "100000\n",
		}, 0.3, 0},
		{"group outside of the namespace", files{
			"proc/self/cgroup": "0::/../../x\n", "proc/self/mountinfo": mountV2,
			"sys/fs/cgroup/cpu.max": "60000 100000\n", "sys/fs/cgroup/x/cpu.max": "10000 100000\n",
		}, 0.6, 0},
		{"mount point with a space", files{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": `30 23 0:26 / /my\040groups rw - cgroup2 none rw` + "\n",
			"my groups/cpu.max": "90000 100000\n",
		}, 0.9, 0},
		{"no mountinfo, version 1", files{
			"proc/self/cgroup":                    "1:cpu:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "200000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, 2, 0},
		{"period missing", files{
			"proc/self/cgroup":                   "1:cpu:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
		}, 0, 0},
		{"nothing", files{}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plant(t, c.files)
			have := quota(tree(root))
			switch {
			case have == nil && c.want != 0, have != nil && *have != c.want:
				t.Errorf("quota %v, want %v", deref(have), c.want)
			}
			if n := Throttled(root); n != c.throttled {
				t.Errorf("throttled %d, want %d", n, c.throttled)
			}
		})
	}
}

func deref(p *float64) any {
	if p == nil {
		return nil
	}
	return *p
}

func TestGranted(t *testing.T) {
	for _, c := range []struct {
		quota, period string
		cpus          float64
	}{
		{"max", "100000", 0}, {"50000", "100000", 0.5}, {"50000", "", 0}, {"", "", 0}, {"0", "100000", 0}, {"-1", "100000", 0},
		{"5", "0", 0}, {"5", "-5", 0}, {"5", "x", 0}, {"1", "2 3", 0}, {"NaN", "100000", 0}, {"1e5", "100000", 0},
	} {
		if cpus := granted(c.quota, c.period); cpus != c.cpus {
			t.Errorf("%q %q: %v, want %v", c.quota, c.period, cpus, c.cpus)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		m    mount
		own  string
		want []string
	}{
		{mount{root: "/", point: "/cg"}, "/a/b", []string{"/cg/a/b", "/cg/a", "/cg"}},
		{mount{root: "/", point: "/cg"}, "/", []string{"/cg"}},
		{mount{root: "/", point: "/cg"}, "", []string{"/cg"}},
		{mount{root: "/", point: "/cg"}, "/a/../../../etc", []string{"/cg/etc", "/cg"}},
		{mount{root: "/d/x", point: "/cg"}, "/d/x", []string{"/cg"}},
		{mount{root: "/d/x", point: "/cg"}, "/d/x/y", []string{"/cg/y", "/cg"}},
		{mount{}, "/a", nil},
	} {
		if have := levels(c.m, c.own); !reflect.DeepEqual(have, c.want) {
			t.Errorf("%v %q: %v, want %v", c.m, c.own, have, c.want)
		}
	}
}
