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
	_, err := Make(t.Context(), filepath.Join(root, "set"), Spec{Form: Form{Store: loader.Files}, Images: 40}, nil)
	refused(t, err, "not enough room")
	for _, store := range loader.Stores {
		batch := small
		batch.Height, batch.Width = 200, 200
		b := &build{free: func(string) (int64, bool) { return math.MaxInt64, true }}
		err := b.make(t.Context(), map[string]string{store: root}, []Spec{{Form: Form{store, batch, ""}, Images: 40}})
		if !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", store, err)
		}
		if left, _ := os.ReadDir(root); len(left) > 0 {
			t.Errorf("%s left %v", store, left)
		}
	}
}
