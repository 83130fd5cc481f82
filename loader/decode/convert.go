package decode

import (
	"image"
	"image/color"
	"image/draw"
)

// convert writes a region of m, which is inside it, as R, G, B and a byte without
// meaning for each pixel.
//
// Alpha is dropped, not blended, and 16 bits become 8 by their high byte, as Pillow's
// convert("RGB") does it; but of grey of 16 bits Pillow clips what is over 255, which
// leaves an ordinary image white, and here it is the high byte as well. Transparent
// pixels of a GIF are black, because image/gif forgets their colour.
func convert(dst []byte, stride int, m image.Image, region image.Rectangle) {
	switch from := m.(type) {
	case studio:
		convertStudio(dst, stride, from, region)
		return
	case *image.NRGBA: // so that colours are not multiplied by their alpha
		m = (*image.RGBA)(from)
	case *image.NRGBA64:
		m = (*image.RGBA64)(from)
	case *image.Paletted:
		drawPaletted(dst, stride, from, region)
		return
	case *image.CMYK: // which image/draw would not round as Pillow
		m = (*image.RGBA)(from)
		defer cmykRow(dst[:stride*(region.Dy()-1)+4*region.Dx()], 0)
	}
	draw.Draw(&image.RGBA{Pix: dst, Stride: stride, Rect: region}, region, m, region.Min, draw.Src)
}

// inverted is of the CMYK of an Adobe JPEG, where 0 is full ink.
const inverted = 255

// cmykRow converts C, M, Y, K in place, by Pillow's formula (cmyk2rgb in
// src/libImaging/Convert.c): 255 is full ink, or 0 if flip is inverted.
func cmykRow(p []byte, flip byte) {
	for len(p) >= 4 {
		white := 255 - uint32(p[3]^flip)
		p[0] = inked(uint32(p[0]^flip), white)
		p[1] = inked(uint32(p[1]^flip), white)
		p[2] = inked(uint32(p[2]^flip), white)
		p[3] = 255
		p = p[4:]
	}
}

func inked(ink, white uint32) byte {
	t := ink*white + 128
	return byte(white - (t>>8+t)>>8)
}

// drawPaletted draws colours that are not multiplied by their alpha.
func drawPaletted(dst []byte, stride int, m *image.Paletted, region image.Rectangle) {
	var colours [256][4]byte
	for i, c := range m.Palette[:min(len(m.Palette), 256)] {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		colours[i] = [4]byte{n.R, n.G, n.B, n.A}
	}
	for j := range region.Dy() {
		row := dst[j*stride:]
		for i, v := range m.Pix[m.PixOffset(region.Min.X, region.Min.Y+j):][:region.Dx()] {
			*(*[4]byte)(row[4*i:]) = colours[v]
		}
	}
}

// studio is the YCbCr image of a WebP: in the studio range of ITU-R BT.601, not the full one, and 4:2:0.
type studio struct{ *image.YCbCr }

// convertStudio converts as libwebp does, without its interpolation of chroma (VP8YUVToR,
// VP8YUVToG, VP8YUVToB in src/dsp/yuv.h).
func convertStudio(dst []byte, stride int, m studio, region image.Rectangle) {
	for j := range region.Dy() {
		yAt, cAt := m.YOffset(region.Min.X, region.Min.Y+j), m.COffset(region.Min.X, region.Min.Y+j)
		luma, cb, cr := m.Y[yAt:][:region.Dx()], m.Cb[cAt:], m.Cr[cAt:]
		row, first := dst[j*stride:], region.Min.X&1
		for i, l := range luma {
			k := (first + i) >> 1
			y, u, v := int32(l)*19077>>8, int32(cb[k]), int32(cr[k])
			p := row[i*4:][:4]
			p[0] = clip14(y + v*26149>>8 - 14234)
			p[1] = clip14(y - u*6419>>8 - v*13320>>8 + 8708)
			p[2] = clip14(y + u*33050>>8 - 17685)
			p[3] = 255
		}
	}
}

// clip14 is bits 6 to 13 of what is not negative and has no more.
func clip14(v int32) byte {
	if uint32(v)&^16383 == 0 {
		return byte(v >> 6)
	}
	return byte(^(v >> 31))
}
