package host

import (
	"math"

	"golang.org/x/sys/unix"
)

// numbers of a path: that of the device its file is on, and of the device it is,
// when it is a node of /dev.
func numbers(path string) (on, is devno, ok bool) {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return devno{}, devno{}, false
	}
	if s.Mode&unix.S_IFMT == unix.S_IFBLK {
		is = devno{unix.Major(uint64(s.Rdev)), unix.Minor(uint64(s.Rdev))}
	}
	return devno{unix.Major(uint64(s.Dev)), unix.Minor(uint64(s.Dev))}, is, true
}

// space is the size of the file system that holds path, in bytes; 0 if unknown.
// Free is what users other than root may fill.
func space(path string) (free, total int64) {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil || s.Bsize <= 0 {
		return 0, 0
	}
	size := uint64(s.Bsize)
	if s.Frsize > 0 {
		size = uint64(s.Frsize) // what the counts are in: statfs(2) of NFS, virtiofs
	}
	if s.Blocks > math.MaxInt64/size || s.Bavail > s.Blocks {
		return 0, 0
	}
	return int64(s.Bavail * size), int64(s.Blocks * size)
}
