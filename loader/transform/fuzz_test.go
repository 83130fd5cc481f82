package transform

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzApply resamples with any geometry. What is not refused must be the same from no
// more than the pixels of Region, and near the reference.
func FuzzApply(f *testing.F) {
	f.Add(uint16(500), uint16(375), 10.0, 20.0, 300.0, 200.0, uint16(10), uint16(20), uint16(310), uint16(220), uint16(22), uint16(17), uint8(0))
	f.Add(uint16(9), uint16(900), 0.0, 0.0, 9.0, 900.0, uint16(0), uint16(0), uint16(9), uint16(900), uint16(3), uint16(3), uint8(255))
	f.Add(uint16(1), uint16(1), 0.0, 0.0, 1.0, 1.0, uint16(0), uint16(0), uint16(1), uint16(1), uint16(1), uint16(1), uint8(2))
	f.Add(uint16(40), uint16(30), 1e-9, 29.9, 1e-300, 0.1, uint16(0), uint16(29), uint16(40), uint16(30), uint16(9), uint16(5), uint8(77))
	f.Fuzz(func(t *testing.T, w, h uint16, x, y, bw, bh float64, x0, y0, x1, y1, ow, oh uint16, kind uint8) {
		if int(w)*int(h) > 1<<18 || int(ow)*int(oh) > 1<<14 {
			return
		}
		o := Options{
			Width: int(ow), Height: int(oh),
			DType:       []string{Float32, Float16, Uint8, Float32}[kind&3],
			Layout:      []string{NHWC, NCHW}[kind>>2&1],
			NoAntialias: kind&8 != 0, Exact: kind&16 != 0,
		}
		r, err := New(o)
		if err != nil {
			return
		}
		src := Source{}
		if w > 0 && h > 0 {
			src = picture(int(w), int(h))
		}
		b := Box{X: x, Y: y, W: bw, H: bh, Bounds: Rect{int(x0), int(y0), int(x1), int(y1)}, Flip: kind&32 != 0}
		dst := make([]byte, r.Bytes())
		region, regionErr := r.Region(b)
		err = r.Apply(dst, src, b)
		fits := w > 0 && h > 0 && regionErr == nil && region.X1 <= int(w) && region.Y1 <= int(h)
		if fits != (err == nil) {
			t.Fatalf("region %+v, %v of %d x %d: %v", region, regionErr, w, h, err)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(dst, sample(t, o, window(src, region), b)) {
			t.Fatal("depends on pixels outside of its region")
		}
		o.NoAssembler = true
		want, got := values(sample(t, o, src, b), r.o.DType), values(dst, r.o.DType)
		for i := range got {
			limit := bound(r.o.DType, r.x.longest, want[i])
			if o.Exact {
				limit = 0
			}
			if !(math.Abs(got[i]-want[i]) <= limit) {
				t.Fatalf("value %d is %g, reference %g", i, got[i], want[i])
			}
		}
	})
}

// FuzzBox draws boxes of images of any size: they are within, and not empty.
func FuzzBox(f *testing.F) {
	f.Add(uint64(1), 500, 375, 256, 224, 224)
	f.Add(uint64(2), 1, 65500, 1, 1, 1)
	f.Add(uint64(3), math.MaxInt32, 1, math.MaxInt32, 7, 9)
	f.Fuzz(func(t *testing.T, seed uint64, w, h, resize, outW, outH int) {
		const most = 1 << 24 // pixels a side; more than any decoder makes
		if w > most || h > most || resize > most || outW > most || outH > most {
			return
		}
		for _, b := range []Box{
			RandomResizedCrop(rand.New(rand.NewPCG(seed, 0)), w, h),
			CenterCrop(w, h, resize, outW, outH),
		} {
			if b == (Box{}) {
				continue
			}
			const slack = 1e-6
			r := b.Bounds
			if !(b.W > 0 && b.H > 0 && b.X >= 0 && b.Y >= 0 && b.X+b.W <= float64(r.X1)+slack && b.Y+b.H <= float64(r.Y1)+slack) || r.X1 > w || r.Y1 > h || r.X0 < 0 || r.Y0 < 0 {
				t.Fatalf("%d x %d: %+v", w, h, b)
			}
		}
	})
}
