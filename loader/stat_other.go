//go:build !linux

package loader

import (
	"io/fs"
	"os"
	"path/filepath"
)

func statAt(_ *os.File, dir, name string) (fs.FileMode, int64, error) {
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return 0, 0, err
	}
	return info.Mode(), info.Size(), nil
}

func readable(_ *os.File, dir, name string) bool {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return false
	}
	f.Close()
	return true
}
