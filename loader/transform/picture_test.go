package transform

import (
	"math/rand/v2"

	"dlbench/loader/decode"
)

// picture is a synthetic image that testdata/pillow.py makes, too: smooth shades, edges,
// and noise of a linear congruential generator. The fourth byte of each pixel, and the
// padding, are noise that no result may depend on.
func picture(w, h int) Source {
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
	return Source{Pix: pix, Stride: 4 * w, W: w, H: h}
}

// window is the pixels of src that region has, alone, in memory of their own.
func window(src Source, region Rect) Source {
	w, h := region.X1-region.X0, region.Y1-region.Y0
	pix := make([]byte, 0, 4*w*h+decode.Padding)
	for y := region.Y0; y < region.Y1; y++ {
		pix = append(pix, src.Pix[y*src.Stride+4*region.X0:][:4*w]...)
	}
	return Source{Pix: pix, Stride: 4 * w, X: region.X0, Y: region.Y0, W: w, H: h}
}

// whole is the box that shows all of an image.
func whole(w, h int) Box { return crop(0, 0, w, h, false) }
