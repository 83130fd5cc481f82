package loader

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
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
	align := int64(st.Dio_offset_align)
	if st.Dio_read_offset_align != 0 { // reads may be finer than writes
		align = int64(st.Dio_read_offset_align)
	}
	if align == 0 {
		return 0, ErrNoDirect
	}
	if memory := int64(st.Dio_mem_align); memory > BlockSize || align&(align-1) != 0 || align > 1<<20 {
		return 0, fmt.Errorf("%w: alignment %d in the file, %d in memory", ErrNoDirect, align, memory)
	}
	return align, nil
}

func openLimit() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 1024
	}
	return int(min(l.Cur, 1<<20))
}

// adviseRandom asks for no read-ahead: indexing reads headers alone.
func adviseRandom(f *os.File) { unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) }

// canDirect says whether direct I/O can be asked for at all.
const canDirect = true

// mostHuge is the largest huge page worth rounding a buffer up to. With base pages
// of 64 KiB, arm64 has huge ones of 512 MiB.
const mostHuge = 32 << 20

// AlignedBuffer returns n bytes outside the Go heap, aligned to at least BlockSize
// and touched by the calling thread, so that they lie on its memory node. It tries for
// huge pages, of which it takes whole ones; kind, one of the Pages constants, is what it
// got. Direct reads into huge pages took a third of the time: of 18.5 MiB 7.4 ms instead
// of 24 (medians, one reader, virtio). The buffer is gone after free, which may be called
// again.
func AlignedBuffer(n int) (buf []byte, kind string, free func() error, err error) {
	n = max(n, 1)
	page := hugePageSize()
	if page > mostHuge {
		buf, free, err = mapped(n, 0)
		touch(buf)
		return buf, PagesBase, free, err
	}
	length := int(roundUp(int64(n), int64(page)))
	// A page more, to start at a huge page's boundary.
	whole, free, err := mapped(length+page, unix.MAP_NORESERVE)
	if err != nil {
		return nil, "", nil, err
	}
	skip := -int(uintptr(unsafe.Pointer(&whole[0]))) & (page - 1)
	buf = whole[skip : skip+length]
	unix.Madvise(buf, unix.MADV_HUGEPAGE) // the outcome counts, not the answer
	touch(buf)
	if huge, _ := HugeBytes(buf); huge >= length/10*9 {
		return buf[:n:n], PagesTHP, free, nil
	}
	if reserved, freeReserved, err := mapped(length, unix.MAP_HUGETLB); err == nil {
		free()
		touch(reserved)
		return reserved[:n:n], PagesHugeTLB, freeReserved, nil
	}
	return buf[:n:n], PagesBase, free, nil
}

func mapped(n, flags int) (buf []byte, free func() error, err error) {
	buf, err = unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|flags)
	if err != nil {
		return nil, nil, fmt.Errorf("a buffer of %d bytes: %w", n, err)
	}
	whole := buf
	return buf, func() error {
		if whole == nil {
			return nil
		}
		err := unix.Munmap(whole)
		whole = nil
		return err
	}, nil
}

func touch(buf []byte) {
	for i := 0; i < len(buf); i += BlockSize {
		buf[i] = 1
	}
}

func hugePageSize() int {
	text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
	n, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil && bad == nil && n >= BlockSize && n&(n-1) == 0 {
		return n
	}
	return 2 << 20
}

// HugeBytes is how much of a buffer lies in transparent huge pages, by
// /proc/self/smaps; known is false where that does not tell.
func HugeBytes(buf []byte) (huge int, known bool) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil || len(buf) == 0 {
		return 0, false
	}
	defer f.Close()
	start := uint64(uintptr(unsafe.Pointer(&buf[0])))
	return hugeIn(f, start, start+uint64(len(buf)))
}

// hugeIn is HugeBytes of the memory from start to end.
func hugeIn(smaps io.Reader, start, end uint64) (huge int, known bool) {
	inside := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		var lo, hi uint64
		var kb int
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &lo, &hi); n == 2 {
			inside = lo < end && hi > start
			known = known || inside
		} else if n, _ := fmt.Sscanf(lines.Text(), "AnonHugePages: %d", &kb); n == 1 && inside {
			huge += kb << 10
		}
	}
	return min(huge, int(end-start)), known
}
