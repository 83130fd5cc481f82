//go:build !linux && !darwin && !windows

package synth

// freeBytes is not known here.
func freeBytes(dir string) (int64, bool) { return 0, false }

// sameDevice is not known here.
func sameDevice(a, b string) bool { return true }

// tryLock has no locks to try here.
func tryLock(fd uintptr) bool { return true }
