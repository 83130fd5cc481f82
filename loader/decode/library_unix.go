//go:build !windows

package decode

import (
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// openLibrary opens a library by its path or, without a slash, by its name.
func openLibrary(path string) (handle uintptr, err error) {
	runtime.LockOSThread() // dlerror, which purego asks in a call of its own, is the thread's
	defer runtime.UnlockOSThread()
	handle, err = purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err == nil {
		return handle, nil
	}
	text := err.Error()
	if strings.Contains(text, path+": cannot open") && strings.Contains(text, "No such file") || // Linux
		strings.Contains(text, "(no such file)") { // macOS
		return 0, errNotFound
	}
	return 0, err
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// fileOf is the file, behind links, of the library that has addr; path where the loader
// does not tell.
func fileOf(path string, addr uintptr) string {
	info := new(struct{ file, base, symbol, addr uintptr }) // Dl_info of dlfcn.h
	if dladdr, err := purego.Dlsym(purego.RTLD_DEFAULT, "dladdr"); err == nil {
		if found, _, _ := purego.SyscallN(dladdr, addr, uintptr(unsafe.Pointer(info))); int32(found) != 0 {
			path = strings.Clone(text(info.file))
		}
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file
	}
	return path
}
