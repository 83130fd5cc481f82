package decode

import "golang.org/x/sys/windows"

// openLibrary opens a library by its full path.
func openLibrary(path string) (handle uintptr, err error) {
	h, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}

func fileOf(path string, _ uintptr) string { return path }
