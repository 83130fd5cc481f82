package transform

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// bound is how far the kernels' value of a sample with as many taps may be from the
// reference's, near: the sums of whole numbers are exact, so what is left is the weights,
// which are rounded to 22 bits, and the vertical sum, in float32 on both sides.
func bound(dtype string, taps int, near float64) float64 {
	normalised := 1e-5 + 0.55e-6*float64(taps)
	switch dtype {
	case Float16:
		return normalised + ulp16(near)
	case Uint8:
		return 1
	}
	return normalised
}

func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst, used := 0.0, 0
	for range 1500 {
		c := anyTrial(r)
		kernels, err := New(c.options)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, kernels.Bytes())
		if err := kernels.Apply(got, c.src, c.box); err != nil {
			t.Fatalf("%+v, %+v: %v", c.options, c.box, err)
		}
		if !kernels.Assembler() {
			continue
		}
		used++
		o := c.options
		o.NoAssembler = true
		a, b := values(got, o.DType), values(sample(t, o, c.src, c.box), o.DType)
		for i := range a {
			d := math.Abs(a[i] - b[i])
			if limit := bound(o.DType, kernels.x.longest, b[i]); !(d <= limit) {
				t.Fatalf("%+v of %d x %d, %+v: value %d is %g, reference %g", o, c.src.W, c.src.H, c.box, i, a[i], b[i])
			}
			if o.DType == Float32 {
				worst = max(worst, d)
			}
		}
	}
	if haveKernels && used < 1000 {
		t.Errorf("kernels were used for %d samples", used)
	}
	t.Logf("%d samples, float32 differs by %.2g at most", used, worst)
}

// TestExactKernels proves the kernels of exact mode equal to the reference, which is equal
// to Pillow.
func TestExactKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	first := [2]int{}
	for range 1500 {
		c := anyTrial(r)
		o := c.options
		o.NoAntialias, o.Exact = false, true
		got := sample(t, o, c.src, c.box)
		o.NoAssembler = true
		reference, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, reference.Bytes())
		if err := reference.Apply(want, c.src, c.box); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%+v of %d x %d, %+v: kernels and reference differ", o, c.src.W, c.src.H, c.box)
		}
		if reference.verticalFirst() {
			first[1]++
		} else {
			first[0]++
		}
	}
	if first[0] < 100 || first[1] < 100 {
		t.Errorf("%d horizontal first, %d vertical first", first[0], first[1])
	}
}

// TestExactNear proves that rounding to 8 bits between the passes is all that tells exact
// mode from the other.
func TestExactNear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		c := anyTrial(r)
		o := c.options
		o.NoAntialias, o.DType = false, Uint8
		near := sample(t, o, c.src, c.box)
		o.Exact = true
		for i, v := range sample(t, o, c.src, c.box) {
			if d := int(v) - int(near[i]); d < -1 || d > 1 {
				t.Fatalf("%+v of %d x %d, %+v: value %d is %d, exactly %d", o, c.src.W, c.src.H, c.box, i, near[i], v)
			}
		}
	}
}

// TestManyTaps is about reductions for which sums are made in parts, and for which there
// are no kernels.
func TestManyTaps(t *testing.T) {
	for _, c := range []struct{ w, h, ow, oh int }{
		{5, 3000, 8, 3}, {5, 640, 8, 10}, {5, 639, 8, 10}, {3000, 5, 8, 3}, {65500, 2, 9, 2}, {2, 65500, 9, 2}, {65500, 1, 1, 1},
	} {
		src := picture(c.w, c.h)
		o := Options{Width: c.ow, Height: c.oh}
		a := values(sample(t, o, src, whole(c.w, c.h)), Float32)
		o.NoAssembler = true
		b := values(sample(t, o, src, whole(c.w, c.h)), Float32)
		o.DType, o.Exact = Uint8, true
		exact := sample(t, o, src, whole(c.w, c.h))
		o.NoAssembler = false
		if !bytes.Equal(exact, sample(t, o, src, whole(c.w, c.h))) {
			t.Errorf("%+v: exact kernels differ", c)
		}
		for i := range a {
			mean, std := channel(i % 3)
			if level := (b[i]*std + mean) * 255; math.Abs(level-float64(exact[i])) > 1.01 {
				t.Fatalf("%+v: value %d is level %g, exactly %d", c, i, level, exact[i])
			}
			if d := math.Abs(a[i] - b[i]); d > 1e-4 {
				t.Fatalf("%+v: value %d is %g, reference %g", c, i, a[i], b[i])
			}
		}
	}
}
