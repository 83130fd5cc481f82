package host

import (
	"slices"
	"strings"
)

// sources finds the devices of file systems with an anonymous number, such as
// btrfs, by the device nodes that mountinfo names (bcachefs several), and the
// other devices of a btrfs.
func (v view) sources(m mount) []blockDev {
	var list []blockDev
	for _, node := range strings.Split(m.source, ":") {
		name, ok := strings.CutPrefix(node, "/dev/")
		if !ok {
			continue
		}
		b, ok := blockByName(v.tree, name)
		if _, is, there := v.numbers(node); !ok && there && is.major != 0 {
			b, ok = blockByNumber(v.tree, is)
		}
		if ok {
			list = append(list, b)
		}
	}
	if m.fsType != "btrfs" || len(list) != 1 {
		return list
	}
	const dir = "sys/fs/btrfs"
	for _, id := range v.names(dir) {
		var all []blockDev
		for _, name := range v.names(dir + "/" + id + "/devices") {
			if b, ok := blockByName(v.tree, name); ok {
				all = append(all, b)
			}
		}
		if slices.Contains(all, list[0]) {
			return all
		}
	}
	return list
}

// readAhead of a file system with an anonymous number, in bytes: it is not that
// of its devices. Those of btrfs are numbered otherwise, so of several none is
// known to be this one.
func (v view) readAhead(m mount) int64 {
	const dir = "sys/class/bdi"
	name := m.dev.String()
	if m.fsType == "btrfs" {
		all := slices.DeleteFunc(v.names(dir), func(s string) bool { return !strings.HasPrefix(s, "btrfs-") })
		if len(all) != 1 {
			return 0
		}
		name = all[0]
	}
	kb, _ := v.number(dir + "/" + name + "/read_ahead_kb")
	return kilobytes(kb)
}

// kilobytes in bytes, 0 for a number that is none.
func kilobytes(n int64) int64 {
	if n < 0 || n > 1<<40 {
		return 0
	}
	return n << 10
}
