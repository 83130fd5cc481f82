package pagecache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var pageSize = int64(os.Getpagesize())

// opened is a regular file that is open for reading.
type opened struct {
	*os.File
	fd    int
	stat  *syscall.Stat_t
	pages []Span
}

func (f File) open() (*opened, error) {
	file, err := os.OpenFile(f.Path, os.O_RDONLY|unix.O_NONBLOCK, 0) // no wait for a pipe's other end
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "stat", Path: f.Path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &opened{file, int(file.Fd()), info.Sys().(*syscall.Stat_t), f.pages(info.Size(), pageSize)}, nil
}

// each opens files, one after the other, for what is to be done with them. An error says
// what that was.
func each(ctx context.Context, files []File, doing string, do func(*opened) error) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		file, err := f.open()
		if err == nil {
			err = do(file)
			file.Close()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return nil
}

// Evict drops files' pages from the page cache, without root: dirty ones are
// written first, since only clean ones go. Inodes and folders stay cached, and so
// do pages that a process has mapped or that are being read: see Residency. A file
// goes as a whole, whatever its spans: folios of many pages that reach beyond a
// span would stay.
func Evict(ctx context.Context, files []File) error {
	return each(ctx, files, "evict from the page cache", (*opened).evict)
}

func (f *opened) evict() error {
	if f.mayBeDirty() {
		err := f.Sync()
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EROFS) { // cannot, or nothing to write
			return err
		}
	}
	if err := unix.Fadvise(f.fd, 0, 0, unix.FADV_DONTNEED); err != nil {
		return &fs.PathError{Op: "fadvise", Path: f.Name(), Err: err}
	}
	return nil
}

// mayBeDirty asks if a file has pages to write. Syncing a clean file may
// still flush the disk's own cache, which for thousands of files takes seconds.
func (f *opened) mayBeDirty() bool {
	var c unix.Cachestat_t
	if err := unix.Cachestat(uint(f.fd), &unix.CachestatRange{}, &c, 0); err != nil || f.onOverlay() {
		return true
	}
	return c.Dirty > 0 || c.Writeback > 0
}

// EvictAll drops every page, inode and folder that the kernel has cached, which
// needs root.
func EvictAll() error {
	unix.Sync()
	return dropCaches("/proc/sys/vm/drop_caches")
}

func dropCaches(file string) error {
	err := os.WriteFile(file, []byte("3\n"), 0o200)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		err = fmt.Errorf("dropping all caches needs root, outside of a container: %w", err)
	}
	return err
}

// Load reads files, or their spans, once through, in order, and returns how
// many bytes that were. A span may reach beyond the end of its file.
func Load(ctx context.Context, files []File) (n int64, err error) {
	buf := make([]byte, 1<<20)
	err = each(ctx, files, "read into the page cache", func(f *opened) error {
		for _, s := range f.pages {
			if err := ctx.Err(); err != nil {
				return err
			}
			m, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.NewSectionReader(f, s.Off, s.Len), buf)
			n += m
			if err != nil {
				return fmt.Errorf("at %d: %w", s.Off+m, err)
			}
		}
		return nil
	})
	return n, err
}
