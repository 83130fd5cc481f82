package synth

import (
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"math"

	"dlbench/loader"
	"dlbench/loader/transform"
)

// Mean and deviation by which torchvision's models want their input normalised.
var (
	mean      = [3]float64{transform.MeanR, transform.MeanG, transform.MeanB}
	deviation = [3]float64{transform.StdR, transform.StdG, transform.StdB}
)

// tensors turns pictures into samples of a raw or tensor store. One goroutine
// uses it at a time.
type tensors struct {
	shape   loader.Record // of one image
	rgb     image.RGBA
	pix     []uint8
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
		for v := range t.element[c] {
			f, e := float32((float64(v)/255-mean[c])/deviation[c]), t.element[c][v][:]
			switch r.DType {
			case "float32":
				t.size = 4
				binary.LittleEndian.PutUint32(e, math.Float32bits(f))
			case "float16":
				t.size = 2
				binary.LittleEndian.PutUint16(e, float16(f))
			default:
				t.size = 1
				e[0] = uint8(v)
			}
		}
	}
	return t
}

// append crops the middle of a picture, resizes it, and appends it to dst:
// normalised as little-endian floats, or as bytes of 0 to 255.
func (t *tensors) append(dst []byte, img image.Image) []byte {
	w, h := t.shape.Width, t.shape.Height
	t.toRGB(img)
	resize(t.pix, w, h, t.rgb.Pix, t.rgb.Stride, middle(t.rgb.Rect.Dx(), t.rgb.Rect.Dy(), w, h))
	planes := 1
	if t.shape.Layout == "nchw" {
		planes = 3
	}
	for first := range planes {
		for i := first; i < len(t.pix); i += planes {
			dst = append(dst, t.element[i%3][t.pix[i]][:t.size]...)
		}
	}
	return dst
}

// toRGB converts an image to pixels of 4 bytes, of which the fourth means nothing: as
// in torchvision, transparency is dropped, not blended.
func (t *tensors) toRGB(img image.Image) {
	b := img.Bounds()
	size := image.Rect(0, 0, b.Dx(), b.Dy())
	if n := 4 * b.Dx() * b.Dy(); cap(t.rgb.Pix) < n {
		t.rgb = *image.NewRGBA(size)
	} else {
		t.rgb = image.RGBA{Pix: t.rgb.Pix[:n], Stride: 4 * b.Dx(), Rect: size}
	}
	if o, ok := img.(interface{ Opaque() bool }); !ok || o.Opaque() {
		draw.Draw(&t.rgb, size, img, b.Min, draw.Src)
		return
	}
	for y := range b.Dy() {
		for x := range b.Dx() {
			c := color.NRGBAModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
			copy(t.rgb.Pix[t.rgb.PixOffset(x, y):], []uint8{c.R, c.G, c.B, c.A})
		}
	}
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

// float16 rounds f, which is neither huge nor tiny, to the nearest half-precision
// number, ties to even.
func float16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	exp := int(b>>23&0xff) - 127 + 15
	if exp <= 0 {
		return sign // below 6.1e-5: no normalised level is, but for zero
	}
	half := uint32(exp)<<10 | b&0x7fffff>>13
	if rest := b & 0x1fff; rest > 0x1000 || rest == 0x1000 && half&1 == 1 {
		half++
	}
	return sign | uint16(half)
}
