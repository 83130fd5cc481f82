package loader

import (
	"slices"
	"testing"
	"unsafe"
)

func TestAlignedBuffer(t *testing.T) {
	for _, huge := range []bool{false, true} {
		for _, n := range []int{0, 1, 4096, 5000, 1 << 21, 5<<20 + 1} {
			b, kind, free, err := AlignedBuffer(n, huge)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) != max(n, 1) || cap(b) != len(b) || uintptr(unsafe.Pointer(&b[0]))%BlockSize != 0 {
				t.Errorf("%d bytes: %d of %d at %p", n, len(b), cap(b), &b[0])
			}
			if !slices.Contains([]string{PagesBase, PagesTHP, PagesHugeTLB}, kind) || !huge && kind != PagesBase {
				t.Errorf("%d bytes, huge %v: kind %q", n, huge, kind)
			}
			b[0], b[len(b)-1] = 1, 2
			if err := free(); err != nil {
				t.Error(err)
			}
			if err := free(); err != nil {
				t.Errorf("freed twice: %v", err)
			}
		}
	}
}
