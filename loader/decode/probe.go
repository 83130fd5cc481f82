package decode

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

type codec struct {
	title  string // of the format, in errors
	config func(data []byte) (image.Config, error)
	decode func(data []byte) (image.Image, error)
}

var codecs = map[string]codec{
	JPEG: {"JPEG", reads(jpeg.DecodeConfig), decodeJPEG},
	PNG:  {"PNG", reads(png.DecodeConfig), reads(png.Decode)},
	GIF:  {"GIF", reads(gif.DecodeConfig), reads(gif.Decode)},
	BMP:  {"BMP", reads(bmp.DecodeConfig), reads(bmp.Decode)},
	WebP: {"WebP", configWebP, decodeWebP},
	TIFF: {"TIFF", reads(tiff.DecodeConfig), reads(tiff.Decode)},
	PNM:  {"PNM", configPNM, decodePNM},
}

// reads gives a decoder that reads its file the bytes of it.
func reads[T any](decode func(io.Reader) (T, error)) func(data []byte) (T, error) {
	return func(data []byte) (T, error) { return decode(bytes.NewReader(data)) }
}

type Info struct {
	Format        string
	Width, Height int
	Space         string // gray, ycbcr, rgb, cmyk, ycck, palette; "" where the header does not say
	Alpha         bool
	Bits          int    // of a channel; of a palette's colour
	Subsampling   string // of a JPEG's chroma: 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, 4:1:0, other; "" without chroma
	Progressive   bool   // JPEG
	Arithmetic    bool   // JPEG, arithmetic coding
	Lossless      bool   // JPEG of ITU-T T.81, Annex H; libjpeg-turbo 3 only
	Orientation   int    // of EXIF, 1 to 8; 0 for none

	body  int  // JPEG: where the entropy-coded data begin
	mcu   int  // JPEG: the width of an MCU in pixels
	frame int  // JPEG: where the frame header's two bytes of height are
	scans bool // JPEG: the first scan does not hold the whole image
}

func (i *Info) Pixels() int64 { return int64(i.Width) * int64(i.Height) }

// converted is Image.Converted. Of several it names the first: 16 bits, CMYK, palette,
// grey, alpha.
func (i *Info) converted() string {
	switch {
	case i.Bits > 8:
		return "16-bit"
	case i.Space == spaceCMYK || i.Space == spaceYCCK:
		return "cmyk"
	case i.Space == spacePalette:
		return "palette"
	case i.Space == spaceGray:
		return "gray"
	case i.Alpha:
		return "alpha"
	}
	return ""
}

const (
	spaceGray    = "gray"
	spaceYCbCr   = "ycbcr"
	spaceRGB     = "rgb"
	spaceCMYK    = "cmyk"
	spaceYCCK    = "ycck"
	spacePalette = "palette"
)

// Probe is what the header of a file says, its format recognised by content. It reads no
// pixels, and allocates nothing for a JPEG.
func Probe(data []byte) (Info, error) {
	switch format := Format(data); format {
	case JPEG:
		return probeJPEG(data)
	case "":
		return Info{}, unknown(data)
	default:
		return probeOther(format, data)
	}
}

// A PNG's colour type is at this byte; 4 is grey with alpha.
const pngColour, pngGrayAlpha = 25, 4

// probeOther asks Go's decoders. That a colour of a PNG without alpha is to be transparent
// (tRNS) they do not say; it makes no difference to R, G, B.
func probeOther(format string, data []byte) (info Info, err error) {
	defer recovered(&err)
	c, err := codecs[format].config(data)
	if err == nil && format == TIFF {
		err = planes(data)
	}
	if err != nil {
		return Info{}, said(format, data, err)
	}
	if c.Width <= 0 || c.Height <= 0 {
		return Info{}, fmt.Errorf("%s: %d x %d", codecs[format].title, c.Width, c.Height)
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
	if format == PNG && data[pngColour] == pngGrayAlpha {
		info.Space = spaceGray // Go's decoder makes it R, G, B
	}
	info.Orientation = orientationOf(format, data)
	return info, nil
}
