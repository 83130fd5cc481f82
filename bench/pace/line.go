package pace

import (
	"sync"
	"time"
)

// Line is the virtual clock of something that does one thing at a time, such as
// one direction of a link. The zero value is free at 0.
type Line struct {
	mu   sync.Mutex
	free time.Duration
}

// Reserve books work of length d that is ready at the time at, and returns when
// it ends: d after the later of at and the end of what was booked before.
func (l *Line) Reserve(at, d time.Duration) (end time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = max(l.free, at) + d
	return l.free
}

// Length is how long bytes take at rate bytes per second.
func Length(bytes int, rate float64) time.Duration {
	return time.Duration(float64(bytes)/rate*1e9 + 0.5)
}

// Disk is the virtual clock of a simulated disk.
type Disk struct {
	Rate    float64       // B/s
	Latency time.Duration // of a read: seek and rotation, or the controller's
	Seek    bool          // a hard disk: the latency is paid for discontiguous reads only, and holds up other reads

	mu    sync.Mutex
	free  time.Duration
	next  int64 // where a contiguous read would start
	file  int
	alone time.Duration
}

// Alone is how long the reads booked so far take one after the other.
func (d *Disk) Alone() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.alone
}

// Reserve books a read of n bytes at off of a file, asked for at the time at, and
// returns when it ends. A hard disk serves one read after the other, each as long
// as its latency and its bytes take; a solid-state disk overlaps the latencies of
// reads and shares out its rate.
func (d *Disk) Reserve(at time.Duration, file int, off int64, n int) (end time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	length, latency := Length(n, d.Rate), d.Latency
	if d.Seek && file == d.file && off == d.next && d.next != 0 { // goes on where the last one ended
		latency = 0
	}
	d.file, d.next = file, off+int64(n)
	d.alone += length + latency
	if d.Seek { // others wait for the latency, too
		length, latency = length+latency, 0
	}
	d.free = max(d.free, at) + length
	return max(d.free, at+latency+length)
}
