package loader

import (
	"errors"
	"fmt"
	"time"

	"dlbench/bench/pace"
)

// ReadOptions says how samples are read. The zero value reads through the page cache,
// with the kernel's read-ahead.
type ReadOptions struct {
	Direct bool // O_DIRECT: the page cache is bypassed
	Random bool // FADV_RANDOM: no read-ahead

	// Disk stands in for a disk: bytes come from the page cache, and reads end when
	// it would have had them. Nil for none. Not together with Direct.
	Disk  *pace.Disk
	Clock pace.Clock // nil: pace.Real

	// Observe is given each read system call, or each read of an emulated disk: how
	// long it took and how many bytes it brought. It runs on the reader's thread and
	// must not allocate.
	Observe func(d time.Duration, n int)

	// Memory is the bytes of each sample, by its index: nothing is read, and visits get
	// these. Nil for none.
	Memory [][]byte

	HugePages bool // try for huge pages in the buffer; Reader.Pages says what it got
	Readers   int  // that share the process's limit on open files; 0 is 1
}

// Stats is what reading took. Nanos is the time in opening and reading, and in
// waiting for an emulated disk, not in visits.
type Stats struct {
	Samples   int
	Opens     int
	Reads     int   // system calls, or reads of an emulated disk
	Bytes     int64 // of the samples
	BytesRead int64 // with what lay between samples and what alignment added
	Nanos     int64
	Overruns  int // reads of an emulated disk that really took longer than it would have
}

// Add adds what another read took.
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
	root  *root
	open  *opened
	align int64 // of direct reads, 1 otherwise
	buf   []byte
	pages string
	free  func() error
	pacer pacer
}

// NewReader makes a reader of s. Its buffer holds the largest sample, at least
// BlockBytes. The calling thread touches it, so that it lies on its memory node.
func NewReader(s *Set, o ReadOptions) (*Reader, error) {
	if o.Direct && o.Disk != nil {
		return nil, errors.New("an emulated disk reads from the page cache: not with direct I/O")
	}
	if o.Direct && !canDirect {
		return nil, fmt.Errorf("%w on this system", ErrNoDirect)
	}
	if o.Clock == nil {
		o.Clock = pace.Real
	}
	if len(s.Samples) == 0 {
		return nil, ErrNoSamples
	}
	dir, err := openRoot(s.Root)
	if err != nil {
		return nil, err
	}
	r := &Reader{set: s, o: o, root: dir, open: newOpened(dir, s, o), align: 1, pacer: pacer{disk: o.Disk, clock: o.Clock}}
	if err := r.prepare(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// prepare finds the alignment and makes the buffer.
func (r *Reader) prepare() error {
	if r.o.Direct {
		first := r.set.Samples[0].File
		h, _, err := r.open.get(first)
		if err == nil {
			r.align, err = directAlign(h)
		}
		if err != nil {
			return &SampleError{0, r.set.Files[first].Path, 0, err}
		}
	}
	size := int64(BlockBytes)
	for _, s := range r.set.Samples {
		size = max(size, s.Len)
	}
	if r.o.Direct {
		// Aligning outwards takes up to a block at both ends, even if a file wants more
		// than the first one did.
		size = roundUp(size, r.align) + 2*max(r.align, BlockSize)
	}
	var err error
	r.buf, r.pages, r.free, err = AlignedBuffer(int(size), r.o.HugePages)
	return err
}

// Pages is the kind of pages of the buffer, one of the Pages constants.
func (r *Reader) Pages() string { return r.pages }

// BufferBytes is the size of the buffer.
func (r *Reader) BufferBytes() int { return len(r.buf) }

// Align is what reads are aligned to, in bytes: 1 unless they are direct.
func (r *Reader) Align() int64 { return r.align }

// Close closes the files and gives the buffer back.
func (r *Reader) Close() error {
	r.open.close()
	err := r.root.close()
	if r.free != nil {
		err = errors.Join(err, r.free())
		r.buf = nil
	}
	return err
}

// Read reads samples in their order and calls visit for each, if it is not nil, with
// its bytes: valid until visit returns. Neighbours in a file are read together. The
// error, of reading a sample or of visiting it, is a *SampleError; those read before
// it were visited.
func (r *Reader) Read(samples []int32, visit func(sample int32, data []byte) error) (Stats, error) {
	var st Stats
	if r.o.Memory != nil {
		for _, i := range samples {
			st.Samples++
			st.Bytes += int64(len(r.o.Memory[i]))
			if visit == nil {
				continue
			}
			if err := visit(i, r.o.Memory[i]); err != nil {
				return st, r.failed(i, r.set.Samples[i].Off, err)
			}
		}
		return st, nil
	}
	for len(samples) > 0 {
		run, err := r.run(samples)
		if err != nil {
			return st, err
		}
		if err := r.fill(samples, run, &st); err == errRealigned {
			continue
		} else if err != nil {
			return st, err
		}
		for _, i := range samples[:run.n] {
			s := &r.set.Samples[i]
			st.Samples++
			st.Bytes += s.Len
			if visit == nil {
				continue
			}
			at := s.Off - run.start
			if err := visit(i, r.buf[at:at+s.Len:at+s.Len]); err != nil {
				return st, r.failed(i, s.Off, err)
			}
		}
		samples = samples[run.n:]
	}
	return st, nil
}

func (r *Reader) failed(sample int32, off int64, err error) error {
	return &SampleError{sample, r.set.Files[r.set.Samples[sample].File].Path, off, err}
}
