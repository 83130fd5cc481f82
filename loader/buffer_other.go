//go:build !linux

package loader

import "unsafe"

// alignedBuffer has no mapping of its own here: a slice of the heap, aligned.
func alignedBuffer(n int, _ bool) ([]byte, string, func() error, error) {
	whole := make([]byte, n+BlockSize)
	skip := -int(uintptr(unsafe.Pointer(&whole[0]))) & (BlockSize - 1)
	for i := 0; i < len(whole); i += BlockSize {
		whole[i] = 1
	}
	return whole[skip : skip+n : skip+n], PagesBase, func() error { return nil }, nil
}
