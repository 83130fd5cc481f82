package host

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// devno is the number of a device. Major 0 is anonymous: a file system without
// one block device of its own.
type devno struct{ major, minor uint32 }

func (d devno) String() string { return fmt.Sprintf("%d:%d", d.major, d.minor) }

// parseDevno reads "259:2".
func parseDevno(s string) (d devno, ok bool) {
	major, minor, _ := strings.Cut(s, ":")
	a, err1 := strconv.ParseUint(major, 10, 32)
	b, err2 := strconv.ParseUint(minor, 10, 32)
	return devno{uint32(a), uint32(b)}, err1 == nil && err2 == nil
}

// mount is one line of /proc/self/mountinfo.
type mount struct {
	dev     devno
	point   string
	fsType  string
	source  string   // a device node, a server's export, or any word
	options []string // of the mount, then of the file system, as written there
}

// parseMountInfo reads mountinfo; lines that are not in its form are left out.
// Source: proc_pid_mountinfo(5).
func parseMountInfo(text string) []mount {
	var ms []mount
	for line := range strings.Lines(text) {
		// 41 31 0:38 /root /point options [tags...] - type source superoptions
		left, right, ok := strings.Cut(strings.TrimSpace(line), " - ")
		l, r := strings.Fields(left), strings.Split(right, " ") // a source may be empty
		if !ok || len(l) < 6 || r[0] == "" {
			continue
		}
		dev, ok := parseDevno(l[2])
		m := mount{dev: dev, point: octal.Replace(l[4]), fsType: r[0], options: strings.Split(l[5], ",")}
		if !ok || !strings.HasPrefix(m.point, "/") {
			continue
		}
		if len(r) > 1 {
			m.source = octal.Replace(r[1])
		}
		if len(r) > 2 {
			m.options = append(m.options, strings.Split(r[2], ",")...)
		}
		ms = append(ms, m)
	}
	return ms
}

// mountOf finds the mount that holds path, which is absolute and without
// symlinks: of the mounts above it one with its device number, if it has one and
// it is known, and the longest mount point of those. The last of several mounts
// on one point hides the others; the number finds mounts that hide a longer one.
func mountOf(ms []mount, path string, dev devno, known bool) (mount, bool) {
	best, found := mount{}, false
	for _, same := range []bool{true, false} {
		for _, m := range ms {
			if same && (!known || m.dev != dev) || !within(path, m.point) {
				continue
			}
			if !found || len(m.point) >= len(best.point) {
				best, found = m, true
			}
		}
		if found {
			break
		}
	}
	return best, found
}

// within tells whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// option is the value of a mount option, "" for one without a value.
func (m mount) option(name string) (value string, ok bool) {
	for _, o := range m.options {
		if key, value, _ := strings.Cut(o, "="); key == name {
			return octal.Replace(value), true
		}
	}
	return "", false
}

// speedOptions are the mount options that bear on reading and its measurement.
var speedOptions = []string{
	"ro", "sync", "dirsync", "noatime", "nodiratime", "lazytime", "strictatime", "dax", "discard", "nobarrier", "data", "volatile",
	"compress", "compress-force", "compression", "compress_algorithm", "nodatacow", "nodatasum", "autodefrag", // btrfs, bcachefs, f2fs
	"vers", "proto", "rsize", "nconnect", "noac", "fsc", "cache", "forcedirectio", "max_read", "msize", "trans", // NFS, CIFS, FUSE, 9p
}

// plainValue keeps words that a user chose out of a report.
var plainValue = regexp.MustCompile(`^[a-z0-9.:_-]{0,16}$`)

// shown lists the mount's options that a report may have, each once.
func (m mount) shown() []string {
	var list []string
	for _, o := range m.options {
		name, value, _ := strings.Cut(o, "=")
		if slices.Contains(speedOptions, name) && plainValue.MatchString(value) && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list
}
