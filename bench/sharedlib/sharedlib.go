// Package sharedlib opens shared libraries at run time: the program builds without their
// headers, and runs where they are not installed.
package sharedlib

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ErrNotFound is of a library that is not there.
var ErrNotFound = errors.New("not found")

// Library is an opened library. It stays in the process.
type Library struct {
	Functions map[string]uintptr // that were found, by name

	path   string
	handle uintptr
}

// Open opens a library by its path or, on Linux and macOS, by a name without a slash, for
// which the system's loader looks.
func Open(path string) (l *Library, err error) {
	if machines[runtime.GOARCH] == 0 {
		return nil, errors.New("no library is opened on this kind of machine")
	}
	if runtime.GOOS == "windows" || strings.Contains(path, "/") {
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	other, err := check(path)
	if err != nil {
		return nil, err
	}
	handle, err := load(path)
	if errors.Is(err, ErrNotFound) {
		return nil, cmp.Or(other, fmt.Errorf("%s %w", path, ErrNotFound))
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not load: %w", path, err)
	}
	return &Library{path: path, handle: handle, Functions: map[string]uintptr{}}, nil
}

// Find looks functions up.
func (l *Library) Find(names ...string) error {
	for _, name := range names {
		addr, err := symbol(l.handle, name)
		if err != nil || addr == 0 {
			return fmt.Errorf("%s lacks %s", l.path, name)
		}
		l.Functions[name] = addr
	}
	return nil
}

// Call makes one call of a function that was found, and returns what it does as C's int.
// What pointers in args point to stays where it is until the call returns. It allocates
// args: purego keeps them from the stack.
//
//go:uintptrescapes
func (l *Library) Call(name string, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(l.Functions[name], args...)
	return int32(r)
}

// Text is a C string in C's memory, of up to 1024 bytes: it lasts as long as that.
func Text(p uintptr) string {
	if p == 0 {
		return ""
	}
	const most = 1024                  // above JMSG_LENGTH_MAX of libjpeg, 200 bytes
	s := *(**byte)(unsafe.Pointer(&p)) // which Go's collector does not move
	n := 0
	for n < most && *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return unsafe.String(s, n)
}

// machines are those whose calls are known here.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

var errOtherMachine = errors.New("is for another machine")

// check says what is wrong with a library. Linux's loader says of one for another machine
// that it does not exist, and faults on one that is cut off. One that is not named by its
// path is checked where the loader looks first, in LD_LIBRARY_PATH; what it has to find
// elsewhere is left to it. other is about one that it passes over.
func check(path string) (other, err error) {
	files := []string{path}
	if !filepath.IsAbs(path) {
		files = nil
		for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
			files = append(files, filepath.Join(dir, path))
		}
	}
	for _, file := range files {
		switch err := checkFile(file); {
		case errors.Is(err, errOtherMachine):
			other = err
		case runtime.GOOS == "linux" && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return other, nil
}

func checkFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	size := uint64(info.Size())
	f, err := elf.Open(path)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s is no shared library, or one that is cut off at %d bytes", path, size)
	}
	if err != nil {
		return fmt.Errorf("%s is no shared library: %w", path, err)
	}
	defer f.Close()
	if f.Machine != machines[runtime.GOARCH] {
		return fmt.Errorf("%s %w (%v)", path, errOtherMachine, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && (p.Off > size || p.Filesz > size-p.Off) {
			return fmt.Errorf("%s is cut off at %d bytes", path, size)
		}
	}
	return nil
}
