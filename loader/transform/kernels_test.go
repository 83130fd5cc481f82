package transform

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Samples of any images are near the reference's and Pillow's, and the layouts hold the same
// values, which a flip mirrors.
func TestAnySample(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	used := 0
	for i := range 1500 {
		c := anyTrial(r)
		kernels := newResampler(t, c.options)
		got := apply(t, kernels, c.src, c.box)
		if kernels.assembler {
			used++
			checkNear(t, c.options.DType, kernels.x.longest, got, reference(t, c.options, c.src, c.box))
		}
		if i%3 == 0 {
			checkPillow(t, c.src, crop(c.box.Min.X, c.box.Min.Y, c.box.Dx(), c.box.Dy(), false), c.options.Width,
				c.options.Height)
		}
		if i%7 == 0 {
			checkLayouts(t, c)
		}
	}
	if haveKernels && used < 1000 {
		t.Errorf("kernels were used for %d samples", used)
	}
}

func checkLayouts(t *testing.T, c trial) {
	t.Helper()
	o := c.options
	o.DType, o.Layout = Float32, NHWC
	pixels := values(sample(t, o, c.src, c.box), Float32)
	o.Layout = NCHW
	c.box.Flip = !c.box.Flip
	planes := values(sample(t, o, c.src, c.box), Float32)
	for i, v := range pixels {
		y, x, ch := i/3/o.Width, i/3%o.Width, i%3
		mirrored := planes[(ch*o.Height+y)*o.Width+o.Width-1-x]
		if math.Abs(v-mirrored) > 1e-5 {
			t.Fatalf("%+v, %+v: (%d, %d) channel %d is %g, in a mirrored plane %g", o, c.box, x, y, ch, v, mirrored)
		}
	}
}

// TestManyTaps is about reductions for which many rows are kept, and for which there are no
// kernels.
func TestManyTaps(t *testing.T) {
	for _, c := range []struct{ w, h, ow, oh int }{
		{5, 3000, 8, 3}, {5, 640, 8, 10}, {5, 639, 8, 10}, {3000, 5, 8, 3},
		{65500, 2, 9, 2}, {2, 65500, 9, 2}, {65500, 1, 1, 1},
	} {
		src := picture(c.w, c.h)
		o := Options{Width: c.ow, Height: c.oh}
		a := values(sample(t, o, src, whole(src)), Float32)
		b := values(reference(t, o, src, whole(src)), Float32)
		exact := pillow(src, whole(src), c.ow, c.oh)
		for i := range a {
			mean, std := Channel(i % 3)
			if level := (b[i]*std + mean) * 255; math.Abs(level-float64(exact[i])) > 1.01 {
				t.Fatalf("%+v: value %d is level %g, Pillow's %d", c, i, level, exact[i])
			}
			if d := math.Abs(a[i] - b[i]); d > 1e-4 {
				t.Fatalf("%+v: value %d is %g, reference %g", c, i, a[i], b[i])
			}
		}
	}
}

// TestLargest makes samples as large as there are, and of the widest images.
func TestLargest(t *testing.T) {
	for _, c := range []struct{ w, h, ow, oh int }{
		{3, 5, MaxSide, 2}, {3, 5, 2, MaxSide}, {4096, 3, 4096, 1}, {65500, 2, MaxSide, 1}, {1, 1, 1, 1},
	} {
		src := picture(c.w, c.h)
		for _, layout := range []string{NHWC, NCHW} {
			o := Options{Width: c.ow, Height: c.oh, Layout: layout, DType: Uint8}
			checkNear(t, Uint8, 0, sample(t, o, src, whole(src)), reference(t, o, src, whole(src)))
		}
	}
}
