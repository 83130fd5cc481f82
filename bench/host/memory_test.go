package host

import (
	"runtime"
	"testing"
)

const meminfo = "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:   12000000 kB\nHugePages_Total:       0\nHugepagesize:       2048 kB\n"

func TestReadMemory(t *testing.T) {
	v2 := func(f files) files {
		return merge(files{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/p/c\n", "proc/self/mountinfo": mountV2}, f)
	}
	const group, parent = "sys/fs/cgroup/p/c/", "sys/fs/cgroup/p/"
	for _, c := range []struct {
		name                    string
		files                   files
		total, available, limit int64
	}{
		{"no group", files{"proc/meminfo": meminfo}, 16000000 << 10, 12000000 << 10, 0},
		{"limit", v2(files{group + "memory.max": "1000\n", group + "memory.current": "300\n"}), 16000000 << 10, 700, 1000},
		{"pages of files can be dropped", v2(files{
			group + "memory.max": "1000\n", group + "memory.current": "950\n",
			group + "memory.stat": "anon 100\nfile 840\ninactive_file 600\nactive_file 200\n",
		}), 16000000 << 10, 850, 1000},
		{"more files than use", v2(files{
			group + "memory.max": "1000\n", group + "memory.current": "300\n", group + "memory.stat": "inactive_file 301\n",
		}), 16000000 << 10, 1000, 1000},
		{"negative use", v2(files{
			group + "memory.max": "1000\n", group + "memory.current": "-9223372036854775808\n", group + "memory.stat": "inactive_file -5\n",
		}), 16000000 << 10, 1000, 1000},
		{"parent is fuller", v2(files{
			group + "memory.max": "1000\n", group + "memory.current": "300\n",
			parent + "memory.max": "5000\n", parent + "memory.current": "4900\n",
		}), 16000000 << 10, 100, 1000},
		{"full", v2(files{group + "memory.max": "1000\n", group + "memory.current": "1004\n"}), 16000000 << 10, 1, 1000},
		{"limit above what is there", v2(files{group + "memory.max": "99000000000\n", group + "memory.current": "0\n"}),
			16000000 << 10, 12000000 << 10, 99000000000},
		{"max", v2(files{group + "memory.max": "max\n", group + "memory.current": "300\n"}), 16000000 << 10, 12000000 << 10, 0},
		{"version 1", files{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/x\n", "proc/self/mountinfo": mountV1,
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "8000\n",
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": "7000\n",
			"sys/fs/cgroup/memory/x/memory.stat":           "inactive_file 1\ntotal_inactive_file 2000\ntotal_active_file 500\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
		}, 16000000 << 10, 3500, 8000},
		{"version 1 without limit", files{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n", "proc/self/mountinfo": mountV1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 16000000 << 10, 12000000 << 10, 0},
		{"MemAvailable unknown", v2(files{"proc/meminfo": "MemTotal: 5 kB\n", group + "memory.max": "1000\n"}), 5 << 10, 1000, 1000},
		{"noise", v2(files{"proc/meminfo": noise + "MemTotal: 99999999999999999 kB\nMemAvailable: -4 kB\n",
			group + "memory.max": noise, group + "memory.current": noise, group + "memory.stat": noise}), 0, 0, 0},
		{"nothing", files{}, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := readMemory(tree(plant(t, c.files)))
			if m.Total != c.total || m.Available != c.available || m.Limit != c.limit {
				t.Errorf("total %d, available %d, limit %d; want %d, %d, %d", m.Total, m.Available, m.Limit, c.total, c.available, c.limit)
			}
		})
	}
}

func TestReadMemoryPages(t *testing.T) {
	const thp = "sys/kernel/mm/transparent_hugepage/enabled"
	m := readMemory(tree(plant(t, files{"proc/meminfo": meminfo, thp: "always [madvise] never\n", "dev/shm/x": ""})))
	if m.HugePage != 2<<20 || m.THP != "madvise" || runtime.GOOS == "linux" && m.ShmFree <= 0 {
		t.Errorf("huge page %d, THP %q, /dev/shm %d B", m.HugePage, m.THP, m.ShmFree)
	}
	if m := readMemory(tree(plant(t, files{thp: "always [madvise"}))); m.THP != "" || m.ShmFree != 0 {
		t.Errorf("THP %q, /dev/shm %d B, want neither", m.THP, m.ShmFree)
	}
}
