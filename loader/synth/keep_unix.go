//go:build unix

package synth

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keep gives dir the permissions and, as far as this process may, the owner that a
// folder had.
func keep(dir string, was fs.FileInfo) error {
	if st, ok := was.Sys().(*syscall.Stat_t); ok {
		if err := os.Lchown(dir, int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return os.Chmod(dir, was.Mode().Perm())
}
