package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Markers of ITU-T T.81, Table B.1.
const (
	sof0  = 0xc0
	sof15 = 0xcf
	dht   = 0xc4
	jpg   = 0xc8
	dac   = 0xcc
	rst0  = 0xd0
	rst7  = 0xd7
	soi   = 0xd8
	eoi   = 0xd9
	sos   = 0xda
	dri   = 0xdd
	app0  = 0xe0
	app1  = 0xe1
	app14 = 0xee
	tem   = 0x01
)

var (
	startOfScan = []byte{0xff, sos}
	endOfImage  = []byte{0xff, eoi}
)

var (
	errSegment = errors.New("JPEG: a segment of a wrong length")
	errNoScan  = errors.New("JPEG: the data end before the first scan")
)

// jpegHeader is what of the segments before the first scan says how to read a JPEG.
type jpegHeader struct {
	frame     []byte // of the frame header, behind its length
	process   byte   // the frame header's marker
	jfif      bool
	adobe     bool
	transform byte // of Adobe's segment
}

// probeJPEG reads the segments up to the first scan. Like libjpeg, it passes over bytes
// between segments.
func probeJPEG(data []byte) (Info, error) {
	var h jpegHeader
	info := Info{Format: JPEG}
	for rest := data[2:]; ; {
		for len(rest) > 0 && rest[0] != 0xff {
			rest = rest[1:]
		}
		for len(rest) > 0 && rest[0] == 0xff {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] == eoi {
			return info, errNoScan
		}
		marker := rest[0]
		rest = rest[1:]
		switch {
		case marker == 0, marker == tem, marker >= rst0 && marker <= rst7:
			continue
		case marker == soi:
			return info, errors.New("JPEG: a second start of image")
		case len(rest) < 2:
			return info, errNoScan
		}
		n := int(binary.BigEndian.Uint16(rest))
		switch {
		case n < 2:
			return info, errSegment
		case len(rest) < n:
			return info, errNoScan
		}
		segment := rest[2:n]
		rest = rest[n:]
		if marker == sos {
			info.body = len(data) - len(rest)
			return info, h.describe(&info, segment)
		}
		if err := h.segment(&info, marker, segment); err != nil {
			return info, err
		}
		if h.frame != nil && info.frame == 0 {
			info.frame = len(data) - len(rest) - len(segment) + 1 // behind precision
		}
	}
}

func (h *jpegHeader) segment(info *Info, marker byte, s []byte) error {
	switch {
	case marker == app0:
		h.jfif = h.jfif || len(s) >= 14 && has(s, "JFIF\x00")
	case marker == app1:
		if info.Orientation == 0 && has(s, "Exif\x00\x00") {
			info.Orientation = orientation(s[6:])
		}
	case marker == app14:
		if len(s) >= 12 && has(s, "Adobe") {
			h.adobe, h.transform = true, s[11]
		}
	case marker >= sof0 && marker <= sof15 && marker != dht && marker != jpg && marker != dac:
		if h.frame != nil {
			return errors.New("JPEG: two frame headers")
		}
		if len(s) < 6 || len(s) < 6+3*int(s[5]) {
			return errSegment
		}
		h.frame, h.process = s, marker
	}
	return nil
}

// describe says what the frame header and the header of the first scan mean.
func (h *jpegHeader) describe(info *Info, scan []byte) error {
	if h.frame == nil {
		return errors.New("JPEG: a scan before the frame header")
	}
	info.Bits, info.Height = int(h.frame[0]), int(binary.BigEndian.Uint16(h.frame[1:]))
	info.Width = int(binary.BigEndian.Uint16(h.frame[3:]))
	components := int(h.frame[5])
	info.Lossless = h.process&7 == 3 // SOF3, SOF11
	info.Progressive = h.process&3 == 2
	info.Arithmetic = h.process >= 0xc9
	switch {
	case h.process&4 != 0:
		return &Unsupported{"JPEG", "hierarchical coding"}
	case info.Height == 0 || info.Width == 0 || components == 0: // a height may be defined behind the first scan
		return fmt.Errorf("JPEG: %d x %d pixels of %d components by its header", info.Width, info.Height, components)
	case len(scan) == 0:
		return errSegment
	}
	info.Space = h.space(components)
	if info.Space == spaceYCbCr || info.Space == spaceYCCK {
		info.Subsampling = subsampling(h.frame[6:])
	}
	info.mcu = mcuWidth(h.frame[6:], components)
	info.scans = info.Progressive || int(scan[0]) < components
	return nil
}

// space is the colour space of the components, found as libjpeg does
// (default_decompress_parms in jdapimin.c).
func (h *jpegHeader) space(components int) string {
	switch {
	case components == 1:
		return spaceGray
	case components == 3 && !h.jfif && (h.adobe && h.transform == 0 || !h.adobe && h.named("RGB")):
		return spaceRGB
	case components == 3:
		return spaceYCbCr
	case components == 4 && h.adobe && h.transform != 0:
		return spaceYCCK
	case components == 4:
		return spaceCMYK
	}
	return ""
}

func (h *jpegHeader) named(ids string) bool {
	return h.frame[6] == ids[0] && h.frame[9] == ids[1] && h.frame[12] == ids[2]
}

// mcuWidth is in pixels. The sampling factor of a single component has no meaning.
func mcuWidth(c []byte, components int) int {
	if components == 1 {
		return 8
	}
	most := 1
	for i := range components {
		most = max(most, int(c[3*i+1]>>4))
	}
	return 8 * most
}

// subsamplings are by the horizontal and vertical distance of chroma samples.
var subsamplings = map[[2]byte]string{
	{1, 1}: "4:4:4", {2, 1}: "4:2:2", {2, 2}: "4:2:0", {1, 2}: "4:4:0", {4, 1}: "4:1:1", {4, 2}: "4:1:0",
}

// subsampling names the sampling of chroma, by the components of the frame header: an
// identifier, the two sampling factors and a table each.
func subsampling(c []byte) string {
	h, v := c[1]>>4, c[1]&15
	ch, cv := c[4]>>4, c[4]&15
	if c[4] != c[7] || ch == 0 || cv == 0 || h%ch != 0 || v%cv != 0 {
		return "other"
	}
	if name, ok := subsamplings[[2]byte{h / ch, v / cv}]; ok {
		return name
	}
	return "other"
}

// endless is whether a JPEG has no end marker behind the start of its first scan.
func endless(data []byte, info *Info) bool {
	if bytes.HasSuffix(data, endOfImage) {
		return false
	}
	return info.body <= len(data) && !bytes.Contains(data[info.body:], endOfImage)
}
