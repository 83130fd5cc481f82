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
