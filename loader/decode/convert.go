package decode

import (
	"image"
	"image/color"
)

// convert writes a region of m, which is inside it, as R, G, B and a byte without
// meaning for each pixel.
//
// Alpha is dropped, not blended, and 16 bits become 8 by their high byte, as Pillow's
// convert("RGB") does it; but of grey of 16 bits Pillow clips what is over 255, which
// leaves an ordinary image white, and here it is the high byte as well. Transparent
// pixels of a GIF are black, because image/gif forgets their colour.
func convert(dst []byte, stride int, m image.Image, region image.Rectangle, studio bool) {
	w, h := region.Dx(), region.Dy()
	x, y := region.Min.X, region.Min.Y
	row := func(j int) []byte { return dst[j*stride : j*stride+w*4] }
	switch m := m.(type) {
	case *image.YCbCr:
		convertYCbCr(dst, stride, m, region, studio)
	case *image.NYCbCrA:
		convertYCbCr(dst, stride, &m.YCbCr, region, studio)
	case *image.Gray:
		for j := range h {
			grayRow(row(j), m.Pix[m.PixOffset(x, y+j):], 1)
		}
	case *image.Gray16:
		for j := range h {
			grayRow(row(j), m.Pix[m.PixOffset(x, y+j):], 2)
		}
	case *image.RGBA:
		for j := range h {
			copy(row(j), m.Pix[m.PixOffset(x, y+j):])
		}
	case *image.NRGBA:
		for j := range h {
			copy(row(j), m.Pix[m.PixOffset(x, y+j):])
		}
	case *image.RGBA64:
		for j := range h {
			highRow(row(j), m.Pix[m.PixOffset(x, y+j):])
		}
	case *image.NRGBA64:
		for j := range h {
			highRow(row(j), m.Pix[m.PixOffset(x, y+j):])
		}
	case *image.CMYK:
		for j := range h {
			r := row(j)
			copy(r, m.Pix[m.PixOffset(x, y+j):])
			cmykRow(r)
		}
	case *image.Paletted:
		table := paletteTable(m.Palette)
		for j := range h {
			src := m.Pix[m.PixOffset(x, y+j):][:w]
			r := row(j)
			for i, v := range src {
				*(*[4]byte)(r[i*4:]) = table[v]
			}
		}
	default:
		for j := range h {
			r := row(j)
			for i := range w {
				*(*[4]byte)(r[i*4:]) = straight(m.At(x+i, y+j))
			}
		}
	}
}

// grayRow takes the first byte of each step bytes.
func grayRow(dst, src []byte, step int) {
	for len(dst) >= 4 {
		v := src[0]
		dst[0], dst[1], dst[2], dst[3] = v, v, v, 255
		dst, src = dst[4:], src[step:]
	}
}

// highRow takes the high bytes of four 16-bit channels, high byte first.
func highRow(dst, src []byte) {
	for len(dst) >= 4 && len(src) >= 8 {
		dst[0], dst[1], dst[2], dst[3] = src[0], src[2], src[4], 255
		dst, src = dst[4:], src[8:]
	}
}

// cmykRow converts C, M, Y, K in place, where 255 is full ink, by Pillow's formula
// (cmyk2rgb in src/libImaging/Convert.c).
func cmykRow(p []byte) {
	for len(p) >= 4 {
		white := 255 - uint32(p[3])
		p[0] = inked(uint32(p[0]), white)
		p[1] = inked(uint32(p[1]), white)
		p[2] = inked(uint32(p[2]), white)
		p[3] = 255
		p = p[4:]
	}
}

// invertedCMYKRow is cmykRow of what is in an Adobe JPEG, where 0 is full ink.
func invertedCMYKRow(p []byte) {
	for len(p) >= 4 {
		white := uint32(p[3])
		p[0] = inked(255-uint32(p[0]), white)
		p[1] = inked(255-uint32(p[1]), white)
		p[2] = inked(255-uint32(p[2]), white)
		p[3] = 255
		p = p[4:]
	}
}

func inked(ink, white uint32) byte {
	t := ink*white + 128
	return byte(white - (t>>8+t)>>8)
}

func paletteTable(p color.Palette) *[256][4]byte {
	table := new([256][4]byte)
	for i, c := range p[:min(len(p), 256)] {
		table[i] = straight(c)
	}
	return table
}

// straight is a colour that is not multiplied by its alpha.
func straight(c color.Color) [4]byte {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return [4]byte{n.R, n.G, n.B, n.A}
}
