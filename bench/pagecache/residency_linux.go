package pagecache

import (
	"context"
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tolerance is how far cachestat and mincore may differ: pages come and go between the
// two.
const tolerance = 0.01

// Residency returns which share of the files' pages is in the page cache. It reads none
// in, and takes some 20 us a small file and up to 0.1 s a GiB: see BenchmarkResidency.
//
// Both methods lie at times: cachestat(2), since Linux 6.5, sees no page through
// overlayfs, and mincore(2) says that every page is cached to who neither owns
// the file nor may write to it. So both are asked, and when they disagree, or the
// only one is known to lie, the error is ErrUnverifiable. When they differ
// within tolerance, the share is that which speaks less for a proof. (Reading
// with RWF_NOWAIT is no third method: it starts reading what is missing.)
func Residency(ctx context.Context, files []File) (share float64, err error) {
	var c count
	err = each(ctx, files, "look for cached pages", func(f *opened) error {
		c.add(f)
		return nil
	})
	if err != nil {
		return math.NaN(), err
	}
	return c.share()
}

// count counts pages.
type count struct {
	all    int64
	seen   int64 // by cachestat
	mapped int64 // by mincore

	noSeen, noMapped error // the first failure of each
	overlay, foreign bool  // of any file: cachestat, mincore would lie about it
	state            []byte
}

func (c *count) add(f *opened) {
	c.overlay = c.overlay || f.onOverlay()
	c.foreign = c.foreign || !f.mayAskMincore()
	for _, s := range f.pages {
		c.all += s.Len / pageSize
		if c.noSeen == nil {
			var stat unix.Cachestat_t
			part := unix.CachestatRange{Off: uint64(s.Off), Len: uint64(s.Len)}
			c.noSeen = unix.Cachestat(uint(f.fd), &part, &stat, 0)
			c.seen += int64(min(stat.Cache, uint64(s.Len/pageSize))) // a large folio may reach beyond
		}
		if c.noMapped == nil {
			c.noMapped = c.mincore(f.fd, s)
		}
	}
}

// mincore maps a span without touching it.
func (c *count) mincore(fd int, s Span) error {
	m, err := unix.Mmap(fd, s.Off, int(s.Len), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	defer unix.Munmap(m)
	pages := int(s.Len / pageSize)
	if len(c.state) < pages {
		c.state = make([]byte, pages)
	}
	_, _, e := unix.Syscall(unix.SYS_MINCORE,
		uintptr(unsafe.Pointer(&m[0])), uintptr(s.Len), uintptr(unsafe.Pointer(&c.state[0])))
	if e != 0 {
		return e
	}
	for _, b := range c.state[:pages] {
		c.mapped += int64(b & 1)
	}
	return nil
}

func (c *count) share() (share float64, err error) {
	if c.all == 0 {
		return math.NaN(), fmt.Errorf("%w: there are no bytes to look for", ErrUnverifiable)
	}
	seen, mapped := float64(c.seen)/float64(c.all), float64(c.mapped)/float64(c.all)
	switch differ := math.Abs(seen - mapped); {
	case c.noSeen == nil && c.noMapped == nil && differ <= tolerance && mapped < 0.5:
		return max(seen, mapped), nil
	case c.noSeen == nil && c.noMapped == nil && differ <= tolerance:
		return min(seen, mapped), nil
	case c.noSeen != nil && c.noMapped == nil && !c.foreign:
		return mapped, nil
	case c.noMapped != nil && c.noSeen == nil && !c.overlay:
		return seen, nil
	}
	said := func(share float64, err error, lies bool, of string) string {
		text := "sees " + percent(share) + " of the pages in the cache"
		if err != nil {
			text = "does not work (" + err.Error() + ")"
		}
		if lies {
			text += ", but knows nothing of " + of
		}
		return text
	}
	return math.NaN(), fmt.Errorf("%w: cachestat %s; mincore %s", ErrUnverifiable,
		said(seen, c.noSeen, c.overlay, "files on overlayfs"),
		said(mapped, c.noMapped, c.foreign, "files that others own"))
}

// mayAskMincore repeats the kernel's condition for a truthful answer
// (can_do_mincore in mm/mincore.c), capabilities taken for those of root.
func (f *opened) mayAskMincore() bool {
	euid := os.Geteuid()
	return euid == 0 || uint32(euid) == f.stat.Uid ||
		unix.Faccessat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.fd), unix.W_OK, unix.AT_EACCESS) == nil
}

func (f *opened) onOverlay() bool {
	var s unix.Statfs_t
	return unix.Fstatfs(f.fd, &s) == nil && int64(s.Type) == unix.OVERLAYFS_SUPER_MAGIC
}

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

// onDisk is the share of whole files' bytes that are on the disk as they are read. The file
// system's map of extents (FIEMAP) shows holes, unwritten and encoded extents; where there is
// none, the blocks that stat counts show holes and what was compressed away. SEEK_DATA is no
// help: what it says of unwritten extents depends on what is cached.
func onDisk(ctx context.Context, files []File) (share float64, err error) {
	var size, there int64
	m := new(fiemap)
	err = each(ctx, files, "look for holes", func(f *opened) error {
		n, err := m.read(f.fd, f.stat.Size)
		if err != nil {
			n = min(int64(f.stat.Blocks)*512, f.stat.Size)
		}
		size, there = size+f.stat.Size, there+n
		return nil
	})
	if size == 0 {
		return 1, err
	}
	return float64(there) / float64(size), err
}

// read sums the bytes of a file's extents up to its size.
func (m *fiemap) read(fd int, size int64) (there int64, err error) {
	for at := int64(0); at < size; {
		from := at
		m.start, m.length, m.flags = uint64(at), uint64(size-at), fiemapSync
		m.mapped, m.count = 0, uint32(len(m.extents))
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fiemapIoctl, uintptr(unsafe.Pointer(m)))
		if e != 0 {
			return 0, e
		}
		n := min(int(m.mapped), len(m.extents))
		for _, e := range m.extents[:n] {
			start, end := max(int64(e.logical), at), min(int64(e.logical+e.length), size)
			if start >= end {
				continue
			}
			if e.flags&(extentUnwritten|extentEncoded) == 0 {
				there += end - start
			}
			at = end
		}
		if at == from {
			break // a hole to the end
		}
	}
	return there, nil
}
