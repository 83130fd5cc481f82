//go:build !linux

package bench

// pin leaves the thread where it is: this system has no affinity that we set.
func Pin([]int) (restore func(), err error) { return func() {}, nil }
