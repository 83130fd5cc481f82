package transform

import "testing"

// BenchmarkResample makes samples of 225 x 225 pixels from random boxes of an image of
// 500 x 375, into the slots of a batch, as a loader does.
func BenchmarkResample(b *testing.B) {
	for _, path := range []string{"asm", "go"} {
		for _, dtype := range []string{Float32, Float16, Uint8} {
			for _, layout := range []string{NHWC, NCHW} {
				for _, filter := range []string{"antialias", "none"} {
					o := Options{Height: 225, Width: 225, DType: dtype, Layout: layout, NoAntialias: filter == "none"}
					b.Run(dtype+"x"+layout+"x"+filter+"x"+path, func(b *testing.B) { benchmark(b, o, path == "asm") })
				}
			}
		}
	}
}

func benchmark(b *testing.B, o Options, kernels bool) {
	r := newResampler(b, o)
	r.kernels = r.kernels && kernels
	src := picture(500, 375)
	boxes := make([]Box, 97)
	var random Random
	for i := range boxes {
		boxes[i] = RandomResizedCrop(random.For(1, 0, int32(i)), 500, 375)
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
}
