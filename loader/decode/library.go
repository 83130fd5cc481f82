package decode

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"dlbench/bench/sharedlib"
)

const libraryVariable = "DLBENCH_LIBTURBOJPEG"

type Lib struct {
	Path    string // of the file, where the system tells it; else what was asked for
	Version string // as the file says it of itself, "2.1.5"; else "2.x" or "3.x"
	API     int    // 2, TurboJPEG 2.x, which decodes whole images; or 3, which decodes regions

	library *sharedlib.Library
}

// Library is the TurboJPEG library of this process, which is opened once. Without one,
// the error wraps ErrNoLibrary and says what to install.
var Library = sync.OnceValues(load)

func load() (*Lib, error) {
	if path := os.Getenv(libraryVariable); path != "" {
		l, err := open(path)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrNoLibrary, libraryVariable, err)
		}
		return l, nil
	}
	names, advice := candidates(runtime.GOOS)
	why := errors.New("it is not installed: " + advice)
	for _, name := range names {
		l, err := open(name)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, sharedlib.ErrNotFound) {
			why = err
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrNoLibrary, why)
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

func open(path string) (*Lib, error) {
	library, err := sharedlib.Open(path)
	if err != nil {
		return nil, err
	}
	l := &Lib{API: 2, library: library}
	own := functions2
	if library.Find("tj3Init") == nil {
		l.API, own = 3, functions3
	}
	if err := library.Find(slices.Concat(commonFunctions, own)...); err != nil {
		return nil, fmt.Errorf("%w: it is too old, or not libjpeg-turbo's", err)
	}
	l.Path = library.File("tjDestroy")
	l.Version = versionOf(l.Path, l.API)
	return l, nil
}

// Functions of TurboJPEG: those that 3.x has as well, and those of one API.
var (
	commonFunctions = []string{"tjInitDecompress", "tjDestroy", "tjGetErrorStr2", "tjGetErrorCode"}
	functions2      = []string{"tjDecompressHeader3", "tjDecompress2"}
	functions3      = []string{"tj3Set", "tj3Get", "tj3DecompressHeader", "tj3SetCroppingRegion", "tj3Decompress8"}
)

// versionOf is what the file of a library says of itself: it has the line
// "libjpeg-turbo version 2.1.5 (build 20230203)". The interface has no call for it.
func versionOf(path string, api int) string {
	data, _ := os.ReadFile(path) // of under 2 MB, in distributions
	_, after, _ := bytes.Cut(data, []byte("libjpeg-turbo version "))
	after = after[:min(len(after), 16)]
	version := after[:len(after)-len(bytes.TrimLeft(after, "0123456789."))]
	return cmp.Or(string(version), fmt.Sprintf("%d.x", api))
}
