package cuda

import (
	"fmt"
	"testing"
	"time"
)

func testEvents(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	a, b := r.event(), r.event()
	r.behind(func(Event) {
		r.must(r.Record(a, r.s))
		r.must(r.Step(5*time.Millisecond, r.s))
		r.must(r.Record(b, r.s))
	})
	// behind has seen the event before these not reached.
	if !r.reached(a) || !r.reached(b) {
		t.Error("events are not reached after their stream was waited for")
	}
	p.near(t, "a step of 5ms", r.elapsed(a, b), 5*time.Millisecond)
	r.must(r.Step(time.Millisecond, r.s))
	r.must(r.Record(a, r.s))
	r.must(r.SyncEvent(a))
	if !r.reached(a) {
		t.Error("the event is not reached after it was waited for")
	}
	if d := r.elapsed(b, a); d < time.Millisecond {
		t.Errorf("an event recorded again, after a step of 1ms, is %v after the other", d)
	}
}

func testStep(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	a, b := r.event(), r.event()
	for _, l := range []time.Duration{100 * time.Microsecond, 216 * time.Millisecond, 1200 * time.Millisecond} {
		r.behind(func(Event) {
			r.must(r.Record(a, r.s))
			r.must(r.Step(l, r.s))
			r.must(r.Record(b, r.s))
		})
		p.near(t, fmt.Sprintf("a step of %v", l), r.elapsed(a, b), l)
	}
	r.must(r.Step(0, r.s))
}

func testWait(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	const n = 1 << 20
	src, dev, dst := r.random(Pinned, n, 3), r.alloc(OnDevice, n), r.alloc(Pinned, n)
	start, copied, end, other := r.event(), r.event(), r.event(), r.stream()
	r.behind(func(blocker Event) {
		r.must(r.WaitEvent(other, blocker))
		r.must(r.Record(start, other))
		r.must(r.Step(20*time.Millisecond, r.s))
		r.must(r.Copy(dev, src, r.s))
		r.must(r.Record(copied, r.s))
		r.must(r.WaitEvent(other, copied))
		r.must(r.Copy(dst, dev, other))
		r.must(r.Record(end, other))
	})
	r.must(r.SyncStream(other))
	if d := r.elapsed(start, end); d < 20*time.Millisecond {
		t.Errorf("work that waits for a step of 20ms in another stream ended after %v", d)
	}
	r.sameBytes(dst, src.Host)
}

func testOverlap(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	const n = 64 << 20
	in, out := r.alloc(Pinned, n), r.alloc(Pinned, n)
	x, y := r.alloc(OnDevice, n), r.alloc(OnDevice, n)
	s, other := r.s, r.stream()
	// both times two pieces of work, in one stream after each other and side by side.
	both := func(first, second func(Stream)) (serial, parallel time.Duration) {
		a, b, c, end := r.event(), r.event(), r.event(), r.event()
		r.behind(func(blocker Event) {
			r.must(r.Record(a, s))
			first(s)
			second(s)
			r.must(r.Record(b, s))
			r.must(r.WaitEvent(other, b))
			r.must(r.Record(c, s))
			first(s)
			second(other)
			r.must(r.Record(end, other))
			r.must(r.WaitEvent(s, end))
			r.must(r.Record(end, s))
		})
		return r.elapsed(a, b), r.elapsed(c, end)
	}
	copyIn := func(s Stream) { r.must(r.Copy(x, in, s)) }
	serial, parallel := both(copyIn, func(s Stream) { r.must(r.Step(5*time.Millisecond, s)) })
	if parallel > serial-serial/10 {
		t.Errorf("a copy and a step took %v in two streams and %v in one", parallel, serial)
	}
	if !p.twoWay {
		return
	}
	serial, parallel = both(copyIn, func(s Stream) { r.must(r.Copy(out, y, s)) })
	if parallel > serial-serial/10 {
		t.Errorf("copies both ways took %v in two streams and %v in one", parallel, serial)
	}
}
