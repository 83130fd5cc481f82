package pace

import (
	"runtime"
	"testing"
	"time"
)

func TestLineKeepsOrder(t *testing.T) {
	var l Line
	for _, c := range []struct{ at, d, end time.Duration }{
		{at: 10, d: 5, end: 15},   // idle: starts at once
		{at: 12, d: 5, end: 20},   // busy until 15: queues
		{at: 100, d: 5, end: 105}, // idle again: no credit for the time unused
		{at: 0, d: 0, end: 105},
	} {
		if end := l.Reserve(c.at, c.d); end != c.end {
			t.Errorf("Reserve(%d, %d) = %d, want %d", c.at, c.d, end, c.end)
		}
	}
}

func TestDisks(t *testing.T) {
	const ms = time.Millisecond
	type read struct {
		at   time.Duration
		file int
		off  int64
		n    int
		end  time.Duration
	}
	for name, c := range map[string]struct {
		disk  *Disk
		reads []read
		alone time.Duration
	}{
		"hard disk": {&Disk{Rate: 1e6, Latency: 10 * ms, Seek: true}, []read{
			{0, 1, 0, 1000, 11 * ms},            // seek, then 1 ms
			{11 * ms, 1, 1000, 1000, 12 * ms},   // goes on where the last one ended
			{12 * ms, 1, 5000, 1000, 23 * ms},   // elsewhere
			{12 * ms, 2, 6000, 1000, 34 * ms},   // another file, and waits its turn
			{100 * ms, 2, 7000, 1000, 101 * ms}, // idle since
		}, 35 * ms},
		"solid state": {&Disk{Rate: 1e6, Latency: 10 * ms}, []read{
			{0, 1, 0, 1000, 11 * ms},
			{0, 1, 9000, 1000, 11*ms + 1*ms - 1*ms}, // its latency overlaps, its bytes come after
			{1 * ms, 2, 0, 5000, 16 * ms},
		}, 37 * ms},
	} {
		for i, r := range c.reads {
			if end := c.disk.Reserve(r.at, r.file, r.off, r.n); end != r.end {
				t.Errorf("%s, read %d: ends at %v, want %v", name, i, end, r.end)
			}
		}
		if a := c.disk.Alone(); a != c.alone {
			t.Errorf("%s: %v alone, want %v", name, a, c.alone)
		}
	}
}

func TestLength(t *testing.T) {
	// 19.44 MB over 80 % of a Gen3 x16 line, 12.603 GB/s
	if d := Length(19_440_000, 12.603e9); d != 1_542_490*time.Nanosecond {
		t.Errorf("Length = %v", d)
	}
}

// A wait must never end before its deadline; how much later is the benchmark's
// business.
func TestUntilIsNeverEarly(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer Sharpen()()
	for _, d := range []time.Duration{-time.Second, 0, Spin / 2, Spin, 3 * time.Millisecond} {
		at := Real.Now() + d
		Real.Until(at)
		if now := Real.Now(); now < at {
			t.Errorf("wait of %v ended %v early", d, at-now)
		}
	}
}

func TestManual(t *testing.T) {
	var m Manual
	m.Until(7)
	m.Until(3)
	if m.Now() != 7 {
		t.Errorf("clock at %d after waits until 7 and 3", m.Now())
	}
	m.Advance(2)
	if m.Now() != 9 {
		t.Errorf("clock at %d, want 9", m.Now())
	}
}

// BenchmarkUntil reports how late a wait of a copy's length ends.
func BenchmarkUntil(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer Sharpen()()
	var late, worst time.Duration
	for b.Loop() {
		at := Real.Now() + 1500*time.Microsecond
		Real.Until(at)
		l := Real.Now() - at
		late += l
		worst = max(worst, l)
	}
	b.ReportMetric(float64(late.Nanoseconds())/float64(b.N), "late-ns/op")
	b.ReportMetric(float64(worst.Nanoseconds()), "worst-late-ns")
}
