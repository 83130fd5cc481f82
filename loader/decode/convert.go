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
func convert(dst []byte, stride int, m image.Image, region image.Rectangle, studio bool) {
	switch from := m.(type) {
	case *image.NYCbCrA:
		convertYCbCr(dst, stride, &from.YCbCr, region, studio)
		return
	case *image.YCbCr: // in half of the time that image/draw takes
		convertYCbCr(dst, stride, from, region, studio)
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

// convertYCbCr converts a region of m by the full-range formula of JFIF, or by the
// studio-range one of ITU-R BT.601, which WebP uses.
func convertYCbCr(dst []byte, stride int, m *image.YCbCr, region image.Rectangle, studio bool) {
	shift := horizontalShift(m.SubsampleRatio)
	w := region.Dx()
	for j := range region.Dy() {
		y := region.Min.Y + j
		yAt, cAt := m.YOffset(region.Min.X, y), m.COffset(region.Min.X, y)
		luma := m.Y[yAt : yAt+w]
		// Of the chroma sample of the row's first pixel, so many pixels are to the left.
		first := region.Min.X & (1<<shift - 1)
		n := (first+w-1)>>shift + 1
		cb, cr := m.Cb[cAt:cAt+n], m.Cr[cAt:cAt+n]
		row := dst[j*stride : j*stride+w*4]
		if studio {
			studioRow(row, luma, cb, cr, first, shift)
		} else {
			fullRow(row, luma, cb, cr, first, shift)
		}
	}
}

func horizontalShift(r image.YCbCrSubsampleRatio) uint {
	switch r {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		return 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		return 2
	}
	return 0
}

// fullRow is color.YCbCrToRGB for a row.
func fullRow(dst, luma, cb, cr []byte, first int, shift uint) {
	cr = cr[:len(cb)]
	for i, l := range luma {
		k := (first + i) >> (shift & 3)
		y, b, r := int32(l)*0x10101, int32(cb[k])-128, int32(cr[k])-128
		p := dst[i*4 : i*4+4 : i*4+4]
		p[0] = clip24(y + 91881*r)
		p[1] = clip24(y - 22554*b - 46802*r)
		p[2] = clip24(y + 116130*b)
		p[3] = 255
	}
}

// clip24 is bits 16 to 23 of what is not negative and has no more.
func clip24(v int32) byte {
	if uint32(v)&0xff000000 == 0 {
		return byte(v >> 16)
	}
	return byte(^(v >> 31))
}

// studioRow converts as libwebp does, without its interpolation of chroma (VP8YUVToR,
// VP8YUVToG, VP8YUVToB in src/dsp/yuv.h).
func studioRow(dst, luma, cb, cr []byte, first int, shift uint) {
	cr = cr[:len(cb)]
	for i, l := range luma {
		k := (first + i) >> (shift & 3)
		y, u, v := int32(l)*19077>>8, int32(cb[k]), int32(cr[k])
		p := dst[i*4 : i*4+4 : i*4+4]
		p[0] = clip14(y + v*26149>>8 - 14234)
		p[1] = clip14(y - u*6419>>8 - v*13320>>8 + 8708)
		p[2] = clip14(y + u*33050>>8 - 17685)
		p[3] = 255
	}
}

// clip14 is bits 6 to 13 of what is not negative and has no more.
func clip14(v int32) byte {
	if uint32(v)&^16383 == 0 {
		return byte(v >> 6)
	}
	return byte(^(v >> 31))
}
