package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"dlbench/results"
)

// DiskOf describes the disk that holds path: its mount, the file system, and the
// devices below it. /sys and /proc are looked for below root; path is a real one
// and need not exist yet. It never fails: what is not visible is unknown.
func DiskOf(root, path string) results.Disk {
	if runtime.GOOS != "linux" {
		return unknownDisk(runtime.GOOS + ": disks cannot be seen here")
	}
	path = realPath(path)
	d := diskOf(tree(root), path)
	d.Free, d.Total = space(path)
	return d
}

// unknownDisk is one of which no more is known than notes say.
func unknownDisk(notes ...string) results.Disk {
	return results.Disk{Name: results.Unknown, Kind: results.DiskUnknown, Link: results.Unknown, Cache: results.Unknown,
		Notes: notes}
}

// realPath is absolute and without symlinks; of a path that is not there yet, the
// first folder above that is.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for path != filepath.Dir(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		path = filepath.Dir(path)
	}
	return path
}

// diskOf is DiskOf of a path that is absolute and without symlinks, but for its space.
func diskOf(t tree, path string) results.Disk {
	m, ok := mountOf(readMounts(t), path)
	if !ok {
		return unknownDisk("the mount cannot be found in /proc/self/mountinfo")
	}
	d, class := unknownDisk(), classOf(m.fsType)
	d.Cache = results.CacheControllable
	if devices := t.devices(m); len(devices) > 0 {
		describe(t, &d, devices)
	} else if class.kind != "" {
		d.Name, d.Link = "none", ""
	} else {
		d.Notes = append(d.Notes, "the device is not visible in /sys")
	}
	if strings.HasPrefix(m.dev, "0:") {
		d.ReadAhead = readAhead(t, m)
	}
	d.FileSystem, d.MountOptions, d.Compressed = printable(m.fsType), m.shown(), m.compresses()
	d.Kind = cmp.Or(class.kind, d.Kind)
	if class.note != "" {
		d.Notes = append(d.Notes, class.note)
	}
	if class.reason != "" {
		d.Cache, d.CacheReason = results.CacheNotControllable, class.reason
	}
	return d
}

// devices are the block devices of a mount: that of its number, or of a file system
// with an anonymous one those that mountinfo names (bcachefs several), and the other
// devices of a btrfs.
func (t tree) devices(m mount) (list []blockDev) {
	if b, ok := t.block(byNumber, m.dev); ok {
		return []blockDev{b}
	}
	var names []string
	for node := range strings.SplitSeq(m.source, ":") {
		if !strings.HasPrefix(node, "/dev/") {
			continue
		}
		if real, err := filepath.EvalSymlinks(t.path(node)); err == nil { // /dev/mapper has links
			node = real
		}
		names = append(names, filepath.Base(node))
		if same, _ := filepath.Glob(t.path("sys/fs/btrfs/*/devices/" + filepath.Base(node))); len(same) > 0 {
			names = tree(filepath.Dir(same[0])).names(".")
		}
	}
	for _, name := range names {
		if b, ok := t.block(byName, name); ok {
			list = results.AppendNew(list, b)
		}
	}
	return list
}

// readAhead of a file system with an anonymous number, in bytes: it is not that
// of its devices. Those of btrfs are numbered otherwise, so of several none is
// known to be this one.
func readAhead(t tree, m mount) int64 {
	name := m.dev
	if m.fsType == "btrfs" {
		name = "btrfs-*"
	}
	files, _ := filepath.Glob(t.path("sys/class/bdi/" + name + "/read_ahead_kb"))
	if len(files) != 1 {
		return 0
	}
	return tree(filepath.Dir(files[0])).positive("read_ahead_kb") << 10
}

// describe fills in what the block devices below a file system say: what they agree on, and
// the sum of their links, which bounds reads that go to all of them.
func describe(t tree, d *results.Disk, devices []blockDev) {
	top := devices[0]
	d.Name, d.ReadAhead = top.base(), top.positive("queue/read_ahead_kb")<<10
	d.LogicalBlock = top.positive("queue/logical_block_size")
	d.PhysicalBlock = top.positive("queue/physical_block_size")
	var leaves []blockDev
	for _, dev := range devices {
		leaves = dev.leaves(t, leaves, &d.Notes, 0)
		d.Size += dev.size()
	}
	if len(devices) > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("the file system is on %d devices", len(devices)))
	}
	if len(leaves) == 1 {
		d.Name, d.Size = leaves[0].base(), leaves[0].size()
	}
	var models, kinds, links, schedulers []string // each once
	for _, leaf := range leaves {
		l := readDisk(t, leaf)
		d.Devices = append(d.Devices, l.Name)
		models, kinds = results.AppendNew(models, l.Model), results.AppendNew(kinds, l.Kind)
		links, schedulers = results.AppendNew(links, l.Link), results.AppendNew(schedulers, l.Scheduler)
		d.Notes = append(d.Notes, l.Notes...)
		d.LinkRate += l.LinkRate
		if l.Kind == results.DiskLoop && leaf.text("loop/dio") != "1" {
			d.Cache, d.CacheReason = results.CacheNotControllable, l.Name+" reads its file through a page cache of its own"
		}
	}
	d.Model, d.Scheduler, d.Kind = results.List(models...), results.List(schedulers...), kinds[0]
	if len(kinds) > 1 {
		d.Kind = results.DiskUnknown
		d.Notes = append(d.Notes, "devices of several kinds: "+strings.Join(kinds, ", "))
	}
	d.Link = strings.Join(links, " + ")
	if slices.Contains(links, results.Unknown) {
		d.Link, d.LinkRate = results.Unknown, 0
	} else if len(leaves) > 1 && len(links) == 1 {
		d.Link = fmt.Sprintf("%d x %s", len(leaves), links[0])
	}
}
