package transform

import (
	"encoding/binary"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"dlbench/loader/decode"
)

// picture is a synthetic image that testdata/pillow.py makes, too: smooth shades, edges,
// and noise of a linear congruential generator. The fourth byte of each pixel, and the
// padding, are noise that no result may depend on.
func picture(w, h int) decode.Image {
	pix := make([]byte, 4*w*h, 4*w*h+decode.Padding)
	state := uint32(w*65537 + h)
	for y := range h {
		for x := range w {
			state = state*1664525 + 1013904223
			p := pix[4*(y*w+x):][:4]
			p[0] = byte(x*255/w ^ int(state>>29))
			p[1] = byte((x/7+y/5)%2*200 + int(state>>27))
			p[2] = byte(state >> 24)
			p[3] = byte(state >> 16)
		}
	}
	padding := pix[len(pix):cap(pix)]
	for i := range padding {
		padding[i] = byte(rand.Uint32())
	}
	return decode.Image{Pix: pix, Stride: 4 * w, Window: image.Rect(0, 0, w, h)}
}

// window is the pixels of src that region has, alone, in memory of their own.
func window(src decode.Image, region image.Rectangle) decode.Image {
	pix := make([]byte, 0, 4*region.Dx()*region.Dy()+decode.Padding)
	for y := region.Min.Y; y < region.Max.Y; y++ {
		pix = append(pix, src.Pix[y*src.Stride+4*region.Min.X:][:4*region.Dx()]...)
	}
	return decode.Image{Pix: pix, Stride: 4 * region.Dx(), Window: region}
}

// whole is the box that shows all of an image.
func whole(src decode.Image) Box { return Box{Rectangle: src.Window} }

// trial is a random sample of a random image: any size, any part, any layout and type.
type trial struct {
	src     decode.Image
	box     Box
	options Options
}

// anyTrial draws sizes near those where something changes: one, four and eight pixels a
// group or a store, one tap or many, all of the image or a corner.
func anyTrial(r *rand.Rand) trial {
	side := func() int {
		switch r.IntN(4) {
		case 0:
			return 1 + r.IntN(12)
		case 1:
			return 1 + r.IntN(400)
		}
		return 1 + r.IntN(80)
	}
	w, h := side(), side()
	cw, ch := 1+r.IntN(w), 1+r.IntN(h)
	return trial{
		src: picture(w, h),
		box: crop(r.IntN(w-cw+1), r.IntN(h-ch+1), cw, ch, r.IntN(2) == 0),
		options: Options{
			Width: side(), Height: side(),
			DType:       []string{Float32, Float16, Uint8}[r.IntN(3)],
			Layout:      []string{NHWC, NCHW}[r.IntN(2)],
			NoAntialias: r.IntN(3) == 0,
		},
	}
}

func newResampler(t testing.TB, o Options) *Resampler {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sample is made by a new Resampler, reference without its kernels.
func sample(t testing.TB, o Options, src decode.Image, b Box) []byte {
	t.Helper()
	return apply(t, newResampler(t, o), src, b)
}

func reference(t testing.TB, o Options, src decode.Image, b Box) []byte {
	t.Helper()
	r := newResampler(t, o)
	r.kernels = false
	return apply(t, r, src, b)
}

func apply(t testing.TB, r *Resampler, src decode.Image, b Box) []byte {
	t.Helper()
	dst := make([]byte, r.Bytes())
	if err := r.Apply(dst, src, b); err != nil {
		t.Fatalf("%+v, %+v: %v", r.o, b, err)
	}
	return dst
}

// checkNear fails unless each value of a sample is near the reference's. The sums of whole
// numbers are exact, so what is left is the weights, taps of them, which are rounded to 22
// bits, and the vertical sum, in float32 on both sides.
func checkNear(t testing.TB, dtype string, taps int, got, want []byte) {
	t.Helper()
	numbers := values(got, dtype)
	for i, near := range values(want, dtype) {
		limit := 1e-5 + 0.55e-6*float64(taps)
		switch dtype {
		case Float16:
			limit += ulp16(near)
		case Uint8:
			limit = 1
		}
		if v := numbers[i]; !(math.Abs(v-near) <= limit) {
			t.Fatalf("value %d is %g, reference %g", i, v, near)
		}
	}
}

// values is a sample as numbers.
func values(sample []byte, dtype string) []float64 {
	var v []float64
	switch dtype {
	case Float32:
		for ; len(sample) > 0; sample = sample[4:] {
			v = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(sample))))
		}
	case Float16:
		for ; len(sample) > 0; sample = sample[2:] {
			v = append(v, half16(binary.LittleEndian.Uint16(sample)))
		}
	default:
		for _, b := range sample {
			v = append(v, float64(b))
		}
	}
	return v
}

// half16 is the value of IEEE binary16.
func half16(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// ulp16 is the distance of binary16's neighbours at v.
func ulp16(v float64) float64 {
	_, exponent := math.Frexp(v)
	return math.Ldexp(1, max(exponent, -13)-11)
}
