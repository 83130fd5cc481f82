package decode

import (
	"bytes"
	"fmt"
	"image"
)

// Limits bound what a file can make a decoder allocate and do. They are checked by what
// the header says, before anything is allocated.
type Limits struct {
	Pixels int64 // of an image; 0 is 178 956 970, above which Pillow refuses an image
	Scans  int   // of a JPEG; 0 is 500, TurboJPEG 2.x's own, which it does not go above
}

const (
	defaultPixels = 178956970
	defaultScans  = 500

	// maxScannedPixels is pixels x scans of a JPEG of many scans. A scan can be a few
	// bytes and still pass over the whole image: 25 empty ones over 13 000 x 13 000 pixels,
	// which is this, took libjpeg-turbo 3 s and Go 4 s. A photograph of 100 million pixels
	// has 10 scans.
	maxScannedPixels = 1 << 32

	// minBitsBlock is what a block of 8 x 8 pixels takes of Huffman-coded data at least:
	// its first coefficient's code. What is far above it by header has no data. Small
	// images are decoded nevertheless, to see what damage they have.
	minBitsBlock  = 1
	alwaysDecoded = 1 << 24 // pixels
)

func (l Limits) withDefaults() Limits {
	if l.Pixels <= 0 {
		l.Pixels = defaultPixels
	}
	if l.Scans <= 0 {
		l.Scans = defaultScans
	}
	return l
}

// check is whether the image is within the limits, and region as far as it is in the
// image. l has its defaults.
func (l Limits) check(data []byte, info *Info, region image.Rectangle) (image.Rectangle, error) {
	n := info.Pixels()
	if info.Width <= 0 || info.Height <= 0 {
		return region, fmt.Errorf("no image of %d x %d", info.Width, info.Height)
	}
	if n > l.Pixels {
		return region, fmt.Errorf("too large: %d x %d is over %d pixels", info.Width, info.Height, l.Pixels)
	}
	if info.Format == JPEG {
		if err := l.checkJPEG(data, info); err != nil {
			return region, err
		}
	}
	in := region.Intersect(image.Rect(0, 0, info.Width, info.Height))
	if in.Empty() {
		return in, fmt.Errorf("region %v is outside the image of %d x %d", region, info.Width, info.Height)
	}
	return in, nil
}

func (l Limits) checkJPEG(data []byte, info *Info) error {
	n := info.Pixels()
	if n > alwaysDecoded && !info.Arithmetic && int64(len(data))*8/minBitsBlock < n/64 {
		return fmt.Errorf("JPEG: %d x %d in %d bytes: no data", info.Width, info.Height, len(data))
	}
	if !info.scans || info.body > len(data) {
		return nil
	}
	// Bytes of a segment between scans can look like one more; that does no harm.
	scans := 1 + bytes.Count(data[info.body:], startOfScan)
	if scans > l.Scans {
		return fmt.Errorf("too large: over %d scans", l.Scans)
	}
	if int64(scans)*n > maxScannedPixels {
		return fmt.Errorf("too large: %d x %d in %d scans", info.Width, info.Height, scans)
	}
	return nil
}
