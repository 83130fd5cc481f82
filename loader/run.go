package loader

import (
	"errors"
	"fmt"
	"time"
)

// BlockBytes is up to how many bytes neighbouring samples are read together. Of 64
// KiB to 20 MiB, 2 MiB was among the fastest for 32 raw samples in a row, ms a batch
// of 19.44 MB (medians of 25): warm 1.6 (64 KiB 1.7, 20 MiB 2.7), direct 22 (21 to
// 25). Into huge pages it was 1.3 and 6.8: a smaller buffer is no huge page.
const BlockBytes = 2 << 20

// mostGap is how many bytes between two samples are read along rather than stepped
// over by a second read.
const mostGap = 64 << 10

// run is samples of one file that are read together.
type run struct {
	n          int   // of samples
	file       int32 // index into Set.Files
	start, end int64 // what is read: aligned outwards for direct reads
	need       int64 // end of the last sample
}

// run takes as many of samples as lie behind each other in one file and fit the block.
func (r *Reader) run(samples []int32) (run, error) {
	var u run
	for _, i := range samples {
		if i < 0 || int(i) >= len(r.set.Samples) {
			return u, fmt.Errorf("sample %d of a set of %d", i, len(r.set.Samples))
		}
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
	return u, nil
}

// errRealigned says that a run must be laid out anew.
var errRealigned = errors.New("realigned")

// fill reads a run into the buffer.
func (r *Reader) fill(samples []int32, u run, st *Stats) error {
	began := r.o.Clock.Now()
	booked := r.pacer.book(began, int(u.file), u.start, int(u.end-u.start))
	h, fresh, err := r.open.get(u.file)
	if err != nil {
		if err == ErrTooManyOpen {
			err = fmt.Errorf("%w: the limit is %d; raise it (ulimit -n) or use fewer readers", err, openLimit())
		}
		return r.failed(samples[0], r.set.Samples[samples[0]].Off, err)
	}
	ended := began
	if fresh {
		st.Opens++
		ended = r.o.Clock.Now()
	}
	ended, at, err := r.pread(h, u, ended, st)
	if err != nil && r.o.Direct && isInvalid(err) {
		if r.realign(h, u) {
			return errRealigned
		}
		err = ErrNoDirect
	}
	if err != nil {
		for len(samples) > 1 && r.set.Samples[samples[0]].Off+r.set.Samples[samples[0]].Len <= at {
			samples = samples[1:] // is wholly there
		}
		return r.failed(samples[0], at, err)
	}
	if r.o.Disk != nil {
		var took time.Duration
		ended, took = r.pacer.wait(booked, ended, st)
		if r.o.Observe != nil {
			r.o.Observe(took, int(u.end-u.start))
		}
	}
	st.Nanos += int64(ended - began)
	return nil
}

// pread reads a run, by one system call unless the kernel stops short, from the time
// on that the clock showed last. It returns when it ended, and with an error the
// offset that it got to.
func (r *Reader) pread(h handle, u run, began time.Duration, st *Stats) (ended time.Duration, at int64, err error) {
	for at = u.start; at < u.need; {
		n, err := h.pread(r.buf[at-u.start:u.end-u.start], at)
		ended = r.o.Clock.Now()
		if err != nil {
			return ended, at, err
		}
		if r.o.Disk == nil {
			st.Reads++
			if r.o.Observe != nil {
				r.o.Observe(ended-began, n)
			}
		}
		st.BytesRead += int64(n)
		began = ended
		at += int64(n)
		// The next direct read would not be aligned: the file ends here.
		if n == 0 || at < u.need && at&(r.align-1) != 0 {
			return ended, at, ErrTruncated
		}
	}
	return ended, at, nil
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
