// Package pace holds things to deadlines: clocks to wait on, and the virtual
// clocks of links that stand in for hardware.
//
// time.Sleep overshoots by up to a millisecond. A wait here sleeps until shortly
// before an absolute deadline and spins for the rest, so that errors neither
// reach a per cent of a copy nor add up.
package pace

import (
	"sync"
	"time"
)

// Spin is how long before its deadline a wait stops sleeping and spins. An idle
// virtual CPU wakes late, the later the longer it slept: on a 2-core KVM guest,
// p95 of the overshoot of clock_nanosleep with the least timer slack was 87 us
// after 1.5 ms and 178 us after 6 ms. With a spin of 100 us, p95 of the lateness of
// 6 ms waits was 63 to 79 us; with 300 us it was 0.6 us.
const Spin = 300 * time.Microsecond

// Clock tells the time, as a duration since an arbitrary start, and waits.
type Clock interface {
	Now() time.Duration
	// Until returns once the clock has reached t.
	Until(t time.Duration)
}

// Real is the machine's monotonic clock.
var Real Clock = realClock{}

type realClock struct{}

var start = time.Now()

func (realClock) Now() time.Duration { return time.Since(start) }

func (c realClock) Until(t time.Duration) {
	if d := t - c.Now() - Spin; d > 0 {
		sleep(d)
	}
	for c.Now() < t {
	}
}

// Manual is a clock that moves only when it is waited on or advanced, for tests
// and for pacing without waiting. The zero value stands at 0.
type Manual struct {
	mu  sync.Mutex
	now time.Duration
}

// Now returns where the clock stands.
func (m *Manual) Now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Until moves the clock forward to t.
func (m *Manual) Until(t time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = max(m.now, t)
}

// Advance moves the clock forward by d.
func (m *Manual) Advance(d time.Duration) { m.Until(m.Now() + d) }
