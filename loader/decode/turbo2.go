package decode

import "image"

// decode2 decodes the whole image by TurboJPEG 2.x. tjDecompress2 takes the largest
// scale of N/8 at which the image is not over the width and height given, so that it
// never writes beyond these, whatever size it sees; by the check before, the scale is 1.
func (t *turbo) decode2(info *Info) (Image, error) {
	t.out = [4]int32{}
	t.args = [9]uintptr{t.handle, address(&t.data[0]), uintptr(len(t.data)),
		address(&t.out[0]), address(&t.out[1]), address(&t.out[2]), address(&t.out[3])}
	// It fails also for a warning and for chroma of unusual sampling, either of which
	// leave the size and can be decoded.
	if result := int32(t.call(tjDecompressHeader3, 7)); result != 0 && t.out[0] == 0 {
		return Image{}, t.failure()
	}
	if err := t.checkSize(info, int(t.out[0]), int(t.out[1])); err != nil {
		return Image{}, err
	}
	m := t.target(info, image.Rect(0, 0, info.Width, info.Height))
	t.args = [9]uintptr{t.handle, address(&t.data[0]), uintptr(len(t.data)), address(&m.Pix[0]),
		uintptr(info.Width), uintptr(m.Stride), uintptr(info.Height), pixelFormat(info), flagAccurateDCT | flagLimitScans}
	return m, t.finish(&m, int32(t.call(tjDecompress2, 9)), info)
}
