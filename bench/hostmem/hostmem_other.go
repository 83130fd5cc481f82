//go:build !linux

package hostmem

import "unsafe"

// Map is a slice of the heap here, aligned.
func Map(n int) (mem []byte, free func() error, err error) {
	whole := make([]byte, n+Block)
	skip := -int(uintptr(unsafe.Pointer(&whole[0]))) & (Block - 1)
	return whole[skip : skip+n : skip+n], func() error { return nil }, nil
}

// Buffer is Map for memory that is touched.
func Buffer(n int) (buf []byte, kind string, free func() error, err error) {
	buf, free, err = Map(max(n, 1))
	touch(buf)
	return buf, Base, free, err
}

// Huge is unknown here.
func Huge([]byte) (huge int, known bool) { return 0, false }
