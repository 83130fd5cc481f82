// Package pagecache evicts files from the kernel's page cache, reads them into it, finds
// what is cached of them, and judges whether reads went to the disk or not.
package pagecache

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"dlbench/results"
)

// Controlled says whether this system's page cache can be emptied of files, and be
// bypassed.
const Controlled = runtime.GOOS == "linux"

var (
	// ErrNotSupported says that this system has no means to see or to empty the page
	// cache.
	ErrNotSupported = errors.New("the page cache cannot be controlled on this system")
	// ErrUnverifiable says that the kernel does not say truly what is cached; the
	// reason follows.
	ErrUnverifiable = errors.New("cannot be verified here")
)

// CachedOnly says why all reads from a disk are from memory, "" where they need not be.
func CachedOnly(d results.Disk) string {
	switch {
	case d.Kind == results.DiskMemory:
		return "the data lies in memory (" + d.FileSystem + "): nothing of it is cold, and direct reads reach no disk"
	case !Controlled:
		return ErrNotSupported.Error()
	}
	return ""
}

// Span is a range of bytes of a file.
type Span struct{ Off, Len int64 }

// File is a file, or spans of it; none for all of it. What is cached of it is
// whole pages, so spans are rounded outwards to pages.
type File struct {
	Path  string
	Spans []Span
}

// pages lists the spans of a file of that size in bytes, rounded to pages and cut
// at the end of the page that holds the last byte.
func (f File) pages(size, page int64) []Span {
	end := (size + page - 1) / page * page
	all := f.Spans
	if all == nil {
		all = []Span{{0, size}}
	}
	spans := make([]Span, 0, len(all))
	for _, s := range all {
		from, to := s.Off/page*page, min(end, (s.Off+s.Len+page-1)/page*page)
		if s.Len > 0 && from < to {
			spans = append(spans, Span{from, to - from})
		}
	}
	return spans
}

// Sparse warns of files that may read faster than their disk.
func Sparse(ctx context.Context, files []File) (w []string) {
	if share, err := onDisk(ctx, files); err == nil && share < fromDisk {
		w = append(w, fmt.Sprintf("%s of the files' bytes are not on the disk as they are read: holes, never written, "+
			"compressed or encrypted", percent(1-share)))
	}
	return w
}
