package transform

import (
	"bytes"
	"image"
	"testing"

	"dlbench/loader/decode"
)

// FuzzApply resamples with any geometry. What is not refused must be the same from no
// more than the pixels of the box, and near the reference.
func FuzzApply(f *testing.F) {
	f.Add(uint16(500), uint16(375), uint16(10), uint16(20), uint16(310), uint16(220), uint16(22), uint16(17), uint8(0))
	f.Add(uint16(9), uint16(900), uint16(0), uint16(0), uint16(9), uint16(900), uint16(3), uint16(3), uint8(255))
	f.Add(uint16(1), uint16(1), uint16(0), uint16(0), uint16(1), uint16(1), uint16(1), uint16(1), uint8(2))
	f.Add(uint16(40), uint16(30), uint16(0), uint16(29), uint16(40), uint16(30), uint16(9), uint16(5), uint8(77))
	f.Add(uint16(40), uint16(30), uint16(10), uint16(20), uint16(5), uint16(31), uint16(9), uint16(5), uint8(0))
	f.Fuzz(func(t *testing.T, w, h, x0, y0, x1, y1, ow, oh uint16, kind uint8) {
		if int(w)*int(h) > 1<<18 || int(ow)*int(oh) > 1<<14 {
			return
		}
		r, err := New(Options{
			Width: int(ow), Height: int(oh),
			DType:       []string{Float32, Float16, Uint8, Float32}[kind&3],
			Layout:      []string{NHWC, NCHW}[kind>>2&1],
			NoAntialias: kind&8 != 0,
		})
		if err != nil {
			return
		}
		src := decode.Image{}
		if w > 0 && h > 0 {
			src = picture(int(w), int(h))
		}
		b := Box{Flip: kind&16 != 0}
		b.Min, b.Max = image.Pt(int(x0), int(y0)), image.Pt(int(x1), int(y1))
		dst := make([]byte, r.Bytes())
		err = r.Apply(dst, src, b)
		if fits := x0 < x1 && y0 < y1 && x1 <= w && y1 <= h; fits != (err == nil) {
			t.Fatalf("%v of %d x %d: %v", b, w, h, err)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(dst, sample(t, r.o, window(src, b.Rectangle), b)) {
			t.Fatal("depends on pixels outside of its box")
		}
		checkNear(t, r.o.DType, r.x.longest, dst, reference(t, r.o, src, b))
	})
}
