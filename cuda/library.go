//go:build linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

var errOtherMachine = errors.New("is for another machine")

// checkLibrary says what is wrong with a library. The loader says of one for another
// machine that it does not exist, and faults on one that is cut off. One that is not
// named by its path is checked where the loader looks first, in LD_LIBRARY_PATH; what
// it has to find elsewhere is left to it. other is about one that it passes over.
func checkLibrary(path string) (other, err error) {
	if strings.Contains(path, "/") {
		return nil, checkFile(path)
	}
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		file := filepath.Join(dir, path)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		err := checkFile(file)
		if !errors.Is(err, errOtherMachine) {
			return nil, err
		}
		other = err
	}
	return other, nil
}

func checkFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no NVIDIA driver: %s not found", path)
	}
	if err != nil {
		return err
	}
	f, err := elf.Open(path)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s is no shared library, or one that is cut off at %d bytes", path, info.Size())
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
		if p.Type == elf.PT_LOAD && (p.Off > uint64(info.Size()) || p.Filesz > uint64(info.Size())-p.Off) {
			return fmt.Errorf("%s is cut off at %d bytes", path, info.Size())
		}
	}
	return nil
}
