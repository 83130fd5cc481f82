package host

import (
	"path"
	"strings"

	"dlbench/results"
)

// ReadMemory describes main memory, of the file system tree at root; the two limits that need
// system calls are those of this process and of root's /dev/shm.
func ReadMemory(root string) results.Memory {
	t := tree(root)
	m := results.Memory{THP: t.chosen("sys/kernel/mm/transparent_hugepage/enabled"), MemLock: memLock()}
	m.ShmFree, _ = space(t.path("dev/shm"))
	kilobytes := func(key string) int64 { return positive(strings.TrimSuffix(t.after("proc/meminfo", key), " kB")) << 10 }
	m.Total, m.Available, m.HugePage = kilobytes("MemTotal"), kilobytes("MemAvailable"), kilobytes("Hugepagesize")
	limit, room, by := memoryLimit(t)
	m.Limit = limit
	if limit > 0 && (m.Available == 0 || room < m.Available) {
		m.Available, m.BoundBy = room, by
	}
	return m
}

// memoryFiles are those of a control group, by controller; total is what the sums with
// the groups below are named with in memory.stat. A process is killed above memory.max and
// slowed to a crawl above memory.high, so both bound it. (The soft limit of version 1 does
// neither.)
var memoryFiles = []struct{ controller, limit, used, total string }{
	{"", "memory.max", "memory.current", ""},
	{"", "memory.high", "memory.current", ""},
	{"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"},
}

// memoryLimit returns the least limit of the control groups, 0 without one, and
// the bytes that can still be had below every limit, at least 1 (0 would be
// unknown), with the name of the limit that leaves the least. The pages of files
// count as free, as they do in MemAvailable: a group that has read a data set is
// full of them and can drop them.
func memoryLimit(t tree) (limit, room int64, by string) {
	for _, f := range memoryFiles {
		for _, dir := range groups(t, f.controller) {
			most, used := t.positive(path.Join(dir, f.limit)), t.positive(path.Join(dir, f.used))
			if most == 0 {
				continue
			}
			stat := dir + "/memory.stat"
			files := t.counter(stat, f.total+"inactive_file") + t.counter(stat, f.total+"active_file")
			left := max(most-used+min(files, used), 1)
			if limit == 0 || left < room {
				room, by = left, f.limit
			}
			if limit == 0 || most < limit {
				limit = most
			}
		}
	}
	return limit, room, by
}
