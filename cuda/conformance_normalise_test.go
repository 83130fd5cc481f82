package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
)

// imageNet normalises as ImageNet's training scripts do.
func imageNet(images, height, width int, planar bool) Normalisation {
	return Normalisation{Images: images, Height: height, Width: width, Planar: planar,
		Mean: [3]float64{0.485, 0.456, 0.406}, Deviation: [3]float64{0.229, 0.224, 0.225}}
}

func testNormalise(t *testing.T, p promise, devices []Device) {
	for _, n := range []Normalisation{
		imageNet(1, 1, 1, false), imageNet(1, 1, 1, true), imageNet(3, 7, 5, false), imageNet(3, 7, 5, true),
		imageNet(32, 225, 225, false), imageNet(32, 225, 225, true), imageNet(2, 1, 257, true),
		imageNet(mostGridYTest+2, 1, 2, true), // more images than a grid has rows
	} {
		t.Run(fmt.Sprintf("%dx%dx%d/planar=%v", n.Images, n.Height, n.Width, n.Planar), func(t *testing.T) {
			r := newRig(t, devices[0])
			size := 4 * 3 * n.Images * n.Height * n.Width
			src, levels := r.random(Pinned, size/4, 5), r.alloc(OnDevice, size/4)
			before, out, dst := r.random(Pinned, size+64, 6), r.alloc(OnDevice, size+64), r.alloc(Pinned, size+64)
			r.must(r.Copy(out, before, r.s))
			r.must(r.SyncStream(r.s))
			r.must(r.Settle(out))
			r.must(r.Copy(levels, src, r.s))
			r.must(r.Normalise(out, levels, n, r.s))
			r.must(r.Copy(dst, out, r.s))
			r.must(r.SyncStream(r.s))
			r.must(r.Settle(dst))
			sameTensor(t, n, dst.Host[:size], src.Host)
			if string(dst.Host[size:]) != string(before.Host[size:]) {
				t.Error("it wrote beyond its result")
			}
		})
	}
}

const mostGridYTest = 65535

// sameTensor compares got with the definition, (level/255 - mean) / deviation, to
// what rounding to float32 leaves.
func sameTensor(t *testing.T, n Normalisation, got, levels []byte) {
	t.Helper()
	area := n.Height * n.Width
	for i, level := range levels {
		image, pixel, c := i/3/area, i/3%area, i%3
		at := i
		if n.Planar {
			at = (image*3+c)*area + pixel
		}
		want := (float64(level)/255 - n.Mean[c]) / n.Deviation[c]
		v := float64(math.Float32frombits(binary.NativeEndian.Uint32(got[4*at:])))
		if math.Abs(v-want) > 1e-6 || math.IsNaN(v) {
			t.Fatalf("image %d, pixel %d, channel %d: level %d became %v, want %v", image, pixel, c, level, v, want)
		}
	}
}

func testNormaliseRefused(t *testing.T, p promise, devices []Device) {
	r := newRig(t, devices[0])
	src, dst, host := r.alloc(OnDevice, 3*6), r.alloc(OnDevice, 4*3*6), r.alloc(Pinned, 4*3*6)
	freed := r.alloc(OnDevice, 4*3*6)
	r.must(freed.Free())
	good := imageNet(1, 2, 3, true)
	flat := good
	flat.Deviation[1] = 0
	for _, c := range []struct {
		why      string
		dst, src *Buffer
		n        Normalisation
		s        Stream
	}{
		{"to the host", host, src, good, r.s}, {"from the host", dst, host, good, r.s}, {"to freed memory", freed, src, good, r.s},
		{"too small a result", src, src, good, r.s}, {"too few levels", dst, src, imageNet(1, 7, 1, true), r.s},
		{"no image", dst, src, imageNet(0, 2, 3, true), r.s}, {"a negative size", dst, src, imageNet(1, -2, -3, true), r.s},
		{"more than fits numbers", dst, src, imageNet(1, 1<<31, 1<<33, true), r.s}, {"a deviation of 0", dst, src, flat, r.s},
		{"no stream", dst, src, good, 0},
	} {
		if err := r.Normalise(c.dst, c.src, c.n, c.s); !errors.Is(err, InvalidValue) {
			t.Errorf("%s: %v, want %v", c.why, err, InvalidValue)
		}
	}
	r.must(r.Normalise(dst, src, good, r.s))
	r.must(r.SyncStream(r.s))
}
