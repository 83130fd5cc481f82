package decode

import (
	"bytes"
	"fmt"
	"image"
)

// limits bound what a file can make a decoder allocate and do. They are checked by what
// the header says, before anything is allocated.
type limits struct {
	pixels int64 // of an image
	scans  int   // of a JPEG
}

// usual are the limits of all decoders but those of tests: 500 scans are TurboJPEG 2.x's own limit.
var usual = limits{pixels: mostOfPillow, scans: 500}

const (
	// maxScannedPixels is pixels x scans of a JPEG of many scans. A scan can be a few
	// bytes and still pass over the whole image: 25 empty ones over 13 000 x 13 000 pixels,
	// which is this, took libjpeg-turbo 3 s and Go 4 s. A photograph of 100 million pixels
	// has 10 scans.
	maxScannedPixels = 1 << 32

	// alwaysDecoded is of how many pixels an image is decoded, to see what damage it has, even if it is far
	// above what its data can hold: a block of 8 x 8 pixels takes one bit of Huffman-coded data at least.
	alwaysDecoded = 1 << 24
)

// check is whether the image is within the limits, and region as far as it is in the
// image.
func (l limits) check(data []byte, info *Info, region image.Rectangle) (image.Rectangle, error) {
	if info.Pixels() > l.pixels {
		return region, fmt.Errorf("too large: %d x %d is over %d pixels", info.Width, info.Height, l.pixels)
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

func (l limits) checkJPEG(data []byte, info *Info) error {
	n := info.Pixels()
	if n > alwaysDecoded && !info.Arithmetic && int64(len(data))*8 < n/64 {
		return fmt.Errorf("JPEG: %d x %d in %d bytes: no data", info.Width, info.Height, len(data))
	}
	if !info.scans || info.body > len(data) {
		return nil
	}
	// Bytes of a segment between scans can look like one more; that does no harm.
	scans := 1 + bytes.Count(data[info.body:], startOfScan)
	if scans > l.scans {
		return fmt.Errorf("too large: over %d scans", l.scans)
	}
	if int64(scans)*n > maxScannedPixels {
		return fmt.Errorf("too large: %d x %d in %d scans", info.Width, info.Height, scans)
	}
	return nil
}
