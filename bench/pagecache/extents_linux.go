package pagecache

import (
	"context"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// From Linux's include/uapi/linux/fiemap.h.
const (
	fiemapIoctl     = 0xc020660b // FS_IOC_FIEMAP
	fiemapSync      = 0x1        // FIEMAP_FLAG_SYNC: write dirty pages first
	extentLast      = 0x1
	extentEncoded   = 0x8   // compressed or encrypted
	extentUnwritten = 0x800 // fallocate
)

type fiemapExtent struct {
	logical, physical, length uint64
	_                         [2]uint64
	flags                     uint32
	_                         [3]uint32
}

type fiemap struct {
	start, length                uint64
	flags, mapped, count, unused uint32
	extents                      [128]fiemapExtent
}

// fileAllocationOf asks where whole files have their bytes. The file system's
// map of extents (FIEMAP) tells holes, unwritten and compressed extents; where
// there is none, the blocks that stat counts only tell holes. SEEK_DATA is no
// help: of unwritten extents it tells by what happens to be cached.
func AllocationOf(ctx context.Context, files []File) (fileAllocation, error) {
	a := fileAllocation{Method: "fiemap"}
	var size, written, encoded int64
	m := new(fiemap)
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return fileAllocation{}, err
		}
		fd, info, err := f.open()
		if err != nil {
			return fileAllocation{}, fmt.Errorf("look for holes: %w", err)
		}
		w, e, err := m.read(fd, info.Size)
		unix.Close(fd)
		if err != nil {
			a.Method = "blocks"
			w, e = min(int64(info.Blocks)*512, info.Size), 0
		}
		size, written, encoded = size+info.Size, written+w, encoded+e
	}
	if size == 0 {
		a.Written = 1
		return a, nil
	}
	a.Written, a.Compressed = float64(written)/float64(size), float64(encoded)/float64(size)
	return a, nil
}

// read sums the bytes of a file's extents up to its size.
func (m *fiemap) read(fd int, size int64) (written, encoded int64, err error) {
	for at := int64(0); at < size; {
		from := at
		m.start, m.length, m.flags, m.mapped, m.count = uint64(at), uint64(size-at), fiemapSync, 0, uint32(len(m.extents))
		err := ignoringEINTR(func() error {
			if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fiemapIoctl, uintptr(unsafe.Pointer(m))); e != 0 {
				return e
			}
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
		n := min(int(m.mapped), len(m.extents))
		if n == 0 {
			break // a hole to the end
		}
		for _, e := range m.extents[:n] {
			start, end := max(int64(e.logical), at), min(int64(e.logical+e.length), size)
			if start >= end {
				continue
			}
			if e.flags&extentUnwritten == 0 {
				written += end - start
			}
			if e.flags&extentEncoded != 0 {
				encoded += end - start
			}
			at = end
		}
		if m.extents[n-1].flags&extentLast != 0 || at == from {
			break
		}
	}
	return written, encoded, nil
}
