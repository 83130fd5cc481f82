package transform

import (
	"errors"
	"fmt"

	"dlbench/loader/decode"
)

const (
	MaxSide   = 8192    // of a sample, in pixels
	MaxSource = 1 << 20 // of an image, in pixels: more than any format here but PNG and BMP has
)

// Errors of Apply and Region, each with what was wrong around it.
var (
	ErrBox    = errors.New("box does not fit") // empty, or outside its bounds, or those outside the source
	ErrSource = errors.New("bad source")       // its size does not fit its pixels
	ErrLength = errors.New("bad length")       // of the sample's place in the batch
)

// Resampler makes samples of decoded images, one after the other: it is for one goroutine.
// Its memory grows to what the largest image needs, and then it allocates nothing.
type Resampler struct {
	o       Options
	size    int    // bytes of a value
	norm    affine // of a level
	planes  bool   // nchw
	kernels bool   // may be used
	x, y    axis

	assembler bool // the kernels are used for this image
	rows      rows
	exact     exactRows
	wide      wide
}

// New checks o, and fails on what cannot be made.
func New(o Options) (*Resampler, error) {
	if o.Height < 1 || o.Width < 1 || o.Height > MaxSide || o.Width > MaxSide {
		return nil, fmt.Errorf("sample of %d x %d pixels: want 1 to %d a side", o.Width, o.Height, MaxSide)
	}
	r := &Resampler{o: o}
	switch o.DType {
	case Float32, "":
		r.o.DType, r.size = Float32, 4
	case Float16:
		r.size = 2
	case Uint8:
		r.size = 1
	default:
		return nil, fmt.Errorf("type %q: want %s, %s or %s", o.DType, Float32, Float16, Uint8)
	}
	switch o.Layout {
	case NHWC, "":
		r.o.Layout = NHWC
	case NCHW:
		r.planes = true
	default:
		return nil, fmt.Errorf("layout %q: want %s or %s", o.Layout, NHWC, NCHW)
	}
	if o.Exact && o.NoAntialias {
		return nil, errors.New("exact without antialiasing: Pillow, which exact equals, has no such thing")
	}
	r.norm = normalisation(r.o.DType)
	segment := o.Width
	if !r.planes {
		segment *= 3
	}
	r.kernels = haveKernels && !o.NoAssembler && segment >= kernelWidth
	return r, nil
}

// Bytes is the size of a sample.
func (r *Resampler) Bytes() int { return r.o.Height * r.o.Width * 3 * r.size }

// kernelTaps is how many taps of an output the kernels are used for: rounding the weights
// of more would show.
const kernelTaps = 4096

// Assembler says whether the kernels in assembler are used: not on a machine without
// them, not for a sample of less than 8 values a row, not if Options say so, and whatever
// this says not for reductions to less than 1/2000, with Exact 1/30.
func (r *Resampler) Assembler() bool { return r.kernels }

// Region is the pixels of the image that the sample of b is made of, those that a source
// must hold. It is within b's Bounds, and reaches beyond b itself where those do.
func (r *Resampler) Region(b Box) (Rect, error) {
	if err := b.check(); err != nil {
		return Rect{}, err
	}
	x, y := r.geometries(b, b.Bounds.X0, b.Bounds.Y0)
	var region Rect
	region.X0, region.X1 = x.region()
	region.Y0, region.Y1 = y.region()
	return region, nil
}

// Apply resamples what b shows of src into dst, of Bytes bytes, which may lie at any
// address. dst is not changed if it fails: with ErrBox, ErrSource or ErrLength. What Pix
// has behind its last pixel, up to decode.Padding bytes, is read but not used.
func (r *Resampler) Apply(dst []byte, src Source, b Box) error {
	if len(dst) != r.Bytes() {
		return fmt.Errorf("%w: %d bytes for a sample of %d", ErrLength, len(dst), r.Bytes())
	}
	if err := src.check(); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	x, y := r.geometries(b, b.Bounds.X0-src.X, b.Bounds.Y0-src.Y)
	x0, x1 := x.region()
	y0, y1 := y.region()
	if x0 < 0 || y0 < 0 || x1 > src.W || y1 > src.H {
		return fmt.Errorf("%w: pixels %d to %d and rows %d to %d are wanted of a window of %d x %d", ErrBox, x0, x1, y0, y1, src.W, src.H)
	}
	if r.x.build(x) {
		r.wide.valid = false
	}
	r.y.build(y)
	r.assembler = r.kernels && r.x.longest <= kernelTaps && (!r.o.Exact || r.y.longest <= maxRows)
	if r.assembler && !r.wide.valid {
		r.widen()
	}
	switch {
	case !r.o.Exact:
		r.apply(dst, src)
	case r.assembler:
		r.applyExactKernels(dst, src)
	default:
		r.applyExact(dst, src)
	}
	return nil
}

// geometries is how the axes of b are resampled if its Bounds begin at (x, y).
func (r *Resampler) geometries(b Box, x, y int) (gx, gy geometry) {
	g := geometry{antialias: !r.o.NoAntialias, fixed: r.o.Exact}
	gx, gy = g, g
	gx.out, gx.pos, gx.size = r.o.Width, b.X-float64(b.Bounds.X0), b.W
	gx.limit, gx.origin, gx.flip = b.Bounds.X1-b.Bounds.X0, x, b.Flip
	gy.out, gy.pos, gy.size = r.o.Height, b.Y-float64(b.Bounds.Y0), b.H
	gy.limit, gy.origin = b.Bounds.Y1-b.Bounds.Y0, y
	return gx, gy
}

// check fails if b is empty, not in its Bounds but for what rounding adds, or not a
// number: each comparison is false for one.
func (b *Box) check() error {
	const slack = 1e-6 // pixels; a float64 has 1e-10 at MaxSource
	r := b.Bounds
	fits := b.W > 0 && b.H > 0 &&
		b.X >= float64(r.X0)-slack && b.X+b.W <= float64(r.X1)+slack &&
		b.Y >= float64(r.Y0)-slack && b.Y+b.H <= float64(r.Y1)+slack
	if !fits || r.X0 < 0 || r.Y0 < 0 || r.X0 >= r.X1 || r.Y0 >= r.Y1 || r.X1 > MaxSource || r.Y1 > MaxSource {
		return fmt.Errorf("%w: %g x %g pixels at (%g, %g) in (%d, %d) to (%d, %d)", ErrBox, b.W, b.H, b.X, b.Y, r.X0, r.Y0, r.X1, r.Y1)
	}
	return nil
}

// check fails unless the pixels that src says it has are there, and the padding.
func (s *Source) check() error {
	if s.W < 1 || s.H < 1 || s.X < 0 || s.Y < 0 || s.W > MaxSource || s.H > MaxSource || s.X > MaxSource || s.Y > MaxSource {
		return fmt.Errorf("%w: a window of %d x %d pixels at (%d, %d)", ErrSource, s.W, s.H, s.X, s.Y)
	}
	row := 4 * s.W
	if s.Stride < row || len(s.Pix) < row || (s.H-1) > (len(s.Pix)-row)/s.Stride {
		return fmt.Errorf("%w: %d bytes, %d a row, of %d x %d pixels", ErrSource, len(s.Pix), s.Stride, s.W, s.H)
	}
	if cap(s.Pix)-len(s.Pix) < decode.Padding {
		return fmt.Errorf("%w: %d bytes behind the pixels, want %d", ErrSource, cap(s.Pix)-len(s.Pix), decode.Padding)
	}
	return nil
}
