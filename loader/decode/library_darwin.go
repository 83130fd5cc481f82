package decode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func checkLibrary(path string) error {
	if !strings.Contains(path, "/") {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, errNotFound)
	}
	return nil
}

// mapped is the file behind the links of path.
func mapped(path string, _ uintptr) string {
	if real, err := filepath.EvalSymlinks(path); err == nil && strings.Contains(path, "/") {
		return real
	}
	return path
}
