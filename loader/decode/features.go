package decode

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"image/jpeg"
	"io"
	"iter"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

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
		if errors.Is(err, bmp.ErrUnsupported) {
			return bmpFeature(data)
		}
	case TIFF:
		if e, ok := errors.AsType[tiff.UnsupportedError](err); ok {
			return tiffFeature(data, string(e))
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

func bmpFeature(data []byte) string {
	const atHeader, shortHeader, header = 14, 12, 40
	if len(data) < atHeader+4 {
		return ""
	}
	size := binary.LittleEndian.Uint32(data[atHeader:])
	switch {
	case size == shortHeader || size == 16 || size == 64:
		return "a header of OS/2"
	case size == 52 || size == 56:
		return fmt.Sprintf("a header of %d bytes", size)
	case size != header && size != 108 && size != 124 || len(data) < atHeader+header:
		return ""
	}
	bits := binary.LittleEndian.Uint16(data[28:])
	compression := binary.LittleEndian.Uint32(data[30:])
	switch {
	case bmpCompressions[compression] != "":
		return bmpCompressions[compression]
	case bits == 16:
		return "16 bits a pixel"
	case compression == 3 || compression == 6:
		return "bit fields"
	case compression == 0 && slices.Contains([]uint16{1, 2, 4, 8, 24, 32}, bits) &&
		binary.LittleEndian.Uint32(data[10:]) > atHeader+size:
		return "a gap before its pixels"
	}
	return ""
}

var bmpCompressions = map[uint32]string{1: "RLE of 8 bits", 2: "RLE of 4 bits", 4: "JPEG inside", 5: "PNG inside"}

// Tags of a TIFF.
const (
	tagBits          = 258
	tagCompression   = 259
	tagPhotometric   = 262
	tagOrientation   = 274
	tagChannels      = 277
	tagPlanar        = 284
	tagSampleFormat  = 339
	planesApart      = 2 // of tagPlanar
	floats           = 3 // of tagSampleFormat
	typeByte         = 1
	typeShort        = 3
	typeLong         = 4
	typeSigned       = 5  // more than the type of numbers that are not
	directoryEntry   = 12 // bytes
	mostOrientations = 8
)

var tiffSizes = map[uint16]uint64{typeByte: 1, typeByte + typeSigned: 1, typeShort: 2, typeShort + typeSigned: 2,
	typeLong: 4, typeLong + typeSigned: 4}

var (
	compressions = map[int]string{2: "CCITT RLE", 6: "JPEG compression of the old kind", 7: "JPEG compression",
		34712: "JPEG 2000 compression", 34887: "LERC compression", 34925: "LZMA compression",
		50000: "Zstandard compression", 50001: "WebP compression", 50002: "JPEG XL compression"}
	photometrics = map[int]string{4: "a transparency mask", 5: "CMYK colours", 6: "YCbCr colours", 8: "Lab colours",
		9: "Lab colours", 10: "Lab colours", 32803: "raw data of a camera", 34892: "raw data of a camera"}
)

// tiffFeature names what of a TIFF Go's decoder does not know: the first that is seen, else
// what the decoder says.
func tiffFeature(data []byte, said string) string {
	d := firstDirectory(data)
	bits, numbers := d.value(tagBits), d.value(tagSampleFormat)
	switch what := cmp.Or(compressions[d.value(tagCompression)], photometrics[d.value(tagPhotometric)]); {
	case what != "":
		return what
	case planes(data) != nil:
		return "its channels in planes"
	case numbers == floats:
		return fmt.Sprintf("floats of %d bits", bits)
	case numbers > 1:
		return "signed numbers"
	case bits > 8 && bits != 16:
		return fmt.Sprintf("%d bits", bits)
	}
	return said
}

// planes is an error of a TIFF that has its channels one after the other, which Go's decoder
// does not see.
func planes(data []byte) error {
	d := firstDirectory(data)
	if d.value(tagPlanar) == planesApart && d.value(tagChannels) > 1 {
		return tiff.UnsupportedError("planes")
	}
	return nil
}

// directory is the first one of a TIFF, or of EXIF data, which are one.
type directory struct {
	order   binary.ByteOrder
	data    []byte
	entries []byte
}

func firstDirectory(data []byte) (d directory) {
	d.order, d.data = binary.LittleEndian, data
	switch {
	case len(data) < 8:
		return d
	case has(data, "MM\x00*"):
		d.order = binary.BigEndian
	case !has(data, "II*\x00"):
		return d
	}
	at := uint64(d.order.Uint32(data[4:]))
	if at+2 > uint64(len(data)) {
		return d
	}
	d.entries = data[at+2:]
	n := min(int(d.order.Uint16(data[at:])), len(d.entries)/directoryEntry)
	d.entries = d.entries[:n*directoryEntry]
	return d
}

// value is the first number of a tag, 0 if there is none.
func (d directory) value(tag uint16) int {
	for e := d.entries; len(e) > 0; e = e[directoryEntry:] {
		if d.order.Uint16(e) != tag {
			continue
		}
		at, size := e[8:12], tiffSizes[d.order.Uint16(e[2:])]
		if size*uint64(d.order.Uint32(e[4:])) > 4 {
			off := uint64(d.order.Uint32(at))
			if off+size > uint64(len(d.data)) {
				return 0
			}
			at = d.data[off:]
		}
		switch size {
		case 1:
			return int(at[0])
		case 2:
			return int(d.order.Uint16(at))
		case 4:
			return int(d.order.Uint32(at))
		}
	}
	return 0
}

// orientation is that of EXIF data; 0 for none, or for one that is not 1 to 8.
func orientation(exif []byte) int {
	if v := firstDirectory(exif).value(tagOrientation); v > 0 && v <= mostOrientations {
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
		exif := pngBody(data, "eXIf")
		if exif == nil {
			exif = rawProfile(data)
		}
		return orientation(bytes.TrimPrefix(exif, exifMark))
	case WebP:
		exif, _ := webpChunks(data).find("EXIF")
		return orientation(bytes.TrimPrefix(exif, exifMark))
	case TIFF:
		return orientation(data)
	}
	return 0
}

// pngBody is the body of the first chunk of a name, nil for none.
func pngBody(data []byte, name string) []byte {
	for c := range pngChunks(data) {
		if c.name() == name {
			return c.body()
		}
	}
	return nil
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

// rawProfile is the EXIF data that ImageMagick writes into a PNG's text: behind a line without
// anything, a name and a length, in hexadecimal; nil for none.
func rawProfile(data []byte) []byte {
	for c := range pngChunks(data) {
		name := c.name()
		text, ok := bytes.CutPrefix(c.body(), []byte("Raw profile type exif\x00"))
		if !ok {
			continue
		}
		switch {
		case name == "zTXt" && len(text) > 0:
			text = inflated(text[1:])
		case name == "iTXt" && len(text) > 2:
			packed := text[0] != 0
			if parts := bytes.SplitN(text[2:], []byte{0}, 3); len(parts) == 3 { // a language, a name in it
				text = parts[2]
			}
			if packed {
				text = inflated(text)
			}
		}
		if lines := bytes.SplitN(text, []byte("\n"), 4); len(lines) == 4 {
			digits := bytes.Join(bytes.Fields(lines[3]), nil)
			exif := make([]byte, len(digits)/2)
			n, _ := hex.Decode(exif, digits)
			return exif[:n]
		}
	}
	return nil
}

// inflated is text that was packed by Deflate, as far as can be read and at most 1 MiB.
func inflated(data []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(z, 1<<20))
	return text
}
