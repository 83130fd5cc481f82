package transform

import (
	"cmp"
	"fmt"
	"image"

	"dlbench/loader/decode"
)

const (
	MaxSide   = 8192    // of a sample, in pixels
	MaxSource = 1 << 20 // of an image, in pixels: more than any format here but PNG and BMP has
)

// Resampler makes samples of decoded images, one after the other: it is for one goroutine.
// Its memory grows to what the largest image needs, and then it allocates nothing.
type Resampler struct {
	o       Options
	size    int    // bytes of a value
	norm    affine // of a level
	planes  bool   // nchw
	kernels bool   // the machine has them, and a row of the sample is not too short for them
	x, y    axis

	assembler bool // the kernels are used for this image
	rows      rows
	wide      wide
}

func New(o Options) (*Resampler, error) {
	if o.Height < 1 || o.Width < 1 || o.Height > MaxSide || o.Width > MaxSide {
		return nil, fmt.Errorf("sample of %d x %d pixels: want 1 to %d a side", o.Width, o.Height, MaxSide)
	}
	o.DType, o.Layout = cmp.Or(o.DType, Float32), cmp.Or(o.Layout, NHWC)
	r := &Resampler{o: o, size: sizes[o.DType], planes: o.Layout == NCHW}
	if r.size == 0 {
		return nil, fmt.Errorf("type %q: want %s, %s or %s", o.DType, Float32, Float16, Uint8)
	}
	if !r.planes && o.Layout != NHWC {
		return nil, fmt.Errorf("layout %q: want %s or %s", o.Layout, NHWC, NCHW)
	}
	segment := 3 * o.Width
	if r.planes {
		segment = o.Width
	}
	r.norm = normalisation(r.o.DType)
	r.kernels = haveKernels && segment >= kernelWidth
	return r, nil
}

func (r *Resampler) Bytes() int { return r.o.Height * r.o.Width * 3 * r.size }

// Middle is the box of the largest rectangle in the middle of a window that has the aspect of
// a sample.
func (r *Resampler) Middle(window image.Rectangle) Box {
	w, h, cw, ch := r.o.Width, r.o.Height, window.Dx(), window.Dy()
	if cw*h > ch*w {
		cw = max(1, (ch*w+h/2)/h)
	} else {
		ch = max(1, (cw*h+w/2)/w)
	}
	return crop(window.Min.X+(window.Dx()-cw)/2, window.Min.Y+(window.Dy()-ch)/2, cw, ch, false)
}

// kernelTaps is how many taps of an output the kernels are used for, which is reductions
// down to 1/2000: rounding the weights of more would show.
const kernelTaps = 4096

// Apply resamples what box has of src into dst, of Bytes bytes, which may lie at any
// address. dst is not changed if it fails. What Pix
// has behind its last pixel, up to decode.Padding bytes, is read but not used.
func (r *Resampler) Apply(dst []byte, src decode.Image, box Box) error {
	if len(dst) != r.Bytes() {
		return fmt.Errorf("bad length: %d bytes for a sample of %d", len(dst), r.Bytes())
	}
	if err := checkSource(&src); err != nil {
		return err
	}
	if box.Empty() || !box.In(src.Window) {
		return fmt.Errorf("box does not fit: %v of a window of %v", box.Rectangle, src.Window)
	}
	at, antialias := box.Min.Sub(src.Window.Min), !r.o.NoAntialias
	r.x.build(geometry{r.o.Width, box.Dx(), at.X, antialias, box.Flip})
	r.y.build(geometry{r.o.Height, box.Dy(), at.Y, antialias, false})
	r.assembler = r.kernels && r.x.longest <= kernelTaps
	if r.assembler {
		r.widen()
	}
	r.apply(dst, &src)
	return nil
}

// checkSource fails unless the pixels that src says it has are there, and the padding.
func checkSource(src *decode.Image) error {
	w := src.Window
	if w.Empty() || w.Min.X < 0 || w.Min.Y < 0 || w.Max.X > MaxSource || w.Max.Y > MaxSource {
		return fmt.Errorf("bad source: a window of %v", w)
	}
	row := 4 * w.Dx()
	if src.Stride < row || len(src.Pix) < row || (w.Dy()-1) > (len(src.Pix)-row)/src.Stride {
		return fmt.Errorf("bad source: %d bytes, %d a row, of %d x %d pixels", len(src.Pix), src.Stride, w.Dx(), w.Dy())
	}
	if behind := cap(src.Pix) - len(src.Pix); behind < decode.Padding {
		return fmt.Errorf("bad source: %d bytes behind the pixels, want %d", behind, decode.Padding)
	}
	return nil
}

func (r *Resampler) apply(dst []byte, src *decode.Image) {
	ring := &r.rows
	ring.reset(r.o.Width, r.y.longest, r.planes)
	for y := range r.o.Height {
		var first int
		first, ring.weights = r.y.of(y)
		for i := range ring.weights {
			ring.offsets[i] = r.row(src, first+i) * ring.stride
		}
		if !r.assembler {
			ring.combine()
		} else if r.o.DType != Float32 { // else put makes the sum in place
			r.combineKernel()
		}
		r.put(dst, y)
	}
}

// row is where row y of the source is kept. It is resampled now if it is not there.
func (r *Resampler) row(src *decode.Image, y int) (slot int) {
	ring := &r.rows
	slot = int(uint32(y) % uint32(len(ring.holds)))
	if ring.holds[slot] == int32(y) {
		return slot
	}
	ring.holds[slot] = int32(y)
	row := ring.values[slot*ring.stride:][:ring.stride]
	if r.assembler {
		r.horizontalKernel(row, src.Pix[y*src.Stride+4*r.x.from:])
	} else {
		r.horizontal(row, src.Pix[y*src.Stride:])
	}
	return slot
}

// put puts the sum where row y of the sample is: a segment of dst in nhwc, three in nchw.
func (r *Resampler) put(dst []byte, y int) {
	segments, n, apart := 1, 3*r.o.Width, 0
	if r.planes {
		segments, n, apart = 3, r.o.Width, r.o.Height*r.o.Width
	}
	for c := range segments {
		segment := dst[(c*apart+y*n)*r.size:][:n*r.size]
		at := c * r.rows.plane
		switch {
		case !r.assembler:
			put(segment, r.rows.sum()[at:], r.o.DType)
		case r.o.DType == Float32:
			r.combineInto(segment, at)
		default:
			r.putKernel(segment, r.rows.sum()[at:])
		}
	}
}
