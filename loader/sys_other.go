//go:build !linux

package loader

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

type root struct{ dir string }

func openRoot(dir string) (*root, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return &root{dir}, nil
}

func (r *root) close() error { return nil }

type handle struct{ f *os.File }

// open opens a file by its path below the root. It does not bypass the page cache
// here.
func (r *root) open(rel string, direct bool) (handle, error) {
	if direct {
		return handle{}, ErrNoDirect
	}
	f, err := os.Open(filepath.Join(r.dir, filepath.FromSlash(rel)))
	if err != nil {
		return handle{}, errors.Unwrap(err) // without the path
	}
	return handle{f}, nil
}

func (h handle) close() error { return h.f.Close() }

func (h handle) pread(buf []byte, off int64) (int, error) {
	n, err := h.f.ReadAt(buf, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func directAlign(handle) (int64, error) { return 0, ErrNoDirect }

func openLimit() int { return 256 }

func adviseRandom(*os.File) {}
