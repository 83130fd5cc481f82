package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image/jpeg"
	"iter"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// bmpHeaders are the sizes of those that BMPs have.
var bmpHeaders = []uint32{12, 16, 40, 52, 56, 64, 108, 124}

// featureOf names the feature for want of which Go's decoder of a format failed with err; ""
// if the file is bad.
func featureOf(format string, data []byte, err error) string {
	switch format {
	case JPEG:
		if info, bad := probeJPEG(data); bad == nil && info.feature() != "" {
			return info.feature()
		}
		// An unknown marker is what destroyed data look like.
		if e, ok := errors.AsType[jpeg.UnsupportedError](err); ok && !strings.Contains(string(e), "marker") {
			return string(e)
		}
	case BMP:
		const size = 14 // is at this byte
		if errors.Is(err, bmp.ErrUnsupported) && slices.Contains(bmpHeaders, binary.LittleEndian.Uint32(data[size:])) {
			return "an unusual header or coding"
		}
	case TIFF:
		if e, ok := errors.AsType[tiff.UnsupportedError](err); ok {
			return "an unusual " + string(e)
		}
	}
	return ""
}

// feature names what of a JPEG not every decoder knows, "" for nothing.
func (i *Info) feature() string {
	switch {
	case i.Lossless:
		return "lossless coding"
	case i.Bits > 8:
		return fmt.Sprintf("%d bits", i.Bits)
	case i.Arithmetic:
		return "arithmetic coding"
	}
	return ""
}

// Tags of a TIFF.
const (
	tagOrientation  = 274
	tagChannels     = 277
	tagPlanar       = 284
	tagSampleFormat = 339
	planesApart     = 2 // of tagPlanar
	floats          = 3 // of tagSampleFormat
)

// tiffSizes are the bytes of numbers, by their type.
var tiffSizes = map[uint64]uint64{1: 1, 3: 2, 4: 4, 6: 1, 8: 2, 9: 4}

// planes is an error of a TIFF that has its channels one after the other, which Go's decoder
// does not see.
func planes(data []byte) error {
	if tiffValue(data, tagPlanar) == planesApart && tiffValue(data, tagChannels) > 1 {
		return tiff.UnsupportedError("order of its channels, in planes")
	}
	return nil
}

// tiffValue is the first number of a tag in the first directory of a TIFF, or of EXIF data, which are
// one; 0 for none.
func tiffValue(data []byte, tag uint64) int {
	big := has(data, "MM\x00*")
	if !big && !has(data, "II*\x00") {
		return 0
	}
	number := func(at, size uint64) (n uint64) {
		if at+size > uint64(len(data)) {
			return 0
		}
		for i, b := range data[at:][:size] {
			if big {
				i = int(size) - 1 - i
			}
			n |= uint64(b) << (8 * i)
		}
		return n
	}
	directory := number(4, 4)
	for i := range number(directory, 2) {
		entry := directory + 2 + 12*i
		if number(entry, 2) != tag {
			continue
		}
		at, size := entry+8, tiffSizes[number(entry+2, 2)]
		if size*number(entry+4, 4) > 4 {
			at = number(at, 4)
		}
		return int(number(at, size))
	}
	return 0
}

// orientation is that of EXIF data; 0 for none, or for one that is not 1 to 8.
func orientation(exif []byte) int {
	if v := tiffValue(exif, tagOrientation); v >= 1 && v <= 8 {
		return v
	}
	return 0
}

// exifMark is what EXIF data begin with in a JPEG, and by some writers elsewhere.
var exifMark = []byte("Exif\x00\x00")

// orientationOf is the orientation by the EXIF data of a file that is no JPEG.
func orientationOf(format string, data []byte) int {
	switch format {
	case PNG:
		for c := range pngChunks(data) {
			if c.name() == "eXIf" {
				return orientation(bytes.TrimPrefix(c.body(), exifMark))
			}
		}
	case WebP:
		exif, _ := webpChunks(data).find("EXIF")
		return orientation(bytes.TrimPrefix(exif, exifMark))
	case TIFF:
		return orientation(data)
	}
	return 0
}

// pngChunk is a PNG from the name of a chunk on, whose body has so many bytes.
type pngChunk struct {
	size uint64
	data []byte
}

func (c pngChunk) name() string { return string(c.data[:4]) }

// body is as much of it as there is.
func (c pngChunk) body() []byte { return c.data[4:][:min(c.size, uint64(len(c.data)-4))] }

// whole is whether all of it is there, with the right checksum.
func (c pngChunk) whole() bool {
	end := 4 + c.size
	return end+4 <= uint64(len(c.data)) && crc32.ChecksumIEEE(c.data[:end]) == binary.BigEndian.Uint32(c.data[end:])
}

// pngChunks are those of which the head is there.
func pngChunks(data []byte) iter.Seq[pngChunk] {
	const signature, head, checksum = 8, 8, 4
	return func(yield func(pngChunk) bool) {
		for at := uint64(signature); at+head <= uint64(len(data)); {
			c := pngChunk{uint64(binary.BigEndian.Uint32(data[at:])), data[at+4:]}
			if !yield(c) {
				return
			}
			at += head + c.size + checksum
		}
	}
}
