package host

import (
	"os"
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
		return results.Disk{Name: "unknown", Kind: results.DiskUnknown, Cache: "unknown",
			Notes: []string{runtime.GOOS + ": disks cannot be seen here"}}
	}
	path = realPath(path)
	v := view{tree(root), parseMountInfo(tree(root).text("proc/self/mountinfo")), numbers}
	d := v.diskOf(path, 0)
	d.Free, d.Total = space(path)
	return d
}

// Disks describes the disks of several paths, each disk once.
func Disks(root string, paths ...string) []results.Disk {
	var list []results.Disk
	for _, p := range paths {
		d := DiskOf(root, p)
		if !slices.ContainsFunc(list, func(o results.Disk) bool {
			return o.Name == d.Name && o.FileSystem == d.FileSystem && o.Total == d.Total && slices.Equal(o.Devices, d.Devices)
		}) {
			list = append(list, d)
		}
	}
	return list
}

// realPath is absolute and without symlinks; of a path that is not there yet, the
// first folder above that is.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		if _, err := os.Lstat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// view is what this process sees of mounts and devices. numbers is stat(2).
type view struct {
	tree
	mounts  []mount
	numbers func(path string) (on, is devno, ok bool)
}

// plainDevice are the names of partitions and disks that hold nothing of the
// user's.
var plainDevice = regexp.MustCompile(`^(sd[a-z]+[0-9]*|x?vd[a-z]+[0-9]*|(nvme[0-9]+n|mmcblk)[0-9]+(p[0-9]+)?|(dm-|md|loop)[0-9]+)$`)

func (v view) diskOf(path string, depth int) results.Disk {
	d := results.Disk{Name: "unknown", Kind: results.DiskUnknown, Link: "unknown", Cache: "unknown"}
	dev, _, known := v.numbers(path)
	m, ok := mountOf(v.mounts, path, dev, known)
	if !ok {
		d.Notes = []string{"the mount cannot be found in /proc/self/mountinfo"}
		return d
	}
	if !known {
		dev = m.dev
	}
	class := classOf(m.fsType)
	if m.fsType == "overlay" && depth < maxStack {
		d = v.overlay(m, depth)
	} else if b, ok := blockByNumber(v.tree, dev); ok && dev.major != 0 {
		v.devices(&d, []blockDev{b}, depth)
	} else if tops := v.sources(m); len(tops) > 0 {
		v.devices(&d, tops, depth)
		d.ReadAhead = v.readAhead(m)
	} else if d.ReadAhead = v.readAhead(m); class.kind == "" {
		if name := strings.TrimPrefix(m.source, "/dev/"); plainDevice.MatchString(name) {
			d.Name = name
		}
		d.Notes = append(d.Notes, "the device is not visible in /sys")
	}
	d.FileSystem, d.MountOptions = printable(m.fsType), m.shown()
	d.Compressed = d.Compressed || m.compresses()
	if class.kind != "" {
		d.Kind = class.kind
		if len(d.Devices) == 0 {
			d.Name, d.Link = "none", ""
		}
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
	dirs := make([]string, 0, 2)
	if upper, ok := m.option("upperdir"); ok {
		dirs = append(dirs, upper)
	}
	if lower, ok := m.option("lowerdir"); ok {
		first, _, _ := strings.Cut(lower, ":")
		dirs = append(dirs, first)
	}
	for _, dir := range dirs {
		if _, _, ok := v.numbers(dir); ok && filepath.IsAbs(dir) {
			d := v.diskOf(dir, depth+1)
			d.Notes = append(d.Notes, "overlay over "+d.FileSystem)
			return d
		}
	}
	return results.Disk{Name: "unknown", Kind: results.DiskUnknown, Link: "unknown", Cache: results.CacheControllable,
		Notes: []string{"overlay: its disk is not visible in this container"}}
}
