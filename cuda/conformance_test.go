package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// promise is what a kind of device promises beyond the Device interface.
type promise struct {
	open      func(t *testing.T) []Device // opens the devices anew
	tolerance float64                     // of times on the device's clock, relative,
	slack     time.Duration               // and absolute
	ordered   bool                        // bytes move when the work does, not in Settle
	owned     bool                        // handles of other devices and closed ones are refused; Close frees
	limited   bool                        // device memory ends at Info.Memory
	twoWay    bool                        // copies in both directions do not slow each other
}

// rig is a bound device with a stream, for tests that fail on any error.
type rig struct {
	*testing.T
	Device
	s Stream
}

func newRig(t *testing.T, d Device) *rig {
	t.Helper()
	unbind, err := d.Bind()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unbind)
	r := &rig{T: t, Device: d}
	r.s = r.stream()
	return r
}

func (r *rig) must(err error) {
	r.T.Helper()
	if err != nil {
		r.T.Fatal(err)
	}
}

func (r *rig) stream() Stream {
	r.T.Helper()
	s, err := r.NewStream()
	r.must(err)
	r.T.Cleanup(func() { r.CloseStream(s) })
	return s
}

func (r *rig) event() Event {
	r.T.Helper()
	e, err := r.NewEvent()
	r.must(err)
	r.T.Cleanup(func() { r.CloseEvent(e) })
	return e
}

func (r *rig) alloc(k Kind, n int) *Buffer {
	r.T.Helper()
	b, err := r.Alloc(k, n)
	r.must(err)
	r.T.Cleanup(func() { b.Free() })
	return b
}

// random returns host memory with random bytes, the same for the same seed.
func (r *rig) random(k Kind, n int, seed byte) *Buffer {
	r.T.Helper()
	b := r.alloc(k, n)
	rand.NewChaCha8([32]byte{seed}).Read(b.Host)
	return b
}

func (r *rig) reached(e Event) bool {
	r.T.Helper()
	ok, err := r.Reached(e)
	r.must(err)
	return ok
}

func (r *rig) elapsed(start, stop Event) time.Duration {
	r.T.Helper()
	d, err := r.Elapsed(start, stop)
	r.must(err)
	return d
}

// sameBytes settles b and compares it with want.
func (r *rig) sameBytes(b *Buffer, want []byte) {
	r.T.Helper()
	r.must(r.Settle(b))
	if got := b.Host[:len(want)]; !bytes.Equal(got, want) {
		at := 0
		for got[at] == want[at] {
			at++
		}
		r.T.Fatalf("%d bytes: byte %d is %#x, want %#x", len(want), at, got[at], want[at])
	}
}

// behind calls queue while a step keeps the rig's stream busy, so that no delay of
// the host falls between what it queues, and waits for all. Where the host was too
// slow for that it does so again behind a longer step.
func (r *rig) behind(queue func(blocker Event)) {
	r.T.Helper()
	e := r.event()
	for step := 10 * time.Millisecond; step < 2*time.Second; step *= 2 {
		r.must(r.Step(step, r.s))
		r.must(r.Record(e, r.s))
		queue(e)
		slow := r.reached(e)
		r.must(r.SyncStream(r.s))
		if !slow {
			return
		}
	}
	r.T.Skip("this machine stalls for seconds")
}

// near wants got to be no less than want, and little more. Events resolve about
// half a microsecond.
func (p promise) near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	slack := time.Duration(float64(want)*p.tolerance) + p.slack + time.Microsecond
	if got < want-time.Microsecond || got > want+slack {
		t.Errorf("%s took %v on the device's clock, want %v to %v", what, got, want, want+slack)
	}
}

// conformance checks devices against what Device says of them.
func conformance(t *testing.T, p promise) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, promise, []Device)
	}{
		{"info", testInfo}, {"bytes", testBytes}, {"order", testOrder}, {"events", testEvents}, {"step", testStep},
		{"wait", testWait}, {"overlap", testOverlap}, {"blocking", testBlocking}, {"refused", testRefused}, {"free", testFree},
		{"memory", testMemory}, {"handles", testHandles}, {"bind", testBind}, {"goroutines", testGoroutines}, {"two", testTwo}, {"reopen", testReopen},
	} {
		t.Run(c.name, func(t *testing.T) {
			devices := p.open(t)
			t.Cleanup(func() {
				for _, d := range devices {
					if err := d.Close(); err != nil {
						t.Errorf("close %s: %v", d.Info().Spec, err)
					}
				}
			})
			c.run(t, p, devices)
		})
	}
}

func testInfo(t *testing.T, p promise, devices []Device) {
	for i, d := range devices {
		info := d.Info()
		if info.Spec == "" || info.Name == "" || info.Backend == "" {
			t.Errorf("device %d: %+v", i, info)
		}
		if info.Assumed {
			continue
		}
		if info.Spec != fmt.Sprintf("cuda:%d", i) || info.Index != i || info.Memory <= 0 || info.Driver == "" {
			t.Errorf("device %d: %+v", i, info)
		}
		newRig(t, d)
		if info = d.Info(); info.Free <= 0 || info.Free > info.Memory {
			t.Errorf("device %d: %d of %d bytes free", i, info.Free, info.Memory)
		}
	}
}

func testBytes(t *testing.T, p promise, devices []Device) {
	for _, k := range []Kind{Pageable, Pinned, Registered} {
		for _, n := range []int{1, 4095, 64 << 10, 64<<10 + 1, 32 * 225 * 225 * 3 * 4} {
			t.Run(fmt.Sprintf("%s/%d", k, n), func(t *testing.T) {
				r := newRig(t, devices[0])
				src, dev := r.random(k, n, 1), r.alloc(OnDevice, n)
				dst := r.alloc(k, n+64)
				for i := range dst.Host {
					dst.Host[i] = 0xa5
				}
				r.must(r.Copy(dev, src, r.s))
				r.must(r.Copy(dst, dev, r.s))
				r.must(r.SyncStream(r.s))
				r.sameBytes(dst, src.Host)
				if tail := dst.Host[n:]; !bytes.Equal(tail, bytes.Repeat([]byte{0xa5}, 64)) {
					t.Errorf("the copy wrote beyond its %d bytes: % x", n, tail)
				}
				if locked := k != Pageable; !r.Info().Assumed && (src.PinTime > 0) != locked {
					t.Errorf("page-locking took %v", src.PinTime)
				}
			})
		}
	}
}

func testOrder(t *testing.T, p promise, devices []Device) {
	if !p.ordered {
		t.Skip("bytes move in Settle")
	}
	r := newRig(t, devices[0])
	const n = 1 << 20
	a, b := r.random(Pinned, n, 1), r.random(Pinned, n, 2)
	x, y, dev := r.alloc(Pinned, n), r.alloc(Pinned, n), r.alloc(OnDevice, n)
	r.behind(func(Event) {
		for _, c := range [][2]*Buffer{{dev, a}, {x, dev}, {dev, b}, {y, dev}} {
			r.must(r.Copy(c[0], c[1], r.s))
		}
	})
	r.sameBytes(x, a.Host)
	r.sameBytes(y, b.Host)
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

func testBlocking(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	const n = 1 << 20
	dev, e := r.alloc(OnDevice, n), r.event()
	for _, k := range []Kind{Pageable, Pinned, Registered} {
		host := r.random(k, n, 4)
		if k != Pageable {
			r.behind(func(Event) { // which sees its blocker still running
				r.must(r.Copy(dev, host, r.s))
				r.must(r.Copy(host, dev, r.s))
			})
			continue
		}
		for _, c := range [][2]*Buffer{{dev, host}, {host, dev}} {
			r.must(r.Step(10*time.Millisecond, r.s))
			r.must(r.Record(e, r.s))
			r.must(r.Copy(c[0], c[1], r.s))
			if !r.reached(e) {
				t.Errorf("a copy from %s to %s memory did not hold its caller", c[1].Kind, c[0].Kind)
			}
		}
	}
}

func testRefused(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	host, small := r.alloc(Pinned, 4096), r.alloc(Pageable, 4095)
	dev, smallDev := r.alloc(OnDevice, 4096), r.alloc(OnDevice, 4095)
	freed, freedDev := r.alloc(Pinned, 4096), r.alloc(OnDevice, 4096)
	r.must(freed.Free())
	r.must(freedDev.Free())
	for _, c := range []struct {
		why      string
		dst, src *Buffer
	}{
		{"host to host", host, small}, {"device to device", dev, smallDev},
		{"too small a host buffer", small, dev}, {"too small a device buffer", smallDev, host},
		{"from freed memory", dev, freed}, {"to freed memory", freed, dev}, {"to freed device memory", freedDev, host},
	} {
		if err := r.Copy(c.dst, c.src, r.s); !errors.Is(err, InvalidValue) {
			t.Errorf("%s: %v, want %v", c.why, err, InvalidValue)
		}
	}
	if err := r.Copy(dev, host, 0); !errors.Is(err, InvalidValue) {
		t.Errorf("no stream: %v", err)
	}
	if err := r.Record(0, r.s); !errors.Is(err, InvalidValue) {
		t.Errorf("no event: %v", err)
	}
	for _, n := range []int{0, -1} {
		if b, err := r.Alloc(OnDevice, n); !errors.Is(err, InvalidValue) {
			t.Errorf("allocate %d bytes: %v, %v", n, b, err)
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
	if err := (*Buffer)(nil).Free(); err != nil {
		t.Error(err)
	}
}

func testMemory(t *testing.T, p promise, devices []Device) {
	if !p.limited {
		t.Skip("memory is not limited")
	}
	r := newRig(t, devices[0])
	b, err := r.Alloc(OnDevice, int(r.Info().Memory)+1<<20)
	if !errors.Is(err, OutOfMemory) || errors.Is(err, ErrLost) || b != nil {
		t.Errorf("more than all memory: %v, %v", b, err)
	}
	r.alloc(OnDevice, 1<<20) // goes on
}

func testHandles(t *testing.T, p promise, devices []Device) {
	if !p.owned {
		t.Skip("handles are not checked")
	}
	r := newRig(t, devices[0])
	s, e, other := r.stream(), r.event(), r.event()
	r.must(r.CloseStream(s))
	r.must(r.CloseEvent(e))
	_, queryErr := r.Reached(e)
	_, elapsedErr := r.Elapsed(e, e)
	for i, err := range []error{
		r.CloseStream(s), r.CloseEvent(e), r.SyncStream(s), r.SyncEvent(e), r.Record(other, s), r.Record(e, r.s),
		r.WaitEvent(r.s, e), r.WaitEvent(s, other), r.Step(time.Millisecond, s), queryErr, elapsedErr,
	} {
		if !errors.Is(err, InvalidValue) {
			t.Errorf("use %d of something closed: %v", i, err)
		}
	}
	r.must(r.CloseStream(0))
	r.must(r.CloseEvent(0))
}

func testBind(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	for _, d := range devices { // within the rig's own binding
		unbind, err := d.Bind()
		r.must(err)
		b, err := d.Alloc(OnDevice, 4096)
		r.must(err)
		r.must(b.Free())
		unbind()
		unbind()
	}
	r.alloc(OnDevice, 4096) // the rig's device is current again
}

func testGoroutines(t *testing.T, p promise, devices []Device) {
	var wg sync.WaitGroup
	errs := make([]error, 4*len(devices))
	for i := range errs {
		wg.Go(func() { errs[i] = roundTrips(devices[i%len(devices)], byte(i), p.ordered) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// roundTrips carries its own bytes to d and back, on a goroutine of its own.
func roundTrips(d Device, seed byte, ordered bool) error {
	unbind, err := d.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer d.CloseStream(s)
	var b [3]*Buffer
	for i, k := range []Kind{Pinned, OnDevice, Registered} {
		if b[i], err = d.Alloc(k, 300_001); err != nil {
			return err
		}
		defer b[i].Free()
	}
	src, dev, dst := b[0], b[1], b[2]
	rng := rand.NewChaCha8([32]byte{seed})
	for i := range 20 {
		rng.Read(src.Host)
		if err := errors.Join(d.Copy(dev, src, s), d.Step(100*time.Microsecond, s), d.Copy(dst, dev, s), d.SyncStream(s), d.Settle(dst)); err != nil {
			return err
		}
		if !bytes.Equal(dst.Host, src.Host) {
			return fmt.Errorf("round trip %d of goroutine %d brought other bytes", i, seed)
		}
		runtime.Gosched()
	}
	return nil
}

func testTwo(t *testing.T, p promise, devices []Device) {
	if len(devices) < 2 {
		t.Skip("one device")
	}
	const n = 1 << 20
	var rigs [2]*rig
	var dev, src, dst [2]*Buffer
	for i := range rigs {
		rigs[i] = newRig(t, devices[i])
		src[i], dev[i], dst[i] = rigs[i].random(Pinned, n, byte(i)), rigs[i].alloc(OnDevice, n), rigs[i].alloc(Pinned, n)
	}
	turns := func(f func(i int, r *rig)) {
		for i, r := range rigs {
			unbind, err := r.Bind()
			r.must(err)
			f(i, r)
			unbind()
		}
	}
	turns(func(i int, r *rig) { r.must(r.Copy(dev[i], src[i], r.s)) })
	turns(func(i int, r *rig) { r.must(r.Copy(dst[i], dev[i], r.s)) })
	turns(func(i int, r *rig) { r.must(r.SyncStream(r.s)) })
	turns(func(i int, r *rig) { r.sameBytes(dst[i], src[i].Host) })
	if !p.owned {
		return
	}
	turns(func(i int, r *rig) {
		if err := r.Copy(dev[i], src[i], rigs[1-i].s); !errors.Is(err, InvalidValue) {
			t.Errorf("a copy on device %d in a stream of the other: %v", i, err)
		}
		if err := r.Record(rigs[1-i].event(), r.s); !errors.Is(err, InvalidValue) {
			t.Errorf("an event of the other device recorded on device %d: %v", i, err)
		}
	})
}

func testReopen(t *testing.T, p promise, devices []Device) {
	d := devices[0]
	var held []*Buffer
	t.Run("hold", func(t *testing.T) {
		unbind, err := d.Bind()
		if err != nil {
			t.Fatal(err)
		}
		defer unbind()
		for _, k := range []Kind{Pageable, Pinned, Registered, OnDevice} {
			b, err := d.Alloc(k, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, b)
		}
	})
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if p.owned && slices.ContainsFunc(held, func(b *Buffer) bool { return b.Host != nil || b.Dev != 0 }) {
		t.Error("Close did not free all buffers")
	}
	for _, b := range held {
		if err := b.Free(); err != nil {
			t.Errorf("free after Close: %v", err)
		}
	}
	again := p.open(t)[0]
	defer again.Close()
	if err := roundTrips(again, 9, p.ordered); err != nil {
		t.Errorf("after a second open: %v", err)
	}
}
