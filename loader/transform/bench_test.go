package transform

import "testing"

// BenchmarkResample makes samples of 225 x 225 pixels from random boxes of an image of
// 500 x 375, into the slots of a batch, as a loader does.
func BenchmarkResample(b *testing.B) {
	src := picture(500, 375)
	boxes := make([]Box, 97)
	var random Random
	for i := range boxes {
		boxes[i] = RandomResizedCrop(random.For(1, 0, int32(i)), src.W, src.H)
	}
	for _, path := range []string{"asm", "go", "exact", "exactgo"} {
		for _, dtype := range []string{Float32, Float16, Uint8} {
			for _, layout := range []string{NHWC, NCHW} {
				for _, filter := range []string{"antialias", "none"} {
					if (path == "exact" || path == "exactgo") && filter == "none" {
						continue
					}
					b.Run(dtype+"x"+layout+"x"+filter+"x"+path, func(b *testing.B) {
						r, err := New(Options{
							Height: 225, Width: 225, DType: dtype, Layout: layout,
							NoAntialias: filter == "none", Exact: path == "exact" || path == "exactgo", NoAssembler: path == "go" || path == "exactgo",
						})
						if err != nil {
							b.Fatal(err)
						}
						batch := make([]byte, 16*r.Bytes())
						for i := range batch {
							batch[i] = 1 // so that no page is touched for the first time below
						}
						b.ReportAllocs()
						for i := 0; b.Loop(); i++ {
							if err := r.Apply(batch[i%16*r.Bytes():][:r.Bytes()], src, boxes[i%len(boxes)]); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}

func BenchmarkTaps(b *testing.B) {
	r, err := New(Options{Height: 225, Width: 225})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		x, y := r.geometries(crop(i%2, 0, 360, 270, false), 0, 0)
		r.x.build(x)
		r.y.build(y)
		if r.kernels {
			r.widen()
		}
	}
}
