//go:build !windows

package sharedlib

import (
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

func load(path string) (handle uintptr, err error) {
	runtime.LockOSThread() // dlerror, which purego asks in a call of its own, is the thread's
	defer runtime.UnlockOSThread()
	handle, err = purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err == nil {
		return handle, nil
	}
	text := err.Error()
	if strings.Contains(text, path+": cannot open") && strings.Contains(text, "No such file") || // Linux
		strings.Contains(text, "(no such file)") { // macOS
		return 0, ErrNotFound
	}
	return 0, err
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

// File is the file, behind links, that has a function which was found; what was opened
// where the loader does not tell.
func (l *Library) File(function string) string {
	path := l.path
	info := new(struct{ file, base, symbol, addr uintptr }) // Dl_info of dlfcn.h
	if dladdr, err := purego.Dlsym(purego.RTLD_DEFAULT, "dladdr"); err == nil {
		found, _, _ := purego.SyscallN(dladdr, l.Functions[function], uintptr(unsafe.Pointer(info)))
		if int32(found) != 0 {
			path = strings.Clone(Text(info.file))
		}
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file
	}
	return path
}
