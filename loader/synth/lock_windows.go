package synth

import "golang.org/x/sys/windows"

func tryLock(fd uintptr) bool {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(fd), how, 0, 1, 0, new(windows.Overlapped))
	return err != windows.ERROR_LOCK_VIOLATION
}
