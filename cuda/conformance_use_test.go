package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func testInfo(t *testing.T, p promise, devices []Device) {
	for i, d := range devices {
		info := d.Info()
		if info.Spec == "" || info.Name == "" || info.Backend == "" {
			t.Errorf("device %d: %+v", i, info)
		}
		if info.Assumed {
			continue
		}
		if spec, _, _ := strings.Cut(info.Spec, ":link="); spec != fmt.Sprintf("cuda:%d", i) ||
			info.Loaded != (spec != info.Spec) || info.Index != i || info.Memory <= 0 || info.Driver == "" {
			t.Errorf("device %d: %+v", i, info)
		}
		unbind, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		unbind()
		if info = d.Info(); info.Free <= 0 || info.Free > info.Memory {
			t.Errorf("device %d: %d of %d bytes free", i, info.Free, info.Memory)
		}
	}
}

func testFree(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	for _, k := range []Kind{Pageable, Pinned, Registered, OnDevice} {
		b := r.alloc(k, 100_000)
		if (b.Dev != 0) != (k == OnDevice) || (b.Host != nil) != (k != OnDevice) || b.Size != 100_000 || b.Kind != k {
			t.Errorf("%s: %+v", k, b)
		}
		for range 2 {
			if err := b.Free(); err != nil {
				t.Errorf("free %s memory: %v", k, err)
			}
		}
		if b.Host != nil || b.Dev != 0 {
			t.Errorf("%s memory is still there after Free", k)
		}
	}
	r.must(errors.Join((*Buffer)(nil).Free(), r.CloseStream(0), r.CloseEvent(0)))
}

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
	for _, l := range []time.Duration{100 * time.Microsecond, 216 * time.Millisecond, 1200 * time.Millisecond} {
		p.near(t, fmt.Sprintf("a step of %v", l), r.timed(func() { r.must(r.Step(l, r.s)) }), l)
	}
	r.must(r.Step(0, r.s))
}

// Twice the rounds take about twice as long, on whatever clock the device has by then.
func testWork(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	out, host := r.alloc(OnDevice, WorkBytes), r.alloc(Pinned, WorkBytes)
	if devices[0].Info().Assumed {
		if err := r.Work(1, out, r.s); !errors.Is(err, NotSupported) {
			t.Errorf("a stand-in that has no clock works: %v", err)
		}
		return
	}
	const rounds = 20_000
	work := func(n int) time.Duration { return r.timed(func() { r.must(r.Work(n, out, r.s)) }) }
	work(rounds)
	if once, twice := work(rounds), work(2*rounds); twice < once*3/2 || twice > once*5/2 {
		t.Errorf("%d rounds take %v, twice as many %v", rounds, once, twice)
	}
	for _, bad := range []error{r.Work(1, host, r.s), r.Work(-1, out, r.s), r.Work(1, out.View(WorkBytes-1), r.s)} {
		if !errors.Is(bad, InvalidValue) {
			t.Errorf("%v, want %v", bad, InvalidValue)
		}
	}
}

// An event for blocking waits is an event as others are.
func testBlockingEvent(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	e, err := r.NewBlockingEvent()
	r.must(err)
	before := r.event()
	r.must(r.Record(before, r.s))
	r.must(r.Step(5*time.Millisecond, r.s))
	r.must(r.Record(e, r.s))
	r.must(r.SyncEvent(e))
	if !r.reached(e) || r.elapsed(before, e) < 5*time.Millisecond {
		t.Errorf("after a step of 5ms and its wait: reached %t, after %v", r.reached(e), r.elapsed(before, e))
	}
	r.must(r.CloseEvent(e))
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
