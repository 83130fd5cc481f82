package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

var (
	errEmpty   = errors.New("empty file")
	errUnknown = errors.New("not an image that is known here")
)

// Probe is what the header of a file says, its format told by content. It reads no
// pixels, and allocates nothing for a JPEG.
func Probe(data []byte) (Info, error) {
	switch {
	case len(data) == 0:
		return Info{}, errEmpty
	case has(data, "\xff\xd8"):
		return probeJPEG(data)
	case has(data, pngSignature):
		return probePNG(data)
	case has(data, "GIF87a"), has(data, "GIF89a"):
		return probeOther(GIF, data)
	case has(data, "BM"):
		return probeOther(BMP, data)
	case has(data, "RIFF") && len(data) >= 12 && string(data[8:12]) == "WEBP":
		return probeOther(WebP, data)
	case has(data, "II*\x00"), has(data, "MM\x00*"):
		return probeOther(TIFF, data)
	}
	return Info{}, errUnknown
}

func has(data []byte, prefix string) bool {
	return len(data) >= len(prefix) && string(data[:len(prefix)]) == prefix
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// probePNG reads IHDR, which is first. That a colour of an image without alpha is to be
// transparent (tRNS) it does not see; it makes no difference to R, G, B.
func probePNG(data []byte) (Info, error) {
	const at = len(pngSignature)
	if len(data) < at+8+13 || string(data[at+4:at+8]) != "IHDR" {
		return Info{}, errors.New("PNG: no header")
	}
	h := data[at+8:]
	w, height := binary.BigEndian.Uint32(h), binary.BigEndian.Uint32(h[4:])
	if w == 0 || height == 0 || w > 1<<31-1 || height > 1<<31-1 {
		return Info{}, fmt.Errorf("PNG: %d x %d", w, height)
	}
	info := Info{Format: PNG, Width: int(w), Height: int(height), Bits: int(h[8])}
	switch h[9] {
	case 0, 4:
		info.Space = spaceGray
	case 2, 6:
		info.Space = spaceRGB
	case 3:
		info.Space, info.Bits = spacePalette, 8
	default:
		return Info{}, fmt.Errorf("PNG: colour type %d", h[9])
	}
	info.Alpha = h[9]&4 != 0
	return info, nil
}

// probeOther asks Go's decoders.
func probeOther(format string, data []byte) (info Info, err error) {
	defer recovered(&err)
	var c image.Config
	r := bytes.NewReader(data)
	switch format {
	case GIF:
		c, err = gif.DecodeConfig(r)
	case BMP:
		c, err = bmp.DecodeConfig(r)
	case WebP:
		c, err = webp.DecodeConfig(r)
	case TIFF:
		c, err = tiff.DecodeConfig(r)
	}
	if err != nil {
		return Info{}, said(format, err)
	}
	if c.Width <= 0 || c.Height <= 0 {
		return Info{}, fmt.Errorf("%s: %d x %d", titles[format], c.Width, c.Height)
	}
	info = Info{Format: format, Width: c.Width, Height: c.Height, Bits: 8, Space: spaceRGB}
	switch c.ColorModel {
	case color.GrayModel:
		info.Space = spaceGray
	case color.Gray16Model:
		info.Space, info.Bits = spaceGray, 16
	case color.YCbCrModel:
		info.Space = spaceYCbCr
	case color.NYCbCrAModel:
		info.Space, info.Alpha = spaceYCbCr, true
	case color.CMYKModel:
		info.Space = spaceCMYK
	case color.NRGBAModel:
		// WebP without loss says so of each image, with alpha or without.
		info.Alpha = format != WebP
	case color.NRGBA64Model:
		info.Bits, info.Alpha = 16, true
	case color.RGBA64Model:
		info.Bits = 16
	default:
		if _, is := c.ColorModel.(color.Palette); is || format == GIF {
			info.Space = spacePalette
		}
	}
	return info, nil
}
