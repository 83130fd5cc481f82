//go:build linux || darwin

package synth

import "golang.org/x/sys/unix"

// tryLock locks an open file until it is closed, unless another process has it.
// A file system without locks counts as locked: all that is lost is the work of
// making a set twice.
func tryLock(fd uintptr) bool {
	return unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) != unix.EWOULDBLOCK
}
