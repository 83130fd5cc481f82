//go:build amd64 || arm64

package decode

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// checkLibrary says what is wrong with a library that is named by its path: the loader
// faults on one that is cut off. One that the loader has to look for is left to it.
func checkLibrary(path string) error {
	if !strings.Contains(path, "/") {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, errNotFound)
	}
	if err != nil {
		return err
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is no shared library: %w", path, err)
	}
	defer f.Close()
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if f.Machine != want {
		return fmt.Errorf("%s is for another machine (%v)", path, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && (p.Off > uint64(info.Size()) || p.Filesz > uint64(info.Size())-p.Off) {
			return fmt.Errorf("%s is cut off at %d bytes", path, info.Size())
		}
	}
	return nil
}

// mapped is the file that is mapped at addr; asked where /proc does not tell.
func mapped(asked string, addr uintptr) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return asked
	}
	for line := range strings.Lines(string(maps)) {
		// address perms offset dev inode path
		bounds, rest, _ := strings.Cut(line, " ")
		low, high, _ := strings.Cut(bounds, "-")
		from, err1 := strconv.ParseUint(low, 16, 64)
		to, err2 := strconv.ParseUint(high, 16, 64)
		if err1 != nil || err2 != nil || uint64(addr) < from || uint64(addr) >= to {
			continue
		}
		if at := strings.IndexByte(rest, '/'); at >= 0 {
			return strings.TrimSuffix(rest[at:], "\n")
		}
	}
	return asked
}
