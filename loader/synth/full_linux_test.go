package synth

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"dlbench/loader"
)

// TestDiskFillsUp writes to a file system that is fuller than it said.
func TestDiskFillsUp(t *testing.T) {
	root := t.TempDir()
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("no file system to fill without being root: %v", err)
	}
	defer unix.Unmount(root, 0)
	if _, err := Make(t.Context(), root, Spec{Store: loader.Files, Images: 2}, nil); err == nil {
		t.Error("a set took the place of a mounted file system")
	}
	if _, err := Make(t.Context(), filepath.Join(root, "set"), Spec{Store: loader.Files, Images: 40}, nil); !errors.As(err, new(*FullError)) {
		t.Errorf("without being told otherwise: %v", err)
	}
	for _, store := range loader.Stores {
		batch := small
		batch.Height, batch.Width = 200, 200
		_, err := makeAll(t.Context(), []string{filepath.Join(root, "set")}, []Spec{{Store: store, Images: 40, Batch: batch}}, nil,
			func(string) (int64, bool) { return math.MaxInt64, true })
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", store, err)
		}
		if left, _ := os.ReadDir(root); len(left) > 0 {
			t.Errorf("%s left %v", store, left)
		}
	}
}
