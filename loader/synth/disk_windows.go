package synth

import (
	"math"

	"golang.org/x/sys/windows"
)

// freeBytes is what the volume of a folder has for this user.
func freeBytes(dir string) (int64, bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free, total, all uint64
	if windows.GetDiskFreeSpaceEx(name, &free, &total, &all) != nil {
		return 0, false
	}
	return int64(min(free, math.MaxInt64/2)), true
}

func tryLock(fd uintptr) bool {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(fd), how, 0, 1, 0, new(windows.Overlapped))
	return err != windows.ERROR_LOCK_VIOLATION
}
