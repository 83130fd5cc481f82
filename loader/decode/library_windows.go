//go:build amd64 || arm64

package decode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// candidates are by full paths: of where libjpeg-turbo's installer puts it, and of the
// folders of PATH. The current folder is not searched.
func candidates() []string {
	paths := []string{
		`C:\libjpeg-turbo64\bin\turbojpeg.dll`,
		`C:\libjpeg-turbo-gcc64\bin\libturbojpeg.dll`,
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, "turbojpeg.dll"), filepath.Join(dir, "libturbojpeg.dll"))
		}
	}
	return paths
}

// open opens a library by its path.
func open(path string) (*library, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, errNotFound)
	}
	h, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	if err != nil {
		return nil, fmt.Errorf("%s does not load: %w", path, err)
	}
	l := new(library)
	if err := l.resolve(path, func(name string) (uintptr, error) { return windows.GetProcAddress(h, name) }); err != nil {
		return nil, err
	}
	l.Path = path
	l.Version = versionOf(path, l.API)
	return l, nil
}
