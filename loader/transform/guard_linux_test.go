package transform

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"dlbench/loader/decode"

	"golang.org/x/sys/unix"
)

// guarded is n bytes that end where a page begins that may be neither read nor written.
func guarded(t *testing.T, n int) []byte {
	page := unix.Getpagesize()
	size := (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, size+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(m[size:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return m[size-n : size : size]
}

// TestGuard resamples from pixels whose padding ends at a page that faults into a sample
// that ends at one: a kernel that reads or writes further dies here. What lies before the
// sample must stay.
func TestGuard(t *testing.T) {
	const most, before = 400*400*4 + decode.Padding, 64
	pixels, out := guarded(t, most), guarded(t, before+400*400*12)
	r := rand.New(rand.NewPCG(7, 8))
	for range 1500 {
		c := anyTrial(r)
		s := newResampler(t, c.options)
		src := window(c.src, c.box.Rectangle)
		n := len(src.Pix)
		pix := pixels[len(pixels)-n-decode.Padding:]
		copy(pix, src.Pix)
		src.Pix = pix[:n]
		dst := out[len(out)-s.Bytes():]
		fence := out[len(out)-s.Bytes()-before:][:before]
		for i := range fence {
			fence[i] = 0xa5
		}
		if err := s.Apply(dst, src, c.box); err != nil {
			t.Fatalf("%+v, %+v: %v", c.options, c.box, err)
		}
		for i, b := range fence {
			if b != 0xa5 {
				t.Fatalf("%+v, %+v: wrote %d bytes before the sample", c.options, c.box, before-i)
			}
		}
		if !bytes.Equal(dst, sample(t, c.options, c.src, c.box)) {
			t.Fatalf("%+v, %+v: differs from the sample of the whole image", c.options, c.box)
		}
	}
}
