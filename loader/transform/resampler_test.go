package transform

import (
	"bytes"
	"image"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dlbench/loader/decode"
)

func TestNew(t *testing.T) {
	for _, o := range []Options{
		{}, {Width: 1}, {Height: 1}, {Width: -1, Height: 1}, {Width: 1, Height: MaxSide + 1},
		{Width: 1, Height: 1, DType: "bfloat16"}, {Width: 1, Height: 1, Layout: "NHWC"},
	} {
		if r, err := New(o); err == nil || r != nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if n := newResampler(t, Options{Width: MaxSide, Height: 3}).Bytes(); n != MaxSide*3*3*4 {
		t.Errorf("%d bytes", n)
	}
}

func TestApplyRefuses(t *testing.T) {
	good := picture(20, 10)
	of := func(change func(*decode.Image)) decode.Image { s := good; change(&s); return s }
	windowed := func(x0, y0, x1, y1 int) decode.Image {
		return of(func(s *decode.Image) { s.Window = image.Rectangle{image.Pt(x0, y0), image.Pt(x1, y1)} })
	}
	boxed := func(x0, y0, x1, y1 int) Box {
		return Box{Rectangle: image.Rectangle{image.Pt(x0, y0), image.Pt(x1, y1)}}
	}
	box := whole(good)
	const badLength, badSource, badBox = "bad length: ", "bad source: ", "box does not fit: "
	for _, c := range []struct {
		name   string
		length int
		src    decode.Image
		box    Box
		want   string
	}{
		{"short sample", -1, good, box, badLength},
		{"long sample", 1, good, box, badLength},
		{"no source", 0, decode.Image{}, box, badSource},
		{"no padding", 0, of(func(s *decode.Image) { s.Pix = s.Pix[:len(s.Pix):len(s.Pix)] }), box, badSource},
		{"short of a byte", 0, of(func(s *decode.Image) { s.Pix = s.Pix[:len(s.Pix)-1] }), box, badSource},
		{"narrow stride", 0, of(func(s *decode.Image) { s.Stride-- }), box, badSource},
		{"negative stride", 0, of(func(s *decode.Image) { s.Stride = -s.Stride }), box, badSource},
		{"huge stride", 0, of(func(s *decode.Image) { s.Stride = math.MaxInt }), box, badSource},
		{"wide", 0, windowed(0, 0, math.MaxInt, 10), box, badSource},
		{"high", 0, windowed(0, 0, 20, math.MaxInt), box, badSource},
		{"left of all", 0, windowed(math.MinInt, 0, 20, 10), box, badSource},
		{"inverted window", 0, windowed(0, 10, 20, 0), box, badSource},
		{"window to the right", 0, windowed(1, 0, 21, 10), box, badBox},
		{"window below", 0, windowed(0, 1, 20, 11), box, badBox},
		{"too narrow a window", 0, windowed(0, 0, 19, 10), box, badBox},
		{"too low a window", 0, windowed(0, 0, 20, 9), box, badBox},
		{"no box", 0, good, Box{}, badBox},
		{"no width", 0, good, boxed(3, 0, 3, 10), badBox},
		{"inverted box", 0, good, boxed(0, 10, 20, 0), badBox},
		{"negative box", 0, good, boxed(-1, 0, 20, 10), badBox},
		{"endless box", 0, good, boxed(0, 0, math.MaxInt, 10), badBox},
	} {
		r := newResampler(t, Options{Width: 9, Height: 7})
		dst := bytes.Repeat([]byte{7}, r.Bytes()+c.length)
		if err := r.Apply(dst, c.src, c.box); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if !bytes.Equal(dst, bytes.Repeat([]byte{7}, len(dst))) {
			t.Errorf("%s: the sample was changed", c.name)
		}
	}
}

// TestNoAntialias compares with the formula of PyTorch's upsample_bilinear2d without
// align_corners, at each output on its own.
func TestNoAntialias(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		c := anyTrial(r)
		o := c.options
		o.NoAntialias, o.DType, o.Layout = true, Float32, NHWC
		axis := func(at, out, size, origin int) (int, int, float64) {
			p := max((float64(at)+0.5)*float64(size)/float64(out)-0.5, 0)
			i := min(int(p), size-1)
			return origin + i, origin + min(i+1, size-1), p - float64(i)
		}
		got := values(sample(t, o, c.src, c.box), Float32)
		for oy := range o.Height {
			y0, y1, fy := axis(oy, o.Height, c.box.Dy(), c.box.Min.Y)
			for ox := range o.Width {
				x0, x1, fx := axis(ox, o.Width, c.box.Dx(), c.box.Min.X)
				at := ox
				if c.box.Flip {
					at = o.Width - 1 - ox
				}
				for ch := range 3 {
					pixel := func(x, y int) float64 { return float64(c.src.Pix[y*c.src.Stride+4*x+ch]) }
					v := (pixel(x0, y0)*(1-fx)+pixel(x1, y0)*fx)*(1-fy) + (pixel(x0, y1)*(1-fx)+pixel(x1, y1)*fx)*fy
					mean, std := Channel(ch)
					want := (v/255 - mean) / std
					if g := got[(oy*o.Width+at)*3+ch]; math.Abs(g-want) > 2e-5 {
						t.Fatalf("%+v, %+v: (%d, %d) channel %d is %g, want %g", o, c.box, ox, oy, ch, g, want)
					}
				}
			}
		}
	}
}

// TestReuse makes many samples by one Resampler, and compares each with that of a new one.
func TestReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, o := range []Options{
		{Width: 30, Height: 20}, {Width: 7, Height: 5, DType: Uint8},
		{Width: 33, Height: 9, Layout: NCHW, DType: Float16},
	} {
		s := newResampler(t, o)
		for i := range 200 {
			c := anyTrial(r)
			if !bytes.Equal(apply(t, s, c.src, c.box), sample(t, o, c.src, c.box)) {
				t.Fatalf("%+v: sample %d, of %v, %+v, depends on those before", o, i, c.src.Window, c.box)
			}
		}
	}
}

func TestApplyAllocates(t *testing.T) {
	src := picture(500, 375)
	var random Random
	var boxes []Box
	for i := range 20 {
		boxes = append(boxes, RandomResizedCrop(random.For(0, 0, int32(i)), 500, 375))
	}
	for i, o := range []Options{{}, {DType: Float16, Layout: NCHW}, {DType: Uint8, NoAntialias: true}, {}} {
		o.Width, o.Height = 64, 64
		r := newResampler(t, o)
		r.kernels = r.kernels && i < 3
		dst := make([]byte, r.Bytes())
		all := func() {
			for i := range boxes {
				random.For(1, 2, int32(i))
				if err := r.Apply(dst, src, boxes[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		all()
		if n := testing.AllocsPerRun(3, all); n != 0 {
			t.Errorf("%+v: %v allocations", o, n)
		}
	}
}

// TestFloat16 proves the conversion right for all there are, and between them.
func TestFloat16(t *testing.T) {
	for i := range uint32(0x7c00) {
		v, next := half16(uint16(i)), half16(uint16(i+1))
		if i == 0x7bff {
			next = 65536
		}
		middle := float32((v + next) / 2)
		for _, c := range []struct {
			f    float32
			want uint32
		}{
			{float32(v), i}, {math.Nextafter32(middle, 0), i}, {middle, i + i&1},
			{math.Nextafter32(middle, 1e9), i + 1},
		} {
			if got := half(c.f); uint32(got) != c.want {
				t.Fatalf("%g: %#x, want %#x", c.f, got, c.want)
			}
			if got := half(-c.f); uint32(got) != c.want|0x8000 {
				t.Fatalf("%g: %#x, want %#x", -c.f, got, c.want|0x8000)
			}
		}
	}
	if got := half(float32(math.NaN())); got&0x7fff <= 0x7c00 {
		t.Errorf("not a number: %#x", got)
	}
}
