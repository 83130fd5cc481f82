package sharedlib

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// load opens a library by its full path.
func load(path string) (handle uintptr, err error) {
	h, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	if _, missing := os.Stat(path); errors.Is(missing, os.ErrNotExist) {
		return 0, ErrNotFound
	}
	return uintptr(h), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}

// File is what was opened.
func (l *Library) File(string) string { return l.path }
