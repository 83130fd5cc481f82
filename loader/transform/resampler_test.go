package transform

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestNew(t *testing.T) {
	for _, o := range []Options{
		{}, {Width: 1}, {Height: 1}, {Width: -1, Height: 1}, {Width: 1, Height: MaxSide + 1},
		{Width: 1, Height: 1, DType: "bfloat16"}, {Width: 1, Height: 1, Layout: "NHWC"},
		{Width: 1, Height: 1, Exact: true, NoAntialias: true},
	} {
		if r, err := New(o); err == nil || r != nil {
			t.Errorf("%+v: no error", o)
		}
	}
	r, err := New(Options{Width: MaxSide, Height: 3})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Bytes(); n != MaxSide*3*3*4 {
		t.Errorf("%d bytes", n)
	}
}

func TestApplyRefuses(t *testing.T) {
	good, box := picture(20, 10), whole(20, 10)
	of := func(change func(*Source)) Source { s := good; change(&s); return s }
	boxed := func(change func(*Box)) Box { b := box; change(&b); return b }
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		length int
		src    Source
		box    Box
		want   error
	}{
		{"short sample", -1, good, box, ErrLength},
		{"long sample", 1, good, box, ErrLength},
		{"no source", 0, Source{}, box, ErrSource},
		{"no padding", 0, of(func(s *Source) { s.Pix = s.Pix[:len(s.Pix):len(s.Pix)] }), box, ErrSource},
		{"short of a byte", 0, of(func(s *Source) { s.Pix = s.Pix[:len(s.Pix)-1] }), box, ErrSource},
		{"narrow stride", 0, of(func(s *Source) { s.Stride-- }), box, ErrSource},
		{"negative stride", 0, of(func(s *Source) { s.Stride = -s.Stride }), box, ErrSource},
		{"wide", 0, of(func(s *Source) { s.W = math.MaxInt }), box, ErrSource},
		{"high", 0, of(func(s *Source) { s.H = math.MaxInt }), box, ErrSource},
		{"left of all", 0, of(func(s *Source) { s.X = math.MinInt }), box, ErrSource},
		{"huge stride", 0, of(func(s *Source) { s.Stride = math.MaxInt }), box, ErrSource},
		{"window to the right", 0, of(func(s *Source) { s.X = 1 }), box, ErrBox},
		{"window below", 0, of(func(s *Source) { s.Y = 1 }), box, ErrBox},
		{"too narrow a window", 0, of(func(s *Source) { s.W-- }), box, ErrBox},
		{"too low a window", 0, of(func(s *Source) { s.H-- }), box, ErrBox},
		{"no box", 0, good, Box{}, ErrBox},
		{"no width", 0, good, boxed(func(b *Box) { b.W = 0 }), ErrBox},
		{"negative height", 0, good, boxed(func(b *Box) { b.H = -1 }), ErrBox},
		{"no number", 0, good, boxed(func(b *Box) { b.X = nan }), ErrBox},
		{"no number wide", 0, good, boxed(func(b *Box) { b.W = nan }), ErrBox},
		{"infinite", 0, good, boxed(func(b *Box) { b.W = inf }), ErrBox},
		{"infinitely far", 0, good, boxed(func(b *Box) { b.Y = -inf }), ErrBox},
		{"beyond bounds", 0, good, boxed(func(b *Box) { b.X = 0.5 }), ErrBox},
		{"empty bounds", 0, good, boxed(func(b *Box) { b.Bounds = Rect{} }), ErrBox},
		{"negative bounds", 0, good, boxed(func(b *Box) { b.Bounds.X0 = -1 }), ErrBox},
		{"endless bounds", 0, good, boxed(func(b *Box) { b.Bounds.X1 = math.MaxInt }), ErrBox},
		{"inverted bounds", 0, good, boxed(func(b *Box) { b.Bounds.Y1 = math.MinInt }), ErrBox},
	} {
		r, err := New(Options{Width: 9, Height: 7})
		if err != nil {
			t.Fatal(err)
		}
		dst := bytes.Repeat([]byte{7}, r.Bytes()+c.length)
		if err := r.Apply(dst, c.src, c.box); !errors.Is(err, c.want) {
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
		x, y, w, h := c.box.X, c.box.Y, c.box.W, c.box.H
		bounds := c.box.Bounds
		axis := func(at, out int, pos, size float64, lo, hi int) (int, int, float64) {
			p := max((float64(at)+0.5)*size/float64(out)-0.5+pos-float64(lo), 0)
			i := min(int(p), hi-lo-1)
			return lo + i, lo + min(i+1, hi-lo-1), p - float64(i)
		}
		got := values(sample(t, o, c.src, c.box), Float32)
		for oy := range o.Height {
			y0, y1, fy := axis(oy, o.Height, y, h, bounds.Y0, bounds.Y1)
			for ox := range o.Width {
				x0, x1, fx := axis(ox, o.Width, x, w, bounds.X0, bounds.X1)
				at := ox
				if c.box.Flip {
					at = o.Width - 1 - ox
				}
				for ch := range 3 {
					pixel := func(x, y int) float64 { return float64(c.src.Pix[y*c.src.Stride+4*x+ch]) }
					v := (pixel(x0, y0)*(1-fx)+pixel(x1, y0)*fx)*(1-fy) + (pixel(x0, y1)*(1-fx)+pixel(x1, y1)*fx)*fy
					mean, std := channel(ch)
					want := (v/255 - mean) / std
					if g := got[(oy*o.Width+at)*3+ch]; math.Abs(g-want) > 2e-5 {
						t.Fatalf("%+v of %d x %d, %+v: (%d, %d) channel %d is %g, want %g", o, c.src.W, c.src.H, c.box, ox, oy, ch, g, want)
					}
				}
			}
		}
	}
}

// TestLayouts proves the layouts to hold the same values, and a flip to mirror them.
func TestLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		c := anyTrial(r)
		o := c.options
		o.DType = Float32
		o.Exact = !o.NoAntialias && r.IntN(2) == 0
		o.Layout = NHWC
		pixels := values(sample(t, o, c.src, c.box), Float32)
		o.Layout = NCHW
		c.box.Flip = !c.box.Flip
		planes := values(sample(t, o, c.src, c.box), Float32)
		for i, v := range pixels {
			y, x, ch := i/3/o.Width, i/3%o.Width, i%3
			mirrored := planes[(ch*o.Height+y)*o.Width+o.Width-1-x]
			if math.Abs(v-mirrored) > 1e-5 || o.Exact && v != mirrored {
				t.Fatalf("%+v, %+v: (%d, %d) channel %d is %g, in a mirrored plane %g", o, c.box, x, y, ch, v, mirrored)
			}
		}
	}
}

// TestReuse makes many samples by one Resampler, and compares each with that of a new one.
func TestReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, o := range []Options{
		{Width: 30, Height: 20}, {Width: 7, Height: 5, Exact: true, DType: Uint8}, {Width: 33, Height: 9, Layout: NCHW, DType: Float16, Exact: true},
	} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, s.Bytes())
		long := Source{Pix: picture(4, 2000).Pix, Stride: 16, W: 4, H: 2000}
		for i := range 200 {
			c := anyTrial(r)
			if i%5 == 0 { // the same columns, with and without room for all rows
				c.src, c.box = long, crop(0, 0, 4, []int{2000, 50}[i/5%2], false)
			}
			if err := s.Apply(dst, c.src, c.box); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(dst, sample(t, o, c.src, c.box)) {
				t.Fatalf("%+v: sample %d, of %d x %d, %+v, depends on those before", o, i, c.src.W, c.src.H, c.box)
			}
		}
	}
}

func TestApplyAllocates(t *testing.T) {
	src := picture(500, 375)
	var random Random
	var boxes []Box
	for i := range 20 {
		boxes = append(boxes, RandomResizedCrop(random.For(0, 0, int32(i)), src.W, src.H))
	}
	for _, o := range []Options{{}, {DType: Float16, Layout: NCHW}, {DType: Uint8, NoAntialias: true}, {NoAssembler: true}, {Exact: true}, {Exact: true, NoAssembler: true}} {
		o.Width, o.Height = 64, 64
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, r.Bytes())
		all := func() {
			for i := range boxes {
				random.For(1, 2, int32(i))
				if _, err := r.Region(boxes[i]); err != nil {
					t.Fatal(err)
				}
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

// TestLargest makes samples as large as there are, and of the widest images.
func TestLargest(t *testing.T) {
	for _, c := range []struct{ w, h, ow, oh int }{{3, 5, MaxSide, 2}, {3, 5, 2, MaxSide}, {4096, 3, 4096, 1}, {65500, 2, MaxSide, 1}, {1, 1, 1, 1}} {
		src := picture(c.w, c.h)
		for _, layout := range []string{NHWC, NCHW} {
			o := Options{Width: c.ow, Height: c.oh, Layout: layout, DType: Uint8}
			a := sample(t, o, src, whole(c.w, c.h))
			o.NoAssembler = true
			b := sample(t, o, src, whole(c.w, c.h))
			for i := range a {
				if d := int(a[i]) - int(b[i]); d < -1 || d > 1 {
					t.Fatalf("%+v: value %d is %d, reference %d", c, i, a[i], b[i])
				}
			}
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
			{float32(v), i}, {math.Nextafter32(middle, 0), i}, {middle, i + i&1}, {math.Nextafter32(middle, 1e9), i + 1},
		} {
			if got := float16(c.f); uint32(got) != c.want {
				t.Fatalf("%g: %#x, want %#x", c.f, got, c.want)
			}
			if got := float16(-c.f); uint32(got) != c.want|0x8000 {
				t.Fatalf("%g: %#x, want %#x", -c.f, got, c.want|0x8000)
			}
		}
	}
	if got := float16(float32(math.NaN())); got&0x7fff <= 0x7c00 {
		t.Errorf("not a number: %#x", got)
	}
}
