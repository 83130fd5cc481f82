//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// library is a shared library of NVIDIA's driver, opened at run time: the program
// builds without a toolkit and runs without a driver.
type library struct {
	path   string
	handle uintptr
	addr   map[string]uintptr // of the functions found
}

func openLibrary(path string) (*library, error) {
	other, err := checkLibrary(path)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // dlerror, which purego asks in a call of its own, is the thread's
	defer runtime.UnlockOSThread()
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err == nil {
		return &library{path: path, handle: h, addr: map[string]uintptr{}}, nil
	}
	if !strings.Contains(err.Error(), path+": cannot open") || !strings.Contains(err.Error(), "No such file") {
		return nil, fmt.Errorf("the NVIDIA driver does not load: %w", err)
	}
	if other != nil {
		return nil, fmt.Errorf("no NVIDIA driver: %w", other)
	}
	return nil, fmt.Errorf("no NVIDIA driver: %s not found", path)
}

// find looks functions up, for call.
func (l *library) find(names ...string) error {
	for _, name := range names {
		addr, err := purego.Dlsym(l.handle, name)
		if err != nil {
			return fmt.Errorf("%s lacks %s", l.path, name)
		}
		l.addr[name] = addr
	}
	return nil
}

// call makes one call, of a function that was found. What pointers in args point to
// stays where it is until the call returns. It allocates args: purego keeps them from
// the stack.
//
//go:uintptrescapes
func (l *library) call(name string, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(l.addr[name], args...)
	return int32(r)
}

var errOtherMachine = errors.New("is for another machine")

// checkLibrary says what is wrong with a library. The loader says of one for another
// machine that it does not exist, and faults on one that is cut off. One that is not
// named by its path is checked where the loader looks first, in LD_LIBRARY_PATH; what
// it has to find elsewhere is left to it. other is about one that it passes over.
func checkLibrary(path string) (other, err error) {
	files := []string{path}
	if !strings.Contains(path, "/") {
		files = nil
		for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
			files = append(files, filepath.Join(dir, path))
		}
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		if err = checkFile(file, info.Size()); !errors.Is(err, errOtherMachine) {
			return nil, err
		}
		other = err
	}
	return other, nil
}

func checkFile(path string, size int64) error {
	f, err := elf.Open(path)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s is no shared library, or one that is cut off at %d bytes", path, size)
	}
	if err != nil {
		return fmt.Errorf("%s is no shared library: %w", path, err)
	}
	defer f.Close()
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if f.Machine != want {
		return fmt.Errorf("%s %w (%v)", path, errOtherMachine, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && (p.Off > uint64(size) || p.Filesz > uint64(size)-p.Off) {
			return fmt.Errorf("%s is cut off at %d bytes", path, size)
		}
	}
	return nil
}
