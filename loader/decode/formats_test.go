package decode

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pnmFiles are images of 3 x 2 pixels in each of Netpbm's formats, and their pixels.
var pnmFiles = map[string]struct {
	data string
	want [6][3]byte
	info Info
}{
	"P1": {"P1\n# a comment\n3 2\n1 0 1\n011", gray3(0, 255, 0, 255, 0, 0), Info{Space: spaceGray, Bits: 8}},
	"P4": {"P4 3 2\n\xa0\x60", gray3(0, 255, 0, 255, 0, 0), Info{Space: spaceGray, Bits: 8}},
	"P2": {"P2\n3 2 # one line\n10\n0 1 2 5 9\n#last\n10",
		gray3(0, 26, 51, 128, 230, 255), Info{Space: spaceGray, Bits: 8}},
	"P5": {"P5\n3 2\n255\n\x00\x01\x02\x80\xfe\xff", gray3(0, 1, 2, 128, 254, 255), Info{Space: spaceGray, Bits: 8}},
	"P5 of 16 bits": {"P5\t3\t2\t65535\t\x00\x00\x01\x01\x02\x02\x80\x80\xfe\xfe\xff\xff",
		gray3(0, 1, 2, 128, 254, 255), Info{Space: spaceGray, Bits: 16}},
	"P5 of 10 bits": {"P5 3 2 1023\n\x00\x00\x00\x04\x00\x08\x02\x02\x03\xfb\x03\xff",
		gray3(0, 1, 2, 128, 254, 255), Info{Space: spaceGray, Bits: 16}},
	"P3": {"P3\n3 2\n255\n1 2 3 4 5 6 7 8 9\n10 11 12 13 14 15 16 17 18\n", ramp(), Info{Space: spaceRGB, Bits: 8}},
	"P3 of 16 bits": {"P3 3 2 65535 257 514 771 1028 1285 1542 1799 2056 2313 " +
		"2570 2827 3084 3341 3598 3855 4112 4369 4626",
		ramp(), Info{Space: spaceRGB, Bits: 16}},
	"P6": {"P6\r\n3 2\r\n255\n\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12 and more",
		ramp(), Info{Space: spaceRGB, Bits: 8}},
	"P6 of 16 bits": {"P6 3 2 65535\n\x01\x01\x02\x02\x03\x03\x04\x04\x05\x05\x06\x06\x07\x07\x08\x08\x09\x09" +
		"\x0a\x0a\x0b\x0b\x0c\x0c\x0d\x0d\x0e\x0e\x0f\x0f\x10\x10\x11\x11\x12\x12",
		ramp(), Info{Space: spaceRGB, Bits: 16}},
}

func gray3(values ...byte) (p [6][3]byte) {
	for i, v := range values {
		p[i] = [3]byte{v, v, v}
	}
	return p
}

func ramp() (p [6][3]byte) {
	for i := range p {
		p[i] = [3]byte{byte(3*i + 1), byte(3*i + 2), byte(3*i + 3)}
	}
	return p
}

// All of Netpbm's formats are decoded; a file that is cut off anywhere is bad.
func TestPNM(t *testing.T) {
	d := newDecoder(t, Go)
	for name, c := range pnmFiles {
		m, info := whole(t, d, []byte(c.data))
		c.info.Format, c.info.Width, c.info.Height = PNM, 3, 2
		if info != c.info {
			t.Errorf("%s: %+v, want %+v", name, info, c.info)
		}
		for i, want := range c.want {
			if got := at(m, i%3, i/3); got != want {
				t.Errorf("%s: pixel %d is %v, want %v", name, i, got, want)
			}
		}
		data, _, _ := strings.Cut(c.data, " and more")
		end := len(data) - 1
		if name[:2] == "P2" || name[:2] == "P3" {
			end = strings.LastIndex(strings.TrimSpace(data), " ") // the last number may be any
		}
		for cut := range end {
			if _, _, err := tried(d, []byte(c.data[:cut])); err == nil {
				t.Errorf("%s: cut at %d of %d it is good", name, cut, len(c.data))
			}
		}
	}
}

// FuzzPNM holds the header against the pixels.
func FuzzPNM(f *testing.F) {
	for _, c := range pnmFiles {
		f.Add([]byte(c.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := configPNM(data)
		if err != nil || int64(c.Width)*int64(c.Height) > 1<<18 {
			return
		}
		if m, err := decodePNM(data); err == nil && m.Bounds() != image.Rect(0, 0, c.Width, c.Height) {
			t.Errorf("%v, by the header %d x %d", m.Bounds(), c.Width, c.Height)
		}
	})
}

// webpChunk is a chunk of a WebP file.
func webpChunk(name string, body ...byte) []byte {
	out := append([]byte(name), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...)
	return append(append(out, body...), make([]byte, len(body)%2)...)
}

// extendedWebP is a WebP file of chunks behind a VP8X chunk, on a canvas of w x h.
func extendedWebP(flags byte, w, h int, chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), webpChunk("VP8X", flags, 0, 0, 0, byte(w-1), 0, 0, byte(h-1), 0, 0)...)
	body = append(body, slices.Concat(chunks...)...)
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...), body...)
}

// animatedWebP has webpFile, 20 x 10 pixels, as its frame at 4, 6 of a canvas of 30 x 20.
func animatedWebP() []byte {
	head := []byte{2, 0, 0, 3, 0, 0, 19, 0, 0, 9, 0, 0, 100, 0, 0, 0}
	frame := webpChunk("ANMF", append(head, webpFile[riffHead:]...)...)
	return extendedWebP(isAnimation, 30, 20, webpChunk("ANIM", 0, 0, 0, 0, 0, 0), frame, frame)
}

// The first frame of an animated WebP stands where it belongs, on black.
func TestAnimatedWebP(t *testing.T) {
	data := animatedWebP()
	m, info := whole(t, newDecoder(t, Go), data)
	if info.Width != 30 || info.Height != 20 || info.Space != spaceYCbCr {
		t.Errorf("%+v", info)
	}
	still, _ := whole(t, newDecoder(t, Go), webpFile)
	for p, want := range map[image.Point][3]byte{{0, 0}: {}, {3, 6}: {}, {4, 5}: {}, {4, 6}: at(still, 0, 0),
		{23, 15}: at(still, 19, 9), {24, 15}: {}, {23, 16}: {}} {
		if got := at(m, p.X, p.Y); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
	outside := slices.Clone(data)
	i := strings.Index(string(data), "ANMF") + chunkHead
	outside[i] = 99
	for _, bad := range [][]byte{outside, data[:i], data[:i+30], extendedWebP(isAnimation, 30, 20)} {
		if _, _, err := tried(newDecoder(t, Go), bad); err == nil || !strings.HasPrefix(err.Error(), "WebP: ") {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}

// Numbers of a tag of a TIFF, and tags.
const (
	typeByte        = 1
	typeShort       = 3
	typeLong        = 4
	typeSignedShort = 8

	tagBits        = 258
	tagCompression = 259
	tagPhotometric = 262
)

// exifOf is EXIF data whose orientation is 6, as a number of one of the types that writers
// use.
func exifOf(order binary.AppendByteOrder, kind uint16) []byte {
	out := order.AppendUint32(order.AppendUint16([]byte("II"), 42), 8)
	if order == binary.AppendByteOrder(binary.BigEndian) {
		copy(out, "MM")
	}
	out = order.AppendUint16(order.AppendUint16(out, 1), tagOrientation)
	out = order.AppendUint32(order.AppendUint16(out, kind), 1)
	switch kind {
	case typeByte:
		out = append(out, 6, 0, 0, 0)
	case typeShort, typeSignedShort:
		out = append(order.AppendUint16(out, 6), 0, 0)
	default:
		out = order.AppendUint32(out, 6)
	}
	return append(out, 0, 0, 0, 0)
}

// pngChunkOf is a chunk of a PNG.
func pngChunkOf(name string, body []byte) []byte {
	all := append([]byte(name), body...)
	out := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), all...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(all))
}

func deflated(text []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(text)
	z.Close()
	return out.Bytes()
}

func TestOrientation(t *testing.T) {
	plain := flat(9, 8, 100).build()
	pngFile := encodePNG(t, scene(9, 8))
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, kind := range []uint16{typeByte, typeShort, typeLong, typeSignedShort} {
			exif := exifOf(order, kind)
			segment := append([]byte("Exif\x00\x00"), exif...)
			jpegHead := append([]byte{0xff, soi, 0xff, app1, 0, byte(len(segment) + 2)}, segment...)
			chunk := pngChunkOf("eXIf", exif)
			const behindHeader = 33
			for name, data := range map[string][]byte{
				"JPEG":                slices.Concat(jpegHead, plain[2:]),
				"WebP":                extendedWebP(1<<3, 20, 10, webpFile[riffHead:], webpChunk("EXIF", exif...)),
				"WebP, marked":        extendedWebP(1<<3, 20, 10, webpFile[riffHead:], webpChunk("EXIF", segment...)),
				"PNG":                 slices.Concat(pngFile[:behindHeader], chunk, pngFile[behindHeader:]),
				"PNG, behind the end": slices.Concat(pngFile[:len(pngFile)-12], chunk, pngFile[len(pngFile)-12:]),
			} {
				info, _ := Probe(data)
				if info.Orientation != 6 {
					t.Errorf("%s, %v, type %d: orientation %d", name, order, kind, info.Orientation)
				}
			}
		}
	}
}

// bmpOf is the headers of a BMP of 8 x 8 pixels.
func bmpOf(header, bits, compression, gap int) []byte {
	b := make([]byte, 14+header+gap+8*8*4)
	copy(b, "BM")
	le := binary.LittleEndian
	le.PutUint32(b[10:], uint32(14+header+gap))
	le.PutUint32(b[14:], uint32(header))
	if header == 12 {
		copy(b[18:], []byte{8, 0, 8, 0, 1, 0, byte(bits)})
		return b
	}
	le.PutUint32(b[18:], 8)
	le.PutUint32(b[22:], 8)
	copy(b[26:], []byte{1, 0, byte(bits), 0, byte(compression)})
	return b
}

// tiffOf is a TIFF of 8 x 8 pixels in 1 strip, with tags that replace the usual ones.
func tiffOf(tags map[uint16]uint32) []byte {
	all := map[uint16]uint32{256: 8, 257: 8, tagBits: 8, tagCompression: 1, tagPhotometric: 1, 273: 8, tagChannels: 1,
		278: 8, 279: 64}
	for tag, v := range tags {
		all[tag] = v
	}
	le := binary.LittleEndian
	out := append([]byte("II*\x00"), 8+192, 0, 0, 0)
	out = le.AppendUint16(append(out, make([]byte, 192)...), uint16(len(all)))
	for tag := range uint16(400) {
		if v, ok := all[tag]; ok {
			out = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(out, tag), typeLong), 1), v)
		}
	}
	return append(out, 0, 0, 0, 0)
}

// Images that nothing here decodes are told from bad files, by what of them is not known.
func TestUnsupported(t *testing.T) {
	box := func(brands string) string { return "\x00\x00\x00" + string(rune(8+len(brands))) + "ftyp" + brands }
	jpegOf := func(process, precision byte) string {
		return string(blocks{width: 8, height: 8, sampling: []byte{0x11}, process: process, precision: precision,
			value: checked(0, 0).value}.build())
	}
	for name, c := range map[string]struct{ data, want string }{
		"AVIF":            {box("avif\x00\x00\x00\x00mif1miaf"), "AVIF, not"},
		"AVIF, as mif1":   {box("mif1\x00\x00\x00\x00miafavif"), "AVIF, not"},
		"HEIC":            {box("heic\x00\x00\x00\x00mif1heic"), "HEIC, not"},
		"JPEG XL":         {"\xff\x0a\xfa\x1f", "JPEG XL, not"},
		"JPEG XL, boxed":  {"\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a", "JPEG XL, not"},
		"JPEG 2000":       {"\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a", "JPEG 2000, not"},
		"JPEG 2000, bare": {"\xff\x4f\xff\x51\x00\x2f", "JPEG 2000, not"},
		"PDF":             {"%PDF-1.7\n", "PDF, not"},
		"SVG":             {"\xef\xbb\xbf<?xml version='1.0'?>\n<SVG width='3'>", "SVG, not"},
		"PSD":             {"8BPS\x00\x01", "PSD, not"},
		"PAM":             {"P7\nWIDTH 3\n", "PAM, not"},
		"BigTIFF":         {"II+\x00\x08\x00\x00\x00", "BigTIFF, not"},
		"hierarchical":    {jpegOf(0xc5, 8), "JPEG with hierarchical coding"},
		"12 bits":         {jpegOf(0xc1, 12), "JPEG with 12 bits"},
		"BMP of OS/2":     {string(bmpOf(12, 24, 0, 0)), "BMP with an unusual header or coding"},
		"BMP, RLE8":       {string(bmpOf(40, 8, 1, 0)), "BMP with an unusual header or coding"},
		"BMP, RLE4":       {string(bmpOf(40, 4, 2, 0)), "BMP with an unusual header or coding"},
		"BMP, 565":        {string(bmpOf(40, 16, 3, 12)), "BMP with an unusual header or coding"},
		"BMP, 555":        {string(bmpOf(40, 16, 0, 0)), "BMP with an unusual header or coding"},
		"BMP, fields":     {string(bmpOf(124, 32, 3, 16)), "BMP with an unusual header or coding"},
		"BMP, gap":        {string(bmpOf(40, 24, 0, 2)), "BMP with an unusual header or coding"},
		"TIFF, CMYK":      {string(tiffOf(map[uint16]uint32{tagPhotometric: 5})), "TIFF with an unusual color model"},
		"TIFF, YCbCr":     {string(tiffOf(map[uint16]uint32{tagPhotometric: 6})), "TIFF with an unusual color model"},
		"TIFF, JPEG":      {string(tiffOf(map[uint16]uint32{tagCompression: 7})), "TIFF with an unusual compression value 7"},
		"TIFF, Zstandard": {string(tiffOf(map[uint16]uint32{tagCompression: 50000})),
			"TIFF with an unusual compression value 50000"},
		"TIFF, unknown": {string(tiffOf(map[uint16]uint32{tagCompression: 7777})),
			"TIFF with an unusual compression value 7777"},
		"TIFF, floats": {string(tiffOf(map[uint16]uint32{tagSampleFormat: 3, tagBits: 32})),
			"TIFF with an unusual sample format"},
		"TIFF, signed":  {string(tiffOf(map[uint16]uint32{tagSampleFormat: 2})), "TIFF with an unusual sample format"},
		"TIFF, 32 bits": {string(tiffOf(map[uint16]uint32{tagBits: 32})), "TIFF with an unusual BitsPerSample of 32"},
		"TIFF, planes": {string(tiffOf(map[uint16]uint32{tagChannels: 3, tagPlanar: 2})),
			"TIFF with an unusual order of its channels"},
	} {
		for _, d := range decoders(t) {
			_, _, err := tried(d, []byte(c.data))
			bad, ok := errors.AsType[*Unsupported](err)
			if !ok || !strings.HasPrefix(bad.Error(), c.want) || !strings.HasSuffix(bad.Error(), "not decoded here") {
				t.Errorf("%s by %s: %v, want %q", name, d.Kind(), err, c.want)
			}
		}
	}
}

// Files of the kinds that users met: each is decoded, or its reason contains these words.
func TestFieldFiles(t *testing.T) {
	root := os.Getenv("DLBENCH_TESTDATA")
	if root == "" {
		t.Skip("DLBENCH_TESTDATA is not set")
	}
	good := map[string]bool{"good.jpg": true, "24.bmp": true, "raw.tif": true, "tiff_lzw.tif": true, "u16rgb.tif": true,
		"apng.png": true, "gif.jpg": true, "webp_animated.webp": true, "webp_exif_icc.webp": true}
	d := newDecoder(t, Auto)
	for folder, want := range map[string]string{"pages-as-jpg": "not an image: ", "tiff-bmp": "not decoded here",
		"other-formats": "not decoded here", "pnm": "", "orientation": ""} {
		files, _ := filepath.Glob(filepath.Join(root, "field", folder, "*", "*"))
		if len(files) == 0 {
			t.Skipf("no files of %s", folder)
		}
		for _, file := range files {
			_, info, err := tried(d, readFile(t, file))
			if want == "" || good[filepath.Base(file)] {
				if err != nil || folder == "orientation" && info.Orientation < 2 {
					t.Errorf("%s: %v, orientation %d", file, err, info.Orientation)
				}
			} else if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: %v, want %q", file, err, want)
			}
		}
	}
}
