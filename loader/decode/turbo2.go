package decode

import (
	"bytes"
	"encoding/binary"
	"image"
)

// decode2 decodes from the top to a little below region by TurboJPEG 2.x. That knows no
// regions, but believes a lower height (shorten). tjDecompress2 takes the largest scale of
// N/8 at which the image is not over the width and height given, so that it never writes
// beyond these, whatever size it sees; by the check before, the scale is 1.
func (t *turbo) decode2(info *Info, region image.Rectangle) (Image, error) {
	height := t.shorten(info, region)
	t.out = [4]int32{}
	t.args = [9]uintptr{t.handle, address(&t.data[0]), uintptr(len(t.data)),
		address(&t.out[0]), address(&t.out[1]), address(&t.out[2]), address(&t.out[3])}
	// It fails also for a warning and for chroma of unusual sampling, either of which
	// leave the size and can be decoded.
	if result := int32(t.call(tjDecompressHeader3, 7)); result != 0 && t.out[0] == 0 {
		return Image{}, t.failure()
	}
	if err := t.checkSize(info, height, int(t.out[0]), int(t.out[1])); err != nil {
		return Image{}, err
	}
	m := t.target(info, image.Rect(0, 0, info.Width, height))
	t.args = [9]uintptr{t.handle, address(&t.data[0]), uintptr(len(t.data)), address(&m.Pix[0]),
		uintptr(info.Width), uintptr(m.Stride), uintptr(height), pixelFormat(info), flagAccurateDCT | flagLimitScans}
	result := int32(t.call(tjDecompress2, 9))
	short := height < info.Height
	if short && result != 0 && t.leftOver(&m) {
		result = 0
	}
	if err := t.finish(&m, result, info); err != nil {
		return Image{}, err
	}
	if short && m.Damage == "" && endless(t.data, info) {
		m.Damage = noEnd
	}
	return m, nil
}

// Chroma is interpolated between rows of MCUs, so that the last rows of a lower image
// differ from those of the whole one: rowMargin is the height of the tallest MCU.
// leastSaved is how many rows make a copy of the file worth while.
const (
	rowMargin  = 32
	leastSaved = 16
)

// shorten gives a JPEG of one scan a lower height, in a copy, when the region ends early,
// and returns the height: the rows below are then not decoded.
func (t *turbo) shorten(info *Info, region image.Rectangle) (height int) {
	height = region.Max.Y + rowMargin
	at := info.frame
	if info.scans || info.Lossless || info.Arithmetic || height+leastSaved > info.Height ||
		at == 0 || at+2 > len(t.data) || int(binary.BigEndian.Uint16(t.data[at:])) != info.Height {
		return info.Height
	}
	t.copy = append(t.copy[:0], t.data...)
	binary.BigEndian.PutUint16(t.copy[at:], uint16(height))
	t.data = t.copy
	return height
}

var extraneous = []byte(" extraneous bytes before marker 0xd")

// leftOver is whether all rows of a lower image are there and the library warns only of
// the rest of the scan, up to RST0 to RST7 or EOI. It keeps the first warning, so that one
// of those rows is not lost.
func (t *turbo) leftOver(m *Image) bool {
	reason, warning := t.reason()
	if !warning || t.untouched(m) {
		return false
	}
	_, marker, ok := bytes.Cut(reason, extraneous)
	return ok && len(marker) == 1 && marker[0] >= '0' && marker[0] <= '9' && marker[0] != '8'
}
