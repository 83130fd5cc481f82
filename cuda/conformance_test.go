package cuda

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// promise is what a kind of device promises beyond the Device interface.
type promise struct {
	open      func(t *testing.T) []Device // opens the devices anew
	tolerance float64                     // of times on the device's clock, relative,
	slack     time.Duration               // and absolute
	twoWay    bool                        // copies in both directions do not slow each other
}

// rig is a bound device with a stream, for tests that fail on any error.
type rig struct {
	testing.TB
	Device
	s Stream
}

func newRig(t testing.TB, d Device) *rig {
	t.Helper()
	unbind, err := d.Bind()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unbind)
	r := &rig{TB: t, Device: d}
	r.s = r.stream()
	return r
}

func (r *rig) must(err error) {
	r.TB.Helper()
	if err != nil {
		r.TB.Fatal(err)
	}
}

func (r *rig) stream() Stream {
	r.TB.Helper()
	s, err := r.NewStream()
	r.must(err)
	r.TB.Cleanup(func() { r.CloseStream(s) })
	return s
}

func (r *rig) event() Event {
	r.TB.Helper()
	e, err := r.NewEvent()
	r.must(err)
	r.TB.Cleanup(func() { r.CloseEvent(e) })
	return e
}

func (r *rig) alloc(k Kind, n int) *Buffer {
	r.TB.Helper()
	b, err := r.Alloc(k, n)
	r.must(err)
	r.TB.Cleanup(func() {
		if err := b.Free(); err != nil && !errors.Is(err, ErrLost) {
			r.TB.Errorf("free %s memory: %v", k, err)
		}
	})
	return b
}

// random returns host memory with random bytes, the same for the same seed.
func (r *rig) random(k Kind, n int, seed byte) *Buffer {
	r.TB.Helper()
	b := r.alloc(k, n)
	rand.NewChaCha8([32]byte{seed}).Read(b.Host)
	return b
}

func (r *rig) reached(e Event) bool {
	r.TB.Helper()
	ok, err := r.Reached(e)
	r.must(err)
	return ok
}

func (r *rig) elapsed(start, stop Event) time.Duration {
	r.TB.Helper()
	d, err := r.Elapsed(start, stop)
	r.must(err)
	return d
}

// sameBytes settles b and compares it with want.
func (r *rig) sameBytes(b *Buffer, want []byte) {
	r.TB.Helper()
	r.must(r.Settle(b))
	for i, got := range b.Host[:len(want)] {
		if got != want[i] {
			r.TB.Fatalf("%d bytes: byte %d is %#x, want %#x", len(want), i, got, want[i])
		}
	}
}

// behind calls queue while a step keeps the rig's stream busy, so that no delay of
// the host falls between what it queues, and waits for all. Where the host was too
// slow for that it does so again behind a longer step.
func (r *rig) behind(queue func(blocker Event)) {
	r.TB.Helper()
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
	r.TB.Fatal("work did not wait for a step of a second before it, or this machine stalls as long")
}

// timed is how long what queue puts into the rig's stream takes by the device's clock.
func (r *rig) timed(queue func()) time.Duration {
	r.TB.Helper()
	a, b := r.event(), r.event()
	r.behind(func(Event) {
		r.must(r.Record(a, r.s))
		queue()
		r.must(r.Record(b, r.s))
	})
	return r.elapsed(a, b)
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

// TestConformanceSim runs on two assumed links at once.
func TestConformanceSim(t *testing.T) {
	conformance(t, promise{twoWay: true, open: func(t *testing.T) []Device {
		devices, _, err := Open(specs(t, "sim:gen3x16", "sim:gen4x16"))
		if err != nil {
			t.Fatal(err)
		}
		return devices
	}})
}

// conformance checks devices against what Device says of them.
func conformance(t *testing.T, p promise) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, promise, []Device)
	}{
		{"info", testInfo}, {"bytes", testBytes}, {"events", testEvents}, {"step", testStep},
		{"wait", testWait}, {"overlap", testOverlap}, {"blocking", testBlocking}, {"refused", testRefused},
		{"free", testFree}, {"work", testWork}, {"blocking event", testBlockingEvent},
		{"goroutines", testGoroutines},
		{"normalise", testNormalise}, {"normalise refused", testNormaliseRefused},
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
