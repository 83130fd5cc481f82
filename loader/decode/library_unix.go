//go:build (linux || darwin) && (amd64 || arm64)

package decode

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

func candidates() []string {
	if runtime.GOOS == "darwin" {
		return []string{
			"/opt/homebrew/opt/jpeg-turbo/lib/libturbojpeg.dylib", // Homebrew on Apple silicon
			"/usr/local/opt/jpeg-turbo/lib/libturbojpeg.dylib",    // Homebrew on Intel
			"/opt/local/lib/libturbojpeg.dylib",                   // MacPorts
			"/opt/libjpeg-turbo/lib/libturbojpeg.dylib",           // libjpeg-turbo's installer
			"libturbojpeg.dylib",
		}
	}
	return []string{"libturbojpeg.so.0", "libturbojpeg.so"}
}

// open opens a library by its path or, without a slash, by its name.
func open(path string) (*library, error) {
	if err := checkLibrary(path); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // dlerror, which purego asks in a call of its own, is the thread's
	defer runtime.UnlockOSThread()
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		text := err.Error()
		if strings.Contains(text, path+": cannot open") && strings.Contains(text, "No such file") || strings.Contains(text, "(no such file)") {
			return nil, fmt.Errorf("%s: %w", path, errNotFound)
		}
		return nil, fmt.Errorf("%s does not load: %w", path, err)
	}
	l := new(library)
	if err := l.resolve(path, func(name string) (uintptr, error) { return purego.Dlsym(h, name) }); err != nil {
		return nil, err
	}
	one := l.addr[tjInitDecompress] + l.addr[tj3Init] // one of them is 0
	l.Path = mapped(path, one)
	l.Version = versionOf(l.Path, l.API)
	return l, nil
}
