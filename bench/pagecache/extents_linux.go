package pagecache

import (
	"context"
	"unsafe"

	"golang.org/x/sys/unix"
)

// From Linux's include/uapi/linux/fiemap.h.
const (
	fiemapIoctl     = 0xc020660b // FS_IOC_FIEMAP
	fiemapSync      = 0x1        // FIEMAP_FLAG_SYNC: write dirty pages first
	extentEncoded   = 0x8        // compressed or encrypted
	extentUnwritten = 0x800      // fallocate
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

// AllocationOf asks where whole files have their bytes. The file system's
// map of extents (FIEMAP) tells holes, unwritten and compressed extents; where
// there is none, the blocks that stat counts only tell holes. SEEK_DATA is no
// help: of unwritten extents it tells by what happens to be cached.
func AllocationOf(ctx context.Context, files []File) (Allocation, error) {
	a := Allocation{Method: "fiemap", Written: 1}
	var size, written, encoded int64
	m := new(fiemap)
	err := each(ctx, files, "look for holes", func(f *opened) error {
		w, e, err := m.read(f.fd, f.stat.Size)
		if err != nil {
			a.Method = "blocks"
			w, e = min(int64(f.stat.Blocks)*512, f.stat.Size), 0
		}
		size, written, encoded = size+f.stat.Size, written+w, encoded+e
		return nil
	})
	if size > 0 {
		a.Written, a.Compressed = float64(written)/float64(size), float64(encoded)/float64(size)
	}
	return a, err
}

// read sums the bytes of a file's extents up to its size.
func (m *fiemap) read(fd int, size int64) (written, encoded int64, err error) {
	for at := int64(0); at < size; {
		from := at
		m.start, m.length, m.flags = uint64(at), uint64(size-at), fiemapSync
		m.mapped, m.count = 0, uint32(len(m.extents))
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fiemapIoctl, uintptr(unsafe.Pointer(m)))
		if e != 0 {
			return 0, 0, e
		}
		n := min(int(m.mapped), len(m.extents))
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
		if at == from {
			break // a hole to the end
		}
	}
	return written, encoded, nil
}
