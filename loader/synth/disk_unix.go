//go:build linux || darwin

package synth

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeBytes is what the file system of a folder has for users who are not root.
func freeBytes(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || blockSize(&s) == 0 {
		return 0, false
	}
	return int64(min(s.Bavail, math.MaxInt64/2/blockSize(&s)) * blockSize(&s)), true
}

// tryLock locks an open file until it is closed, unless another process has it.
// A file system without locks counts as locked: all that is lost is the work of
// making a set twice.
func tryLock(fd uintptr) bool {
	return unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) != unix.EWOULDBLOCK
}
