//go:build amd64 || arm64

package decode

import (
	"github.com/ebitengine/purego"
	"golang.org/x/sys/windows"
)

// openLibrary opens a library by its full path.
func openLibrary(path string) (handle uintptr, err error) {
	h, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}

func fileOf(path string, _ uintptr) string { return path }

// call is as on other systems.
func (t *turbo) call(function string, n int) uintptr {
	r, _, _ := purego.SyscallN(t.lib.functions[function], t.args[:n]...)
	return r
}
