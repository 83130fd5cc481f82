package decode

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// libraryVariable names the TurboJPEG library to open instead of the usual ones.
const libraryVariable = "DLBENCH_LIBTURBOJPEG"

// Lib is an opened TurboJPEG library.
type Lib struct {
	Path    string // of the file, where the system tells it; else what was asked for
	Version string // as the file says it of itself, "2.1.5"; else "2.x" or "3.x"
	API     int    // 2, TurboJPEG 2.x, which decodes whole images; or 3, which decodes regions

	functions map[string]uintptr // by name
}

// Library is the TurboJPEG library of this process, which is opened once. Without one,
// the error wraps ErrNoLibrary and says what to install.
func Library() (*Lib, error) { return loaded() }

var loaded = sync.OnceValues(load)

// errNotFound is of a library that is not there, for which there may be another name.
var errNotFound = errors.New("not found")

func load() (*Lib, error) {
	if machines[runtime.GOARCH] == 0 {
		return nil, fmt.Errorf("%w: no library is opened on this kind of machine", ErrNoLibrary)
	}
	if path := os.Getenv(libraryVariable); path != "" {
		l, err := open(path)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrNoLibrary, libraryVariable, err)
		}
		return l, nil
	}
	names, advice := candidates(runtime.GOOS)
	var broken error
	for _, name := range names {
		l, err := open(name)
		if err == nil {
			return l, nil
		}
		if broken == nil && !errors.Is(err, errNotFound) {
			broken = err
		}
	}
	if broken != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoLibrary, broken)
	}
	return nil, fmt.Errorf("%w: it is not installed: %s", ErrNoLibrary, advice)
}

// candidates are the paths or names under which the library is looked for, and what to
// install where there is none.
func candidates(system string) (names []string, advice string) {
	switch system {
	case "darwin":
		return []string{
			"/opt/homebrew/opt/jpeg-turbo/lib/libturbojpeg.dylib", // Homebrew on Apple silicon
			"/usr/local/opt/jpeg-turbo/lib/libturbojpeg.dylib",    // Homebrew on Intel
			"/opt/local/lib/libturbojpeg.dylib",                   // MacPorts
			"/opt/libjpeg-turbo/lib/libturbojpeg.dylib",           // libjpeg-turbo's installer
			"libturbojpeg.dylib",
		}, "brew install jpeg-turbo"
	case "windows": // full paths: the current folder is not searched
		names = []string{
			`C:\libjpeg-turbo64\bin\turbojpeg.dll`,
			`C:\libjpeg-turbo-gcc64\bin\libturbojpeg.dll`,
		}
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if filepath.IsAbs(dir) {
				names = append(names, filepath.Join(dir, "turbojpeg.dll"), filepath.Join(dir, "libturbojpeg.dll"))
			}
		}
		return names, "libjpeg-turbo's installer of libjpeg-turbo.org, with turbojpeg.dll on PATH"
	}
	return []string{"libturbojpeg.so.0", "libturbojpeg.so"},
		"libturbojpeg0 on Debian, libturbojpeg on Ubuntu, turbojpeg on Fedora"
}

// open opens a library by its path or, on Linux and macOS, by a name without a slash, for
// which the loader looks.
func open(path string) (*Lib, error) {
	if runtime.GOOS == "windows" || strings.Contains(path, "/") {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		if err := checkLibrary(path); err != nil {
			return nil, err
		}
	}
	handle, err := openLibrary(path)
	if errors.Is(err, errNotFound) {
		return nil, fmt.Errorf("%s: %w", path, errNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not load: %w", path, err)
	}
	l := new(Lib)
	if err := l.resolve(path, func(name string) (uintptr, error) { return symbol(handle, name) }); err != nil {
		return nil, err
	}
	l.Path = fileOf(path, l.functions["tjDestroy"])
	l.Version = versionOf(l.Path, l.API)
	return l, nil
}

// machines are those whose calls are known here.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkLibrary says what is wrong with the file of a library: Linux's loader faults on one
// that is cut off.
func checkLibrary(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, errNotFound)
	}
	if err != nil || runtime.GOOS != "linux" {
		return err
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is no shared library: %w", path, err)
	}
	defer f.Close()
	if f.Machine != machines[runtime.GOARCH] {
		return fmt.Errorf("%s is for another machine (%v)", path, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && (p.Off > uint64(info.Size()) || p.Filesz > uint64(info.Size())-p.Off) {
			return fmt.Errorf("%s is cut off at %d bytes", path, info.Size())
		}
	}
	return nil
}

// Functions of TurboJPEG: those that 3.x has as well, and those of one API.
var (
	commonFunctions = []string{"tjInitDecompress", "tjDestroy", "tjGetErrorStr2", "tjGetErrorCode"}
	functions2      = []string{"tjDecompressHeader3", "tjDecompress2"}
	functions3      = []string{"tj3Set", "tj3Get", "tj3DecompressHeader", "tj3SetCroppingRegion", "tj3Decompress8"}
)

// resolve finds the functions of the newest API that the library at path, which symbol
// looks into, has: of 3 where there is tj3Init.
func (l *Lib) resolve(path string, symbol func(name string) (uintptr, error)) error {
	l.API = 2
	names := slices.Concat(commonFunctions, functions2)
	if _, err := symbol("tj3Init"); err == nil {
		l.API = 3
		names = slices.Concat(commonFunctions, functions3)
	}
	l.functions = map[string]uintptr{}
	for _, name := range names {
		addr, err := symbol(name)
		if err != nil || addr == 0 {
			return fmt.Errorf("%s lacks the function %s: it is too old, or not libjpeg-turbo's", path, name)
		}
		l.functions[name] = addr
	}
	return nil
}

// maxLibrary is the size up to which a library is searched for its version, in bytes.
// Those of distributions are under 2 MB.
const maxLibrary = 64 << 20

// versionOf is what the file of a library says of itself: it has the line
// "libjpeg-turbo version 2.1.5 (build 20230203)". The interface has no call for it.
func versionOf(path string, api int) string {
	unknown := fmt.Sprintf("%d.x", api)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxLibrary {
		return unknown
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	_, after, _ := bytes.Cut(data, []byte("libjpeg-turbo version "))
	after = after[:min(len(after), 16)]
	version := after[:len(after)-len(bytes.TrimLeft(after, "0123456789."))]
	if len(version) == 0 {
		return unknown
	}
	return string(version)
}
