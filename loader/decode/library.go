package decode

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
)

// libraryVariable names the TurboJPEG library to open instead of the usual ones.
const libraryVariable = "DLBENCH_LIBTURBOJPEG"

// Lib is the library that Turbo uses.
type Lib struct {
	Path    string // of the file, where the system tells it; else what was asked for
	Version string // as the file says it of itself, "2.1.5"; else "2.x" or "3.x"
	API     int    // 2, TurboJPEG 2.x, which decodes whole images; or 3, which decodes regions
}

// Library is the TurboJPEG library of this process, which is opened once. Without one,
// the error wraps ErrNoLibrary and says what to install.
func Library() (Lib, error) {
	l, err := loaded()
	if err != nil {
		return Lib{}, err
	}
	return l.Lib, nil
}

var loaded = sync.OnceValues(load)

// errNotFound is of a library that is not there, for which there may be another name.
var errNotFound = errors.New("not found")

func load() (*library, error) {
	if path := os.Getenv(libraryVariable); path != "" {
		l, err := open(path)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrNoLibrary, libraryVariable, err)
		}
		return l, nil
	}
	var broken error
	for _, path := range candidates() {
		l, err := open(path)
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
	return nil, fmt.Errorf("%w: it is not installed: %s", ErrNoLibrary, advice())
}

// advice is what to install.
func advice() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install jpeg-turbo"
	case "windows":
		return "libjpeg-turbo's installer of libjpeg-turbo.org, with turbojpeg.dll on PATH"
	}
	return "libturbojpeg0 on Debian, libturbojpeg on Ubuntu, turbojpeg on Fedora"
}

// function is one of the library's.
type function int

const (
	tjInitDecompress function = iota
	tjDecompressHeader3
	tjDecompress2
	tjDestroy
	tjGetErrorStr2
	tjGetErrorCode
	tj3Init
	tj3Set
	tj3Get
	tj3DecompressHeader
	tj3SetCroppingRegion
	tj3Decompress8
	tj3Destroy
	tj3GetErrorStr
	tj3GetErrorCode
	numFunctions
)

var functionNames = [numFunctions]string{
	"tjInitDecompress", "tjDecompressHeader3", "tjDecompress2", "tjDestroy", "tjGetErrorStr2", "tjGetErrorCode",
	"tj3Init", "tj3Set", "tj3Get", "tj3DecompressHeader", "tj3SetCroppingRegion", "tj3Decompress8",
	"tj3Destroy", "tj3GetErrorStr", "tj3GetErrorCode",
}

// library is the functions of an opened TurboJPEG: those of its API.
type library struct {
	Lib
	addr [numFunctions]uintptr
}

// resolve finds the functions of the newest API that the library at path, which symbol
// looks into, has: of 3 where there is tj3Init.
func (l *library) resolve(path string, symbol func(name string) (uintptr, error)) error {
	first, end := tjInitDecompress, tj3Init
	l.API = 2
	if _, err := symbol(functionNames[tj3Init]); err == nil {
		first, end, l.API = tj3Init, numFunctions, 3
	}
	for f := first; f < end; f++ {
		addr, err := symbol(functionNames[f])
		if err != nil || addr == 0 {
			return fmt.Errorf("%s lacks the function %s: it is too old, or not libjpeg-turbo's", path, functionNames[f])
		}
		l.addr[f] = addr
	}
	return nil
}
