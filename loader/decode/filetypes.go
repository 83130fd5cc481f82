package decode

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Formats that are recognised by content, never by name.
const (
	JPEG = "jpeg"
	PNG  = "png"
	GIF  = "gif"
	BMP  = "bmp"
	WebP = "webp"
	TIFF = "tiff"
	PNM  = "pnm"
)

// FileType is a kind of file that is told by how it begins.
type FileType struct {
	Name   string // in messages
	Format string // of an image that is decoded, one of the constants; "" for others

	// Image says that files of it are images, so that one is valid even if no decoder here
	// knows it. Others stand where an image should be.
	Image bool

	Decoded string // variants that are decoded
	Named   string // variants that are valid but not decoded here

	// What tells it, one of these:
	signs []string               // how files begin; a dot is any byte
	words []string               // how text begins, in lower case, behind white space
	is    func(data []byte) bool // nil for nothing
}

// FileTypes are the kinds of files that are told apart, of two that could be meant the one
// that says more first.
var FileTypes = []FileType{
	{Name: "JPEG", Format: JPEG, Image: true, signs: []string{"\xff\xd8"},
		Decoded: "baseline, progressive and arithmetic coding; grey, YCbCr, RGB, CMYK, YCCK",
		Named:   "hierarchical; lossless and 12 bits; arithmetic coding by Go's decoder"},
	{Name: "PNG", Format: PNG, Image: true, signs: []string{"\x89PNG\r\n\x1a\n"},
		Decoded: "all; of an animation the still image"},
	{Name: "GIF", Format: GIF, Image: true, signs: []string{"GIF87a", "GIF89a"}, Decoded: "the first frame"},
	{Name: "WebP", Format: WebP, Image: true, signs: []string{"RIFF....WEBP"},
		Decoded: "with loss and without; the first frame of an animation"},
	{Name: "BMP", Format: BMP, Image: true, signs: []string{"BM"}, Decoded: "1 to 8, 24 and 32 bits a pixel",
		Named: "OS/2 headers, RLE, bit fields, 16 bits a pixel"},
	{Name: "BigTIFF", Image: true, signs: []string{"II+\x00", "MM\x00+"}},
	{Name: "Canon raw image", Image: true, signs: []string{"II*\x00....CR", "II\x1a\x00\x00\x00HEAPCCDR"}},
	{Name: "TIFF", Format: TIFF, Image: true, signs: []string{"II*\x00", "MM\x00*"},
		Decoded: "the first image: grey, palette and RGB of 8 and 16 bits; LZW, Deflate, PackBits, CCITT",
		Named:   "CMYK, YCbCr, Lab; planes; floats; JPEG, Zstandard and other compression"},
	{Name: "PNM", Format: PNM, Image: true, is: isPNM, Decoded: "P1 to P6, 8 and 16 bits; the first image"},

	{Name: "PAM", Image: true, signs: []string{"P7\n"}},
	{Name: "PFM", Image: true, signs: []string{"PF\n", "Pf\n"}},
	{Name: "AVIF", Image: true, is: brands("avif", "avis")},
	{Name: "HEIC", Image: true, is: brands("heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1")},
	{Name: "JPEG XL", Image: true, signs: []string{"\xff\x0a", "\x00\x00\x00\x0cJXL "}},
	{Name: "JPEG 2000", Image: true, signs: []string{"\x00\x00\x00\x0cjP  ", "\xff\x4f\xff\x51"}},
	{Name: "JPEG XR", Image: true, signs: []string{"II\xbc"}},
	{Name: "PDF", Image: true, signs: []string{"%PDF-"}},
	{Name: "PostScript", Image: true, signs: []string{"%!PS", "\xc5\xd0\xd3\xc6"}},
	{Name: "SVG", Image: true, is: isSVG},
	{Name: "PSD", Image: true, signs: []string{"8BPS"}},
	{Name: "OpenEXR", Image: true, signs: []string{"v/1\x01"}},
	{Name: "Radiance HDR", Image: true, signs: []string{"#?RADIANCE", "#?RGBE"}},
	{Name: "DICOM", Image: true, is: func(data []byte) bool { return len(data) > 132 && has(data[128:], "DICM") }},
	{Name: "FITS", Image: true, signs: []string{"SIMPLE  ="}},
	{Name: "TGA", Image: true, is: func(data []byte) bool {
		return bytes.HasSuffix(data, []byte("TRUEVISION-XFILE.\x00"))
	}},
	{Name: "ICO", Image: true, signs: []string{"\x00\x00\x01\x00.\x00", "\x00\x00\x02\x00.\x00"}},
	{Name: "ICNS", Image: true, signs: []string{"icns"}},
	{Name: "DDS", Image: true, signs: []string{"DDS "}},
	{Name: "QOI", Image: true, signs: []string{"qoif"}},
	{Name: "PCX", Image: true, signs: []string{"\x0a\x00\x01", "\x0a\x02\x01", "\x0a\x03\x01", "\x0a\x05\x01"}},
	{Name: "SGI", Image: true, signs: []string{"\x01\xda\x00", "\x01\xda\x01"}},
	{Name: "Sun raster", Image: true, signs: []string{"\x59\xa6\x6a\x95"}},
	{Name: "XCF", Image: true, signs: []string{"gimp xcf"}},
	{Name: "MNG", Image: true, signs: []string{"\x8aMNG", "\x8bJNG"}},
	{Name: "XBM", Image: true, words: []string{"#define "}},
	{Name: "XPM", Image: true, signs: []string{"/* XPM */"}},
	{Name: "BLP", Image: true, signs: []string{"BLP1", "BLP2"}},
	{Name: "IM", Image: true, signs: []string{"Image type: "}},
	{Name: "MSP", Image: true, signs: []string{"DanM", "LinS"}},
	{Name: "BPG", Image: true, signs: []string{"BPG\xfb"}},
	{Name: "FLIF", Image: true, signs: []string{"FLIF"}},
	{Name: "raw image of a camera", Image: true, is: brands("crx "),
		signs: []string{"FUJIFILMCCD-RAW", "IIRO", "IIRS", "MMOR", "IIU\x00"}},

	{Name: "an HTML page", words: []string{"<!doctype html", "<html", "<head", "<body", "<script", "<title", "<meta",
		"<center", "<h1"}},
	{Name: "XML", words: []string{"<?xml", "<error", "<!--", "<!doctype"}},
	{Name: "HTML or XML", words: []string{"<"}},
	{Name: "a Git LFS pointer: run git lfs pull", words: []string{"version https://git-lfs"}},
	{Name: "a git-annex pointer", words: []string{"/annex/objects/", "../.git/annex/"}},
	{Name: "base64 of an image", words: []string{"/9j/", "ivborw0kggo", "r0lgod", "uklgr", "data:image/"}},
	{Name: "JSON", words: []string{"{", "["}},
	{Name: "an AppleDouble file of macOS", signs: []string{"\x00\x05\x16\x07", "\x00\x05\x16\x00"}},
	{Name: "gzip data", signs: []string{"\x1f\x8b"}},
	{Name: "bzip2 data", signs: []string{"BZh.1AY&SY"}},
	{Name: "xz data", signs: []string{"\xfd7zXZ\x00"}},
	{Name: "Zstandard data", signs: []string{"\x28\xb5\x2f\xfd"}},
	{Name: "LZ4 data", signs: []string{"\x04\x22\x4d\x18"}},
	{Name: "a ZIP archive", signs: []string{"PK\x03\x04", "PK\x05\x06"}},
	{Name: "a 7-Zip archive", signs: []string{"7z\xbc\xaf\x27\x1c"}},
	{Name: "a RAR archive", signs: []string{"Rar!\x1a\x07"}},
	{Name: "a tar archive", is: func(data []byte) bool { return len(data) > 262 && has(data[257:], "ustar") }},
	{Name: "Parquet", signs: []string{"PAR1"}},
	{Name: "Arrow", signs: []string{"ARROW1"}},
	{Name: "HDF5", signs: []string{"\x89HDF\r\n\x1a\n"}},
	{Name: "a NumPy array", signs: []string{"\x93NUMPY"}},
	{Name: "a Python pickle", signs: []string{"\x80\x02", "\x80\x03", "\x80\x04\x95", "\x80\x05\x95"}},
	{Name: "an SQLite database", signs: []string{"SQLite format 3\x00"}},
	{Name: "a video", signs: []string{"....ftyp", "....moov", "....mdat", "\x1a\x45\xdf\xa3", "RIFF....AVI ",
		"\x00\x00\x01\xba", "\x00\x00\x01\xb3", "FLV\x01"}},
	{Name: "sound", signs: []string{"RIFF....WAVE", "ID3", "OggS", "fLaC"}},
	{Name: "nothing but zeros", is: func(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) == 0 }},
	{Name: "a JPEG behind bytes that do not belong there", is: func(data []byte) bool {
		return bytes.Contains(data[:min(len(data), looked)], []byte("\xff\xd8\xff"))
	}},
	{Name: "text", words: []string{""}, signs: []string{"\xff\xfe", "\xfe\xff"}},
}

const looked = 1024

// FileTypeOf is what a file is by how it begins, nil if it is nothing that is known here.
func FileTypeOf(data []byte) *FileType {
	if len(data) == 0 {
		return nil
	}
	text, isText := plain(data)
	for i := range FileTypes {
		t := &FileTypes[i]
		if slices.ContainsFunc(t.signs, func(sign string) bool { return begins(data, sign) }) ||
			isText && slices.ContainsFunc(t.words, func(word string) bool { return strings.HasPrefix(text, word) }) ||
			t.is != nil && t.is(data) {
			return t
		}
	}
	return nil
}

// Format is the format of an image that is decoded here, by how its file begins; else "".
func Format(data []byte) string {
	if has(data, "\xff\xd8") { // nearly always
		return JPEG
	}
	if t := FileTypeOf(data); t != nil {
		return t.Format
	}
	return ""
}

// begins is whether data begin as a sign says, in which a dot is any byte.
func begins(data []byte, sign string) bool {
	if len(data) < len(sign) {
		return false
	}
	for i := range len(sign) {
		if sign[i] != '.' && sign[i] != data[i] {
			return false
		}
	}
	return true
}

func has(data []byte, prefix string) bool {
	return len(data) >= len(prefix) && string(data[:len(prefix)]) == prefix
}

// plain is the beginning of a text in lower case, without its byte order mark and white space.
func plain(data []byte) (text string, isText bool) {
	data = bytes.TrimPrefix(data[:min(len(data), looked)], []byte("\xef\xbb\xbf"))
	text = strings.ToLower(string(bytes.TrimLeft(data, " \t\r\n\f\v")))
	binary := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n\f", r) }
	return text, !strings.ContainsFunc(text, binary)
}

func isSVG(data []byte) bool {
	text, _ := plain(data)
	return strings.HasPrefix(text, "<") && strings.Contains(text, "<svg")
}

func isPNM(data []byte) bool {
	return len(data) > 2 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' && (isSpace(data[2]) || data[2] == '#')
}

// brands is whether a file of the ISO base media format names one of these as its kind, or
// among those that it is compatible with.
func brands(names ...string) func(data []byte) bool {
	return func(data []byte) bool {
		if !begins(data, "....ftyp") {
			return false
		}
		size := int(data[2])<<8 | int(data[3])
		for at := 8; at+4 <= min(size, len(data)); at += 4 {
			if at != 12 && slices.Contains(names, string(data[at:at+4])) { // at 12 is a version
				return true
			}
		}
		return false
	}
}

// Unsupported says that a file is an image, as far as can be seen, but that nothing here
// decodes its format, or a feature that it uses.
type Unsupported struct{ Format, Feature string }

func (e *Unsupported) Error() string {
	if e.Feature == "" {
		return e.Format + ", not decoded here"
	}
	return fmt.Sprintf("%s with %s, not decoded here", e.Format, e.Feature)
}

var (
	errEmpty   = errors.New("empty file")
	errUnknown = errors.New("not an image that is known here")
)

// unknown is why a file is not decoded whose format is none of those that are.
func unknown(data []byte) error {
	t := FileTypeOf(data)
	switch {
	case len(data) == 0:
		return errEmpty
	case t == nil:
		return errUnknown
	case t.Image:
		return &Unsupported{Format: t.Name}
	}
	return fmt.Errorf("not an image: %s", t.Name)
}
