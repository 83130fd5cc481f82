package pagecache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// evictFiles drops files' pages from the page cache, without root: dirty ones are
// written first, since only clean ones go. Inodes and folders stay cached, and so
// do pages that a process has mapped or that are being read: see cacheResidency.
func Evict(ctx context.Context, files []File) error {
	page := int64(os.Getpagesize())
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.evict(page); err != nil {
			return fmt.Errorf("evict from the page cache: %w", err)
		}
	}
	return nil
}

func (f File) evict(page int64) error {
	fd, info, err := f.open()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if mayBeDirty(fd) {
		err := ignoringEINTR(func() error { return unix.Fdatasync(fd) })
		if err != nil && err != unix.EINVAL && err != unix.EROFS { // a file system without it, or nothing to write
			return &fs.PathError{Op: "fdatasync", Path: f.Path, Err: err}
		}
	}
	for _, s := range f.pages(info.Size, page) {
		if err := unix.Fadvise(fd, s.Off, s.Len, unix.FADV_DONTNEED); err != nil {
			return &fs.PathError{Op: "fadvise", Path: f.Path, Err: err}
		}
	}
	if f.Spans == nil {
		return nil
	}
	// A folio of many pages is dropped as a whole or not at all; those that reach
	// beyond a span go with the rest of the file.
	var c cacheCount
	c.add(fd, info, f.pages(info.Size, page), page)
	if c.seen == 0 && c.mapped == 0 {
		return nil
	}
	if err := unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED); err != nil {
		return &fs.PathError{Op: "fadvise", Path: f.Path, Err: err}
	}
	return nil
}

// open opens a regular file for reading.
func (f File) open() (fd int, info unix.Stat_t, err error) {
	err = ignoringEINTR(func() (err error) {
		fd, err = unix.Open(f.Path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return -1, info, &fs.PathError{Op: "open", Path: f.Path, Err: err}
	}
	if err = unix.Fstat(fd, &info); err == nil && info.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errors.New("not a regular file")
	}
	if err != nil {
		unix.Close(fd)
		return -1, info, &fs.PathError{Op: "stat", Path: f.Path, Err: err}
	}
	return fd, info, nil
}

// mayBeDirty asks if a file has pages to write. fdatasync of a clean file may
// still flush the disk's own cache, which for thousands of files takes seconds.
func mayBeDirty(fd int) bool {
	var c unix.Cachestat_t
	if err := unix.Cachestat(uint(fd), &unix.CachestatRange{}, &c, 0); err != nil || isOverlay(fd) {
		return true
	}
	return c.Dirty > 0 || c.Writeback > 0
}

// evictAll drops every page, inode and folder that the kernel has cached, which
// needs root.
func EvictAll() error {
	unix.Sync()
	return dropCaches("/proc/sys/vm/drop_caches")
}

func dropCaches(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("3\n")
		err = errors.Join(err, f.Close())
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return fmt.Errorf("%w: %w", errCacheNeedsRoot, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrNotSupported, err)
	}
	return err
}

// warmFiles reads files, or their spans, once through, in order, and returns how
// many bytes that were. A span may reach beyond the end of its file.
func Load(ctx context.Context, files []File) (n int64, err error) {
	buf := make([]byte, 1<<20)
	page := int64(os.Getpagesize())
	for _, f := range files {
		fd, info, err := f.open()
		if err != nil {
			return n, fmt.Errorf("read into the page cache: %w", err)
		}
		for _, s := range f.pages(info.Size, page) {
			m, err := warmSpan(ctx, fd, s, buf)
			n += m
			if err != nil {
				unix.Close(fd)
				return n, fmt.Errorf("read %s into the page cache: %w", f.Path, err)
			}
		}
		unix.Close(fd)
	}
	return n, nil
}

func warmSpan(ctx context.Context, fd int, s Span, buf []byte) (n int64, err error) {
	for n < s.Len {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		m, err := unix.Pread(fd, buf[:min(int64(len(buf)), s.Len-n)], s.Off+n)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, fmt.Errorf("at %d: %w", s.Off+n, err)
		}
		if m == 0 {
			return n, nil // the end
		}
		n += int64(m)
	}
	return n, nil
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}
