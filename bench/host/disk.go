package host

import (
	"fmt"
	"path/filepath"
	"regexp"
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
	d := view{tree(root), readMounts(tree(root)), deviceNumbers}.diskOf(path, 0)
	d.Free, d.Total = space(path)
	return d
}

// unknownDisk is one of which no more is known than notes say.
func unknownDisk(notes ...string) results.Disk {
	return results.Disk{Name: "unknown", Kind: results.DiskUnknown, Link: "unknown", Cache: "unknown", Notes: notes}
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

// view is what this process sees of mounts and devices. numbers are those of
// deviceNumbers.
type view struct {
	tree
	mounts  []mount
	numbers func(path string) (on, is string)
}

// maxStack bounds how many devices may lie over each other, and how many file
// systems: a tree that is no machine's may have loops.
const maxStack = 8

// plainDevice are the names of partitions and disks that hold nothing of the
// user's.
var plainDevice = regexp.MustCompile(
	`^(sd[a-z]+[0-9]*|x?vd[a-z]+[0-9]*|(nvme[0-9]+n|mmcblk)[0-9]+(p[0-9]+)?|(dm-|md|loop)[0-9]+)$`)

func (v view) diskOf(path string, depth int) results.Disk {
	dev, _ := v.numbers(path)
	m, ok := mountOf(v.mounts, path, dev)
	if !ok {
		return unknownDisk("the mount cannot be found in /proc/self/mountinfo")
	}
	d := unknownDisk()
	class := classOf(m.fsType)
	switch devices := v.devices(m, dev); {
	case m.fsType == "overlay" && depth < maxStack:
		d = v.overlay(m, depth)
	case len(devices) > 0:
		v.describe(&d, devices, depth)
	case class.kind == "":
		if name := strings.TrimPrefix(m.source, "/dev/"); plainDevice.MatchString(name) {
			d.Name = name
		}
		d.Notes = append(d.Notes, "the device is not visible in /sys")
	default:
		d.Name, d.Link = "none", ""
	}
	if anonymous := strings.HasPrefix(m.dev, "0:"); anonymous && m.fsType != "overlay" {
		d.ReadAhead = v.readAhead(m)
	}
	d.FileSystem, d.MountOptions = printable(m.fsType), m.shown()
	d.Compressed = d.Compressed || m.compresses()
	if class.kind != "" {
		d.Kind = class.kind
	}
	if class.note != "" {
		d.Notes = append(d.Notes, class.note)
	}
	if class.reason != "" {
		d.Cache, d.CacheReason = results.CacheNotControllable, class.reason
	} else if d.Cache == "unknown" && m.fsType != "overlay" {
		d.Cache = results.CacheControllable
	}
	return d
}

// overlay describes the disk of the upper folder, where new files go, or of the
// lower one that is first. Inside of a container neither can be seen.
func (v view) overlay(m mount, depth int) results.Disk {
	upper, _ := m.option("upperdir")
	lower, _ := m.option("lowerdir")
	lower, _, _ = strings.Cut(lower, ":")
	for _, dir := range []string{upper, lower} {
		if on, _ := v.numbers(dir); on != "" && filepath.IsAbs(dir) {
			d := v.diskOf(dir, depth+1)
			d.Notes = append(d.Notes, "overlay over "+d.FileSystem)
			return d
		}
	}
	d := unknownDisk("overlay: its disk is not visible in this container")
	d.Cache = results.CacheControllable
	return d
}

// devices are the block devices of a mount: that of its number, or of a file system
// with an anonymous one those that mountinfo names (bcachefs several), and the other
// devices of a btrfs. dev is the number of a file's device, "" if unknown.
func (v view) devices(m mount, dev string) (list []blockDev) {
	if dev == "" {
		dev = m.dev
	}
	if b, ok := v.block(byNumber, dev); ok {
		return []blockDev{b}
	}
	for _, node := range strings.Split(m.source, ":") {
		name, ok := strings.CutPrefix(node, "/dev/")
		if !ok {
			continue
		}
		b, ok := v.block(byName, strings.ReplaceAll(name, "/", "!"))
		if _, is := v.numbers(node); !ok {
			b, ok = v.block(byNumber, is)
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
			if b, ok := v.block(byName, name); ok {
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
	name := m.dev
	if m.fsType == "btrfs" {
		all := slices.DeleteFunc(v.names(dir), func(s string) bool { return !strings.HasPrefix(s, "btrfs-") })
		if len(all) != 1 {
			return 0
		}
		name = all[0]
	}
	return v.kilobytes(dir + "/" + name + "/read_ahead_kb")
}

// describe fills in what the block devices below a file system say.
func (v view) describe(d *results.Disk, devices []blockDev, depth int) {
	top := devices[0]
	d.Name, d.ReadAhead = top.base(), top.kilobytes("queue/read_ahead_kb")
	d.LogicalBlock = top.positive("queue/logical_block_size")
	d.PhysicalBlock = top.positive("queue/physical_block_size")
	var leaves []blockDev
	for _, dev := range devices {
		leaves = dev.leaves(v.tree, leaves, &d.Notes, 0)
		d.Size += dev.size()
	}
	var disks []results.Disk
	for _, l := range leaves {
		disks = append(disks, readDisk(v.tree, l))
	}
	if len(devices) > 1 && len(leaves) > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("the file system is on %d devices", len(devices)))
	}
	combine(d, disks)
	if len(leaves) == 1 {
		d.Name, d.Size = leaves[0].base(), leaves[0].size()
		if d.Kind == results.DiskLoop {
			v.loop(d, leaves[0], depth)
		}
	}
}

// combine puts together what the disks below a file system say: what they agree
// on, and the sum of their links, which bounds reads that go to all of them.
func combine(d *results.Disk, disks []results.Disk) {
	var models, kinds, links, schedulers []string // each once
	d.Rotational, d.LinkRate = disks[0].Rotational, 0
	for _, l := range disks {
		d.Devices = append(d.Devices, l.Name)
		models, kinds = results.AppendNew(models, l.Model), results.AppendNew(kinds, l.Kind)
		links, schedulers = results.AppendNew(links, l.Link), results.AppendNew(schedulers, l.Scheduler)
		d.Notes = append(d.Notes, l.Notes...)
		d.LinkRate += l.LinkRate
		if l.Rotational == nil || d.Rotational == nil || *l.Rotational != *d.Rotational {
			d.Rotational = nil
		}
	}
	d.Model, d.Scheduler, d.Kind = results.List(models...), results.List(schedulers...), kinds[0]
	if len(kinds) > 1 {
		d.Kind = results.DiskUnknown
		d.Notes = append(d.Notes, "devices of several kinds: "+strings.Join(kinds, ", "))
	}
	switch {
	case slices.Contains(links, "unknown"):
		d.Link, d.LinkRate = "unknown", 0
	case len(disks) > 1 && len(links) == 1:
		d.Link = fmt.Sprintf("%d x %s", len(disks), links[0])
	default:
		d.Link = strings.Join(links, " + ")
	}
}

// loop follows a loop device to the disk of the file that it serves, where that
// can be seen. Unless it reads the file directly, the file's pages are cached as
// well, where dropping those of the device does not reach.
func (v view) loop(d *results.Disk, l blockDev, depth int) {
	if l.text("loop/dio") != "1" {
		d.Cache, d.CacheReason = results.CacheNotControllable, d.Name+" reads its file through a page cache of its own"
	}
	file := l.text("loop/backing_file")
	if on, _ := v.numbers(file); on == "" || !strings.HasPrefix(file, "/") || depth >= maxStack {
		d.Notes = append(d.Notes, d.Name+": the disk of its file is not visible")
		return
	}
	below := v.diskOf(file, depth+1)
	if len(below.Devices) > 0 {
		d.Devices = below.Devices
	}
	d.Model, d.Rotational = below.Model, below.Rotational
	d.Link, d.LinkRate = below.Link, below.LinkRate
	d.Notes = append(d.Notes, fmt.Sprintf("%s: a file on %s (%s)", d.Name, below.Name, below.FileSystem))
	d.Notes = results.AppendNew(d.Notes, below.Notes...)
}
