//go:build !linux

package pace

import "time"

// sleep waits at most d: time.Sleep overshoots by up to a millisecond, more on
// Windows, which is left to the spin.
func sleep(d time.Duration) {
	if d > 2*time.Millisecond {
		time.Sleep(d - 2*time.Millisecond)
	}
}

// Sharpen does nothing here.
func Sharpen() (restore func()) { return func() {} }
