package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"dlbench/bench/hostmem"
	"dlbench/bench/pace"
)

// BlockBytes is up to how many bytes neighbouring samples are read together. Of 64
// KiB to 20 MiB, 2 MiB was among the fastest for 32 raw samples in a row, ms a batch
// of 19.44 MB (medians of 25): warm 1.6 (64 KiB 1.7, 20 MiB 2.7), direct 22 (21 to
// 25). Into huge pages it was 1.3 and 6.8: a smaller buffer is no huge page.
const BlockBytes = 2 << 20

// mostGap is how many bytes between two samples are read along rather than stepped
// over by a second read.
const mostGap = 64 << 10

// ReadOptions says how samples are read. The zero value reads through the page cache,
// with the kernel's read-ahead.
type ReadOptions struct {
	Direct bool // O_DIRECT: the page cache is bypassed

	// Disk stands in for a disk: bytes come from the page cache, and reads end when
	// it would have had them. Nil for none. Not together with Direct.
	Disk  *pace.Disk
	Clock pace.Clock // nil: pace.Real

	// Observe is given how long each read system call took, or each read of a simulated
	// disk or an object store. It runs on the reader's thread and must not allocate.
	Observe func(d time.Duration)

	// Memory is the bytes of each sample, by its index: nothing is opened or read, and
	// visits get these. Nil for none.
	Memory [][]byte

	// Of a remote store: the context of its requests, whether objects are read as streams, and what is
	// given how long each request took to its first byte.
	Context context.Context
	Stream  bool
	First   func(d time.Duration)

	// Missing is called with a sample that cannot be read, and why. If it returns true, Read goes on
	// with the next sample; else, and without it, Read returns the error. It is not called for errors
	// that are OfMachine: Read returns them.
	Missing func(sample int32, err error) bool

	Readers int // that share the process's limit on open files; 0 is 1
}

// Stats is what reading took. Nanos is the time in opening and reading, and in
// waiting for a simulated disk, not in visits.
type Stats struct {
	Samples   int
	Opens     int
	Reads     int   // system calls, or reads of a simulated disk
	Bytes     int64 // of the samples
	BytesRead int64 // with what lay between samples and what alignment added
	Nanos     int64
	Overruns  int // reads of a simulated disk that really took longer than it would have
}

func (s *Stats) Add(o Stats) {
	s.Samples += o.Samples
	s.Opens += o.Opens
	s.Reads += o.Reads
	s.Bytes += o.Bytes
	s.BytesRead += o.BytesRead
	s.Nanos += o.Nanos
	s.Overruns += o.Overruns
}

// Reader reads samples into a buffer of its own, by one system call after the other.
// It is for one goroutine, locked to its OS thread: a read that blocks keeps its
// processor for a while, so GOMAXPROCS should exceed the number of readers. Steady
// reading allocates nothing.
type Reader struct {
	set   *Set
	o     ReadOptions
	open  *opened
	align int64 // of direct reads, 1 otherwise
	buf   []byte
	pages string
	free  func() error
	stats Stats         // of a call of Read
	late  time.Duration // how long after the simulated disk was done the last wait ended, at most catchUp

	remote RemoteReader // nil for files
}

// NewReader makes a reader of s. Its buffer holds the largest sample, at least
// BlockBytes. The calling thread touches it, so that it lies on its memory node.
func NewReader(s *Set, o ReadOptions) (*Reader, error) {
	if o.Direct && o.Disk != nil || s.Remote != nil && (o.Direct || o.Disk != nil) {
		return nil, errors.New("want one of direct I/O, a simulated disk and an object store")
	}
	if o.Clock == nil {
		o.Clock = pace.Real
	}
	r := &Reader{set: s, o: o, align: 1}
	if o.Memory != nil {
		return r, nil
	}
	var err error
	if s.Remote != nil {
		r.remote = s.Remote.Reader(cmp.Or(o.Context, context.Background()), o.Stream)
	} else if r.open, err = newOpened(s, o); err != nil {
		return nil, err
	}
	size := s.BufferBytes()
	if o.Direct {
		r.align, err = r.open.align()
		// Outwards, at both ends, even if a file wants more than the first one did.
		size = roundUp(size, max(1, r.align)) + 2*max(r.align, BlockSize)
	}
	if err == nil {
		r.buf, r.pages, r.free, err = hostmem.Buffer(int(size))
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// BufferBytes is what a reader of s reads into at a time: the largest sample, and BlockBytes
// at least. Aligned for direct reads, its buffer takes up to two blocks more.
func (s *Set) BufferBytes() int64 {
	size := int64(BlockBytes)
	for i := range s.Samples {
		size = max(size, s.Samples[i].Len)
	}
	return size
}

func (r *Reader) Close() {
	if r.remote != nil {
		r.remote.Close()
	}
	if r.open != nil {
		r.open.close()
	}
	if r.free != nil {
		r.free()
		r.buf = nil
	}
}

// Read reads samples in their order and calls visit for each, if it is not nil, with
// its bytes: valid until visit returns. Neighbours in a file are read together. The
// error, of reading a sample or of visiting it, names its place; those before it were
// visited, or Missing was given them.
func (r *Reader) Read(samples []int32, visit func(sample int32, data []byte) error) (Stats, error) {
	r.stats = Stats{}
	if r.o.Memory != nil {
		for _, i := range samples {
			if err := r.visit(i, r.o.Memory[i], visit); err != nil {
				return r.stats, err
			}
		}
		return r.stats, nil
	}
	for len(samples) > 0 {
		run := r.run(samples)
		end, failed := r.fill(run)
		if failed == errRealigned {
			continue
		}
		for _, i := range samples[:run.n] {
			s := &r.set.Samples[i]
			samples = samples[1:]
			if failed != nil && s.Off+s.Len > end {
				if r.o.Missing == nil || OfMachine(failed) || !r.o.Missing(i, failed) {
					return r.stats, r.failed(i, max(end, s.Off), failed)
				}
				break // the samples after it may be readable: read them anew
			}
			at := s.Off - run.start
			if err := r.visit(i, r.buf[at:at+s.Len:at+s.Len], visit); err != nil {
				return r.stats, err
			}
		}
	}
	return r.stats, nil
}

func (r *Reader) visit(i int32, data []byte, visit func(sample int32, data []byte) error) error {
	r.stats.Samples++
	r.stats.Bytes += int64(len(data))
	if visit == nil {
		return nil
	}
	if err := visit(i, data); err != nil {
		return r.failed(i, r.set.Samples[i].Off, err)
	}
	return nil
}

// failed adds to an error the sample's file and the offset in it.
func (r *Reader) failed(sample int32, off int64, err error) error {
	at := Fault{Path: r.set.Files[r.set.Samples[sample].File].Path, Offset: off}
	return fmt.Errorf("%s: %w", at.At(), err)
}

// run is samples of one file that are read together.
type run struct {
	n          int   // of samples
	file       int32 // index into Set.Files
	start, end int64 // what is read: aligned outwards for direct reads
	need       int64 // end of the last sample
}

// run takes as many of samples as lie behind each other in one file and fit the block.
func (r *Reader) run(samples []int32) (u run) {
	for _, i := range samples {
		s := &r.set.Samples[i]
		if u.n == 0 {
			u = run{1, s.File, s.Off &^ (r.align - 1), 0, s.Off + s.Len}
			continue
		}
		if s.File != u.file || s.Off < u.need || s.Off-u.need > mostGap || s.Off+s.Len-u.start > BlockBytes {
			break
		}
		u.n++
		u.need = s.Off + s.Len
	}
	u.end = (u.need + r.align - 1) &^ (r.align - 1)
	return u
}

var (
	errTruncated = errors.New("the file is shorter than when the set was opened")
	errRealigned = errors.New("realigned")
)

// fill reads a run into the buffer, and returns the offset in the file up to which it is there:
// without an error at least that of the end of its last sample.
func (r *Reader) fill(u run) (at int64, err error) {
	if r.remote != nil {
		return r.fetch(u)
	}
	began := r.o.Clock.Now()
	asked, end := r.book(began, u)
	h, fresh, err := r.open.get(u.file)
	if err != nil {
		return u.start, limited(err)
	}
	ended := began
	if fresh {
		r.stats.Opens++
		ended = r.o.Clock.Now()
	}
	ended, at, err = r.pread(h, u, ended)
	if err != nil && r.o.Direct && errors.Is(err, syscall.EINVAL) {
		err = ErrNoDirect
		if r.realign(h, u) {
			err = errRealigned
		}
	}
	if r.o.Disk != nil {
		ended = r.wait(asked, end, ended)
	}
	r.stats.Nanos += int64(ended - began)
	return at, err
}

// pread reads a run, by one system call unless the kernel stops short, from the time
// on that the clock showed last. It returns when it ended, and the offset that it got to.
func (r *Reader) pread(h handle, u run, began time.Duration) (ended time.Duration, at int64, err error) {
	for at = u.start; at < u.need; {
		n, err := h.pread(r.buf[at-u.start:u.end-u.start], at)
		ended = r.o.Clock.Now()
		if err != nil {
			return ended, at, err
		}
		if r.o.Disk == nil {
			r.countRead(ended - began)
		}
		r.stats.BytesRead += int64(n)
		began = ended
		at += int64(n)
		// The next direct read would not be aligned: the file ends here.
		if n == 0 || at < u.need && at&(r.align-1) != 0 {
			return ended, at, errTruncated
		}
	}
	return ended, at, nil
}

// countRead counts a read, and gives its time to Observe.
func (r *Reader) countRead(took time.Duration) {
	r.stats.Reads++
	if r.o.Observe != nil {
		r.o.Observe(took)
	}
}

// realign adopts the alignment that a file wants, if it is coarser than the one so
// far: that of the first file need not be that of a file on another device.
func (r *Reader) realign(h handle, u run) bool {
	align, err := directAlign(h)
	if err != nil || align <= r.align || u.need-u.start+2*align > int64(len(r.buf)) {
		return false
	}
	r.align = align
	return true
}

// catchUp bounds what a reader makes up for. A wait ends late, by microseconds on a
// quiet machine and by some time slices of other programs, 3 to 7.5 ms, on a busy one; the
// next read was then asked for when the last one was due, so that lateness does not
// add up. More than that is not made up for: a disk does not, and a burst of reads
// after a long stop would be faster than it.
const catchUp = 10 * time.Millisecond

// book books a run at the simulated disk, if there is one, and returns when it was asked for by
// the disk's time and when it is done.
func (r *Reader) book(now time.Duration, u run) (at, end time.Duration) {
	if r.o.Disk == nil {
		return 0, 0
	}
	at = now - r.late
	return at, r.o.Disk.Reserve(at, int(u.file), u.start, int(u.end-u.start))
}

// wait waits for the simulated disk to end a read at the time end, and returns when it went on. The read
// was asked for at the time at, and its bytes were really there at the time done.
func (r *Reader) wait(at, end, done time.Duration) (now time.Duration) {
	if done > end {
		r.stats.Overruns++
	}
	r.o.Clock.Until(end)
	now = r.o.Clock.Now()
	r.late = min(now-end, catchUp)
	r.countRead(max(done, end) - at)
	return now
}
