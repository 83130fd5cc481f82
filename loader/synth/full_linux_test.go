package synth

import (
	"errors"
	"os"
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
	for _, store := range loader.Stores {
		batch := small
		batch.Height, batch.Width = 200, 200
		_, err := Make(t.Context(), root, Spec{Form: Form{Store: store, Batch: batch}, Images: 40}, nil)
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", store, err)
		}
		if left, _ := os.ReadDir(root); len(left) > 0 {
			t.Errorf("%s left %v", store, left)
		}
	}
}
