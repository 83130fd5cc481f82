package loader

import (
	"cmp"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// root opens files below a directory without allocating.
type root struct {
	fd   int
	path [unix.PathMax]byte
}

func openRoot(dir string) (*root, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return &root{fd: fd}, nil
}

func (r *root) close() error { return unix.Close(r.fd) }

type handle struct{ fd int }

// open opens a file by its path below the root. O_NONBLOCK keeps it from waiting for
// a writer where a file was replaced by a named pipe.
func (r *root) open(rel string, direct bool) (handle, error) {
	if len(rel) >= len(r.path) {
		return handle{}, unix.ENAMETOOLONG
	}
	r.path[copy(r.path[:], rel)] = 0
	flags := unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_LARGEFILE
	if direct {
		flags |= unix.O_DIRECT
	}
	for {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(r.fd), uintptr(unsafe.Pointer(&r.path[0])),
			uintptr(flags), 0, 0, 0)
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EMFILE:
			return handle{}, ErrTooManyOpen
		case errno == unix.EINVAL && direct:
			return handle{}, ErrNoDirect
		case errno != 0:
			return handle{}, errno
		}
		return handle{int(fd)}, nil
	}
}

func (h handle) close() error { return unix.Close(h.fd) }

// pread reads at off; 0 bytes are the end of the file.
func (h handle) pread(buf []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(h.fd, buf, off)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// directAlign is what direct reads of a file must be aligned to, in memory and in
// the file: what statx says, BlockSize where it says nothing.
func directAlign(h handle) (int64, error) {
	var st unix.Statx_t
	err := unix.Statx(h.fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st)
	if err != nil || st.Mask&unix.STATX_DIOALIGN == 0 {
		return BlockSize, nil
	}
	align := int64(cmp.Or(st.Dio_read_offset_align, st.Dio_offset_align)) // reads may be finer than writes
	if memory := int64(st.Dio_mem_align); memory > BlockSize || align < 1 || align&(align-1) != 0 || align > 1<<20 {
		return 0, fmt.Errorf("%w: alignment %d in the file, %d in memory", ErrNoDirect, align, memory)
	}
	return align, nil
}

func openLimit() int {
	var l unix.Rlimit
	unix.Getrlimit(unix.RLIMIT_NOFILE, &l) // which cannot fail
	return int(min(l.Cur, 1<<20))
}

// adviseRandom asks for no read-ahead: indexing reads headers alone.
func adviseRandom(f *os.File) { unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) }
