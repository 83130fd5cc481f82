package synth

import (
	"image"
	"image/color"
	"image/draw"
)

// rgb is an image of 8-bit pixels of 4 bytes, of which the fourth means nothing
// here: as in torchvision, transparency is dropped, not blended.
type rgb struct {
	pix           []uint8
	stride        int
	width, height int
}

// toRGB converts an image; scratch is reused where it is large enough.
func toRGB(img image.Image, scratch *image.RGBA) (rgb, *image.RGBA) {
	b := img.Bounds()
	if n, ok := img.(*image.NRGBA); ok {
		return rgb{n.Pix[n.PixOffset(b.Min.X, b.Min.Y):], n.Stride, b.Dx(), b.Dy()}, scratch
	}
	size := image.Rect(0, 0, b.Dx(), b.Dy())
	if scratch == nil || cap(scratch.Pix) < 4*size.Dx()*size.Dy() {
		scratch = image.NewRGBA(size)
	}
	scratch.Pix, scratch.Stride, scratch.Rect = scratch.Pix[:4*size.Dx()*size.Dy()], 4*size.Dx(), size
	if o, ok := img.(interface{ Opaque() bool }); !ok || o.Opaque() {
		draw.Draw(scratch, size, img, b.Min, draw.Src)
	} else {
		for y := range size.Dy() {
			for x := range size.Dx() {
				c := color.NRGBAModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
				copy(scratch.Pix[scratch.PixOffset(x, y):], []uint8{c.R, c.G, c.B, c.A})
			}
		}
	}
	return rgb{scratch.Pix, scratch.Stride, size.Dx(), size.Dy()}, scratch
}

// crop is the largest rectangle in the middle with the aspect of w x h.
func (m rgb) crop(w, h int) rgb {
	cw, ch := m.width, m.height
	if m.width*h > m.height*w {
		cw = max(1, (m.height*w+h/2)/h)
	} else {
		ch = max(1, (m.width*h+w/2)/w)
	}
	x, y := (m.width-cw)/2, (m.height-ch)/2
	return rgb{m.pix[y*m.stride+4*x:], m.stride, cw, ch}
}

// resize interpolates m bilinearly to w x h pixels of 3 bytes in dst. Pixel
// centres are aligned, and weights are 12-bit whole numbers: no machine rounds
// differently.
func (m rgb) resize(dst []uint8, w, h int) {
	const one = 1 << 12
	xs := taps(m.width, w)
	for y, ty := range taps(m.height, h) {
		top, bottom := m.pix[ty.a*m.stride:], m.pix[ty.b*m.stride:]
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

// taps are where the n pixels of a line fall in one of from pixels.
func taps(from, n int) []tap {
	list := make([]tap, n)
	for i := range list {
		at := max(0, ((2*i+1)*from<<12/n-1<<12)/2)
		a := min(at>>12, from-1)
		list[i] = tap{a, min(a+1, from-1), at & (1<<12 - 1)}
	}
	return list
}
