package cuda

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"dlbench/bench/pace"
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
	r.T.Cleanup(func() {
		if err := b.Free(); err != nil {
			r.T.Errorf("free %s memory: %v", k, err)
		}
	})
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
	r.T.Fatal("work did not wait for a step of a second before it, or this machine stalls as long")
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
		var devices []Device
		for _, text := range []string{"sim:gen3x16", "sim:gen4x16"} {
			s, err := ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			devices = append(devices, NewSim(s, pace.Real))
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
		{"info", testInfo}, {"bytes", testBytes}, {"order", testOrder}, {"events", testEvents}, {"step", testStep},
		{"wait", testWait}, {"overlap", testOverlap}, {"blocking", testBlocking}, {"refused", testRefused}, {"free", testFree},
		{"memory", testMemory}, {"handles", testHandles}, {"bind", testBind}, {"goroutines", testGoroutines}, {"two", testTwo}, {"reopen", testReopen},
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
