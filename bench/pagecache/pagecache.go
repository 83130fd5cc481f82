package pagecache

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"dlbench/results"
)

var (
	// errCacheNotSupported says that this system has no means to see or to
	// empty the page cache.
	ErrNotSupported = errors.New("the page cache cannot be controlled on this system")
	// errCacheNeedsRoot says that dropping every cache is not allowed to us.
	errCacheNeedsRoot = errors.New("dropping all caches needs root, outside of a container")
	// errCacheUnverifiable says that nobody tells the truth about what is cached;
	// the reason follows.
	ErrUnverifiable = errors.New("cannot be verified here")
)

// cacheSpan is a range of bytes of a file.
type Span struct{ Off, Len int64 }

// cacheFile is a file, or spans of it; none for all of it. What the page cache
// holds of it is whole pages, so spans are rounded outwards to pages.
type File struct {
	Path  string
	Spans []Span
}

// pages lists the spans of a file of that size in bytes, rounded to pages and cut
// at the end of the page that holds the last byte.
func (f File) pages(size, page int64) []Span {
	end := (size + page - 1) / page * page
	if f.Spans == nil {
		return []Span{{0, end}}
	}
	spans := make([]Span, 0, len(f.Spans))
	for _, s := range f.Spans {
		off := max(s.Off, 0)
		from, to := off/page*page, end
		if s.Len < size-off { // else it reaches the end, or beyond
			to = (off + s.Len + page - 1) / page * page
		}
		if s.Len > 0 && from < to {
			spans = append(spans, Span{from, to - from})
		}
	}
	return spans
}

// processIO is what this process has read so far, all threads.
type processIO struct {
	ReadBytes int64 // from block devices, read ahead included
	Asked     int64 // by read(2) and its kin: rchar
	Calls     int64 // of read(2) and its kin: syscr
}

// readProcessIO reads /proc/self/io below root; ok is false where there is none
// or a container denies it. Source: proc_pid_io(5).
func readProcessIO(root string) (io processIO, ok bool) {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/io"))
	if err != nil {
		return processIO{}, false
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch name {
		case "read_bytes":
			io.ReadBytes = n
		case "rchar":
			io.Asked = n
		case "syscr":
			io.Calls = n
		default:
			continue
		}
		found++
	}
	if found < 3 {
		return processIO{}, false
	}
	return io, true
}

// cacheControlled tells whether this system's page cache can be emptied of files, and be
// bypassed; notControlled says that it cannot.
const (
	Controlled    = runtime.GOOS == "linux"
	NotControlled = "the page cache cannot be controlled on this system"
)

// inMemoryOnly says why a disk of memory has no cold reads.
func InMemoryOnly(d results.Disk) string {
	return "the data lies in memory (" + d.FileSystem + "): nothing of it is cold, and direct reads reach no disk"
}
