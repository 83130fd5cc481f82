package loader

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// statAt returns mode and size of a file in an opened directory, links followed.
func statAt(dir *os.File, _, name string) (fs.FileMode, int64, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(int(dir.Fd()), name, &st, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		break
	}
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	default:
		mode |= fs.ModeIrregular
	}
	return mode, st.Size, nil
}

// readable says whether this process may read a file of an opened directory.
func readable(dir *os.File, _, name string) bool {
	return unix.Faccessat(int(dir.Fd()), name, unix.R_OK, unix.AT_EACCESS) == nil
}
