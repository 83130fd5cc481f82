package synth

import (
	"encoding/binary"
	"image"
	"math"

	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// tensors turns pictures into samples of a raw or tensor store. One goroutine
// uses it at a time.
type tensors struct {
	shape   loader.Record   // of one image
	pix     []uint8         // of one, resized
	size    int             // bytes of an element
	element [3][256][4]byte // of each channel and level, in little endian
}

// newTensors makes the tables of samples in records of shape r, nil for none.
func newTensors(r *loader.Record) *tensors {
	if r == nil {
		return nil
	}
	t := &tensors{shape: *r, pix: make([]uint8, 3*r.Height*r.Width)}
	for c := range t.element {
		mean, deviation := transform.Channel(c)
		for v := range t.element[c] {
			f, e := float32((float64(v)/255-mean)/deviation), t.element[c][v][:]
			switch r.DType {
			case transform.Float32:
				t.size = 4
				binary.LittleEndian.PutUint32(e, math.Float32bits(f))
			case transform.Float16:
				t.size = 2
				binary.LittleEndian.PutUint16(e, transform.Half(f))
			default:
				t.size = 1
				e[0] = uint8(v)
			}
		}
	}
	return t
}

// append crops the middle of an image, resizes it, and appends it to dst: normalised as
// little-endian floats, or as bytes of 0 to 255.
func (t *tensors) append(dst []byte, img decode.Image) []byte {
	w, h := t.shape.Width, t.shape.Height
	resize(t.pix, w, h, img.Pix, img.Stride, middle(img.Window.Dx(), img.Window.Dy(), w, h))
	planes := 1
	if t.shape.Layout == transform.NCHW {
		planes = 3
	}
	for first := range planes {
		for i := first; i < len(t.pix); i += planes {
			dst = append(dst, t.element[i%3][t.pix[i]][:t.size]...)
		}
	}
	return dst
}

// middle is the largest rectangle in the middle of width x height pixels with the
// aspect of w x h.
func middle(width, height, w, h int) image.Rectangle {
	cw, ch := width, height
	if width*h > height*w {
		cw = max(1, (height*w+h/2)/h)
	} else {
		ch = max(1, (width*h+w/2)/w)
	}
	return image.Rect(0, 0, cw, ch).Add(image.Point{(width - cw) / 2, (height - ch) / 2})
}

// resize interpolates a region of pix, pixels of 4 bytes, bilinearly to w x h pixels
// of 3 bytes in dst. Pixel centres are aligned, and weights are 12-bit whole numbers:
// no machine rounds differently.
func resize(dst []uint8, w, h int, pix []uint8, stride int, region image.Rectangle) {
	const one = 1 << 12
	xs := taps(region.Min.X, region.Max.X, w)
	for y, ty := range taps(region.Min.Y, region.Max.Y, h) {
		top, bottom := pix[ty.a*stride:], pix[ty.b*stride:]
		out := dst[3*y*w:][:3*w]
		for x, tx := range xs {
			a, b, c, d := top[4*tx.a:][:3], top[4*tx.b:][:3], bottom[4*tx.a:][:3], bottom[4*tx.b:][:3]
			for i := range 3 {
				upper := int(a[i])*(one-tx.weight) + int(b[i])*tx.weight
				lower := int(c[i])*(one-tx.weight) + int(d[i])*tx.weight
				out[3*x+i] = uint8((upper*(one-ty.weight) + lower*ty.weight + 1<<23) >> 24)
			}
		}
	}
}

// tap is two neighbours, and the weight of the second in 4096ths.
type tap struct{ a, b, weight int }

// taps are where the n pixels of a line fall among those from lo to hi.
func taps(lo, hi, n int) []tap {
	list := make([]tap, n)
	for i := range list {
		at := max(0, ((2*i+1)*(hi-lo)<<12/n-1<<12)/2)
		a := min(lo+at>>12, hi-1)
		list[i] = tap{a, min(a+1, hi-1), at & (1<<12 - 1)}
	}
	return list
}
