package pagecache

import (
	"context"
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cacheTolerance is how far cachestat and mincore may differ: pages come and go
// between the two.
const cacheTolerance = 0.01

// cacheResidency returns which share of the files' pages is in the page cache,
// and by which method that is known. It reads none in, and takes some 20 us a
// small file and up to 0.1 s a GiB: see BenchmarkCacheResidency.
//
// Both methods lie at times: cachestat(2), since Linux 6.5, sees no page through
// overlayfs, and mincore(2) says that every page is cached to who neither owns
// the file nor may write to it. So both are asked, and when they disagree, or the
// only one is known to lie, the error is errCacheUnverifiable. When they differ
// within tolerance, the share is that which speaks less for a proof. (Reading
// with RWF_NOWAIT is no third way: it starts reading what is missing.)
func Residency(ctx context.Context, files []File) (share float64, method string, err error) {
	var c cacheCount
	page := int64(os.Getpagesize())
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return math.NaN(), "", err
		}
		fd, info, err := f.open()
		if err != nil {
			return math.NaN(), "", fmt.Errorf("look for cached pages: %w", err)
		}
		c.add(fd, info, f.pages(info.Size, page), page)
		unix.Close(fd)
	}
	return c.share()
}

// cacheCount counts pages.
type cacheCount struct {
	all    int64
	seen   int64 // by cachestat
	mapped int64 // by mincore

	noSeen, noMapped error // the first failure of each
	overlay, foreign bool  // of any file: cachestat, mincore would lie about it
	state            []byte
}

func (c *cacheCount) add(fd int, info unix.Stat_t, spans []Span, page int64) {
	c.overlay = c.overlay || isOverlay(fd)
	c.foreign = c.foreign || !mayAskMincore(fd, info)
	for _, s := range spans {
		c.all += s.Len / page
		if c.noSeen == nil {
			var stat unix.Cachestat_t
			c.noSeen = unix.Cachestat(uint(fd), &unix.CachestatRange{Off: uint64(s.Off), Len: uint64(s.Len)}, &stat, 0)
			c.seen += int64(min(stat.Cache, uint64(s.Len/page))) // a large folio may reach beyond
		}
		if c.noMapped == nil {
			c.noMapped = c.mincore(fd, s, page)
		}
	}
}

// mincore maps a span, part by part, without touching it.
func (c *cacheCount) mincore(fd int, s Span, page int64) error {
	const part = 256 << 20
	for s.Len > 0 {
		n := min(s.Len, part)
		m, err := unix.Mmap(fd, s.Off, int(n), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		if need := int(n / page); len(c.state) < need {
			c.state = make([]byte, need)
		}
		_, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])), uintptr(n), uintptr(unsafe.Pointer(&c.state[0])))
		unix.Munmap(m)
		if e != 0 {
			return e
		}
		for _, b := range c.state[:n/page] {
			c.mapped += int64(b & 1)
		}
		s.Off, s.Len = s.Off+n, s.Len-n
	}
	return nil
}

func (c *cacheCount) share() (share float64, method string, err error) {
	unverifiable := func(format string, args ...any) (float64, string, error) {
		return math.NaN(), "", fmt.Errorf("%w: %s", ErrUnverifiable, fmt.Sprintf(format, args...))
	}
	if c.all == 0 {
		return unverifiable("there are no bytes to look for")
	}
	seen, mapped := float64(c.seen)/float64(c.all), float64(c.mapped)/float64(c.all)
	switch {
	case c.noSeen != nil && c.noMapped != nil:
		return unverifiable("neither cachestat (%v) nor mincore (%v) works", c.noSeen, c.noMapped)
	case c.noSeen != nil && c.foreign:
		return unverifiable("cachestat does not work (%v), and mincore tells nothing of files that others own", c.noSeen)
	case c.noSeen != nil:
		return mapped, "mincore", nil
	case c.noMapped != nil && c.overlay:
		return unverifiable("mincore does not work (%v), and cachestat sees nothing through overlayfs", c.noMapped)
	case c.noMapped != nil:
		return seen, "cachestat", nil
	case math.Abs(seen-mapped) <= cacheTolerance:
		if mapped < 0.5 {
			return max(seen, mapped), "cachestat, mincore", nil
		}
		return min(seen, mapped), "cachestat, mincore", nil
	}
	reason := ""
	switch {
	case c.overlay:
		reason = ": cachestat sees nothing through overlayfs"
	case c.foreign:
		reason = ": mincore tells nothing of files that others own"
	}
	return unverifiable("cachestat sees %s of the pages in the cache, mincore %s%s", cachePercent(seen), cachePercent(mapped), reason)
}

// mayAskMincore repeats the kernel's condition for a truthful answer
// (can_do_mincore in mm/mincore.c), capabilities taken for those of root.
func mayAskMincore(fd int, info unix.Stat_t) bool {
	euid := os.Geteuid()
	return euid == 0 || uint32(euid) == info.Uid ||
		unix.Faccessat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.W_OK, unix.AT_EACCESS) == nil
}

func isOverlay(fd int) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(fd, &s) == nil && int64(s.Type) == unix.OVERLAYFS_SUPER_MAGIC
}
