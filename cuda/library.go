//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// checkLibrary says what is wrong with a library that is named by its path. The
// loader says of one for another machine that it does not exist, and faults on one
// that is cut off. One that the loader has to look for is left to it.
func checkLibrary(path string) error {
	if !strings.Contains(path, "/") {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no NVIDIA driver: %s not found", path)
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
