package hostmem

import (
	"errors"
	"slices"
	"testing"
	"unsafe"
)

func TestBuffer(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 5000, 1 << 21, 5<<20 + 1} {
		b, kind, free, err := Buffer(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != max(n, 1) || cap(b) != len(b) || uintptr(unsafe.Pointer(&b[0]))%Block != 0 ||
			!slices.Contains([]string{Base, THP}, kind) {
			t.Errorf("%d bytes: %d of %d at %p, kind %q", n, len(b), cap(b), &b[0], kind)
		}
		b[0], b[len(b)-1] = 1, 2
		if err := errors.Join(free(), free()); err != nil {
			t.Errorf("freed twice: %v", err)
		}
	}
}
