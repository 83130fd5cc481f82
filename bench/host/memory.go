package host

import (
	"math"
	"strings"

	"dlbench/results"
)

// readMemory describes main memory; the two limits that need system calls are
// those of this process and of root's /dev/shm.
func readMemory(t tree) results.Memory {
	info := t.pairs("proc/meminfo")
	kb := func(key string) int64 {
		if n := info[key]; n > 0 && n < math.MaxInt64>>10 {
			return n << 10
		}
		return 0
	}
	m := results.Memory{
		Total:     kb("MemTotal"),
		Available: kb("MemAvailable"),
		HugePage:  kb("Hugepagesize"),
		THP:       chosen(t.text("sys/kernel/mm/transparent_hugepage/enabled")),
		MemLock:   memLock(),
		ShmFree:   freeBytes(t.path("dev/shm")),
	}
	var room int64
	m.Limit, room = memoryLimit(t)
	switch {
	case m.Limit == 0:
	case m.Available == 0:
		m.Available = room
	default:
		m.Available = min(m.Available, room)
	}
	return m
}

// unlimited and above is no limit: version 1 of cgroups says the largest number
// of bytes that is a whole number of pages.
const unlimited = 1 << 62

// memoryLimit returns the least limit of the control groups, 0 without one, and
// the bytes that can still be had below every limit, at least 1 (0 would be
// unknown). The pages of files count as free, as they do in MemAvailable: a
// group that has read a data set is full of them and can drop them.
func memoryLimit(t tree) (limit, room int64) {
	g := readGroups(t)
	limit, room = math.MaxInt64, math.MaxInt64
	level := func(most, used int64, stat map[string]int64, prefix string) {
		if most <= 0 || most >= unlimited {
			return
		}
		files := max(stat[prefix+"inactive_file"], 0) + max(stat[prefix+"active_file"], 0)
		limit, room = min(limit, most), min(room, most-used+min(max(files, 0), used))
	}
	for _, dir := range g.v2 {
		most, _ := t.number(dir + "/memory.max") // "max" for none
		used, _ := t.number(dir + "/memory.current")
		level(most, used, t.pairs(dir+"/memory.stat"), "")
	}
	for _, dir := range g.memory {
		most, _ := t.number(dir + "/memory.limit_in_bytes")
		used, _ := t.number(dir + "/memory.usage_in_bytes")
		level(most, used, t.pairs(dir+"/memory.stat"), "total_")
	}
	if limit == math.MaxInt64 {
		return 0, 0
	}
	return limit, max(room, 1)
}

// chosen returns the word in brackets of "always [madvise] never", else "".
func chosen(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, ok := strings.Cut(s, "]")
	if !ok {
		return ""
	}
	return s
}
