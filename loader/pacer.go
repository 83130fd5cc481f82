package loader

import (
	"time"

	"dlbench/bench/pace"
)

// catchUp bounds what a reader makes up for. A wait ends late, by microseconds on a
// quiet machine and by some turns of other programs, 3 to 7.5 ms, on a busy one; the
// next read was then asked for when the last one was due, so that lateness does not
// add up. More than that is not made up for: a disk does not, and a burst of reads
// after a long stop would be faster than it.
const catchUp = 10 * time.Millisecond

// pacer holds the reads of one reader to the times of an emulated disk.
type pacer struct {
	disk  *pace.Disk
	clock pace.Clock
	late  time.Duration // the reader's time less the disk's, after the last wait
}

// booking is a read of an emulated disk: asked for and done.
type booking struct{ at, end time.Duration }

// book asks the disk for a read at the time now.
func (p *pacer) book(now time.Duration, file int, off int64, n int) booking {
	if p.disk == nil {
		return booking{}
	}
	at := now - p.late
	return booking{at, p.disk.Reserve(at, file, off, n)}
}

// wait waits until the booked read is done, whose bytes were there at the time done.
// It returns the time and how long the read took.
func (p *pacer) wait(b booking, done time.Duration, st *Stats) (now, took time.Duration) {
	st.Reads++
	if done > b.end {
		st.Overruns++
	}
	p.clock.Until(b.end)
	now = p.clock.Now()
	p.late = min(now-b.end, catchUp)
	return now, max(done, b.end) - b.at
}
