package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"slices"
	"strings"
)

// Readers is a set of the programs by which people read images.
type Readers uint8

// Readers of which Foresee tells what stops them: that they raise an error, return no image or
// crash.
const (
	Pillow        Readers = 1 << iota // Image.open(f).convert("RGB"), as torchvision's ImageFolder does
	TorchvisionIO                     // torchvision.io.decode_image
	OpenCV                            // cv2.imread
	DALI                              // fn.decoders.image on the CPU

	EveryReader = Pillow | TorchvisionIO | OpenCV | DALI
)

// ReaderNames are in the order of their bits.
var ReaderNames = []string{"pillow", "torchvision.io", "opencv", "dali"}

// Names are those of the set.
func (r Readers) Names() (names []string) {
	for i, name := range ReaderNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ReaderOf is the reader of a name, or all for "any".
func ReaderOf(name string) Readers {
	if i := slices.Index(ReaderNames, name); i >= 0 {
		return 1 << i
	}
	return EveryReader
}

// Rule is a kind of file that stops readers. The rules were found by what Pillow 13.0, torchvision
// 0.29, OpenCV 5.0 and DALI 2.4 do; scripts/check-readers.py holds the rules against them.
type Rule struct {
	Kind  string
	Stops Readers
	of    func(*seen) bool
}

// seen is a file as a decoder saw it.
type seen struct {
	decoder Decoder
	data    []byte
	info    *Info
	damage  string
	err     error
	kind    *FileType // nil for none that is known
	feature string    // for want of which it is not decoded here
}

// Foresee is the rule by which a file stops readers, nil if it stops none. info, damage and err are
// what Probe and d said of it; d is asked again where a JPEG has no end.
//
// What dlbench does not decode is taken for whole, and what Go's decoder calls bad in the middle of a
// JPEG for bad.
func Foresee(d Decoder, data []byte, info *Info, damage string, err error) *Rule {
	plain := err == nil && damage == "" && has(data, "\xff\xd8\xff") && max(info.Width, info.Height) <= mostOfJPEG
	if plain && info.Pixels() <= mostOfPillow || // nearly always
		errors.Is(err, ErrMemory) {
		return nil
	}
	l := &seen{decoder: d, data: data, info: info, damage: damage, err: err, kind: FileTypeOf(data)}
	if missing, ok := errors.AsType[*Unsupported](err); ok {
		l.feature = missing.Feature
		l.err = nil
	}
	for i := range Rules {
		if Rules[i].of(l) {
			if Rules[i].Stops == 0 {
				return nil
			}
			return &Rules[i]
		}
	}
	return nil
}

// Sizes that readers refuse.
const (
	mostOfPillow = 178_956_970 // pixels: twice Image.MAX_IMAGE_PIXELS
	mostOfOpenCV = 1 << 30     // pixels: CV_IO_MAX_IMAGE_PIXELS
	mostOfJPEG   = 65_500      // pixels a side: JPEG_MAX_DIMENSION of libjpeg
)

// Rules are asked in their order; the first that holds is it.
var Rules = []Rule{
	{"no image: empty, text, a page, an archive, unknown", EveryReader, func(l *seen) bool {
		return l.kind == nil || !l.kind.Image
	}},
	{"JPEG of more than 65500 pixels a side", EveryReader, func(l *seen) bool {
		return l.is(JPEG) && max(l.info.Width, l.info.Height) > mostOfJPEG
	}},
	{"more than 1073741824 pixels", Pillow | OpenCV, func(l *seen) bool { return l.info.Pixels() > mostOfOpenCV }},
	{"more than 178956970 pixels", Pillow, func(l *seen) bool { return l.info.Pixels() > mostOfPillow }},

	{"JPEG of more scans than are decoded here", 0, func(l *seen) bool {
		return l.is(JPEG) && l.err != nil && strings.HasPrefix(l.err.Error(), "too large: ")
	}},
	{"JPEG whose third byte is wrong", EveryReader, func(l *seen) bool {
		return l.is(JPEG) && !has(l.data, "\xff\xd8\xff")
	}},
	{"JPEG of 12 bits, or hierarchical", EveryReader, func(l *seen) bool {
		return l.is(JPEG) && (l.feature == "12 bits" || l.feature == "hierarchical coding")
	}},
	{"JPEG with a broken header or tables, or without data", EveryReader, func(l *seen) bool {
		return l.is(JPEG) && l.err != nil && !l.cutOff()
	}},
	{"JPEG that is cut off", Pillow | TorchvisionIO | DALI, func(l *seen) bool {
		return l.is(JPEG) && l.cutOff() && !l.goesOn()
	}},
	{"JPEG without an end, its pixels whole", TorchvisionIO, func(l *seen) bool {
		return l.is(JPEG) && l.cutOff()
	}},
	{"JPEG with a wrong marker behind its pixels", Pillow | TorchvisionIO, func(l *seen) bool {
		return l.is(JPEG) && l.damage != "" && !warned(l.damage)
	}},
	{"JPEG that is damaged in the middle: grey or shifted", 0, func(l *seen) bool { return l.is(JPEG) }},

	{"PNG that is damaged or cut off behind its pixels", OpenCV | DALI, func(l *seen) bool {
		broken, behind := l.broken()
		return broken != "" && behind && l.says("the data end too early", "invalid checksum")
	}},
	{"PNG with a wrong checksum of its pixels", TorchvisionIO | OpenCV | DALI, func(l *seen) bool {
		broken, _ := l.broken()
		return broken == "IDAT" && l.says("the data end too early", "invalid checksum", "zlib: invalid checksum",
			"too much pixel data")
	}},
	{"PNG with a wrong checksum of its properties", Pillow, func(l *seen) bool {
		broken, behind := l.broken()
		return broken != "" && broken[0] >= 'a' && !behind && l.says("invalid checksum")
	}},
	{"PNG with more data than pixels", 0, func(l *seen) bool { return l.is(PNG) && l.says("too much pixel data") }},
	{"TIFF with damaged pixels, LZW, Deflate or PackBits", Pillow | TorchvisionIO, func(l *seen) bool {
		return l.is(TIFF) && l.says("lzw:", "zlib:", "flate:", "not enough pixel data")
	}},
	{"TIFF with damaged pixels, CCITT", TorchvisionIO, func(l *seen) bool { return l.is(TIFF) && l.says("ccitt:") }},
	{"PNG, GIF, WebP, BMP, TIFF or PNM that is damaged", EveryReader, func(l *seen) bool { return l.err != nil }},

	{"TIFF of floats", TorchvisionIO | OpenCV, func(l *seen) bool {
		return l.is(TIFF) && l.feature != "" && tiffValue(l.data, tagSampleFormat) == floats
	}},
	{"BMP, TIFF, PNM", TorchvisionIO, func(l *seen) bool { return l.is(BMP) || l.is(TIFF) || l.is(PNM) }},
	{"GIF", DALI, func(l *seen) bool { return l.is(GIF) }},
	{"WebP with an animation", TorchvisionIO, func(l *seen) bool {
		s, err := firstFrame(l.data)
		return l.is(WebP) && !s.canvas.Empty() && err == nil
	}},
	{"PNG, WebP", 0, func(l *seen) bool { return l.is(PNG) || l.is(WebP) }},

	{"AVIF or HEIC that is cut off", EveryReader, func(l *seen) bool {
		return l.named("AVIF", "HEIC") && !boxed(l.data)
	}},
	{"AVIF", TorchvisionIO | DALI, func(l *seen) bool { return l.named("AVIF") }},
	{"JPEG 2000 that is cut off", Pillow | TorchvisionIO, func(l *seen) bool {
		return l.named("JPEG 2000") && !bytes.HasSuffix(l.data, endOfImage)
	}},
	{"JPEG 2000, BigTIFF", TorchvisionIO, func(l *seen) bool { return l.named("JPEG 2000", "BigTIFF") }},
	{"Sun raster", TorchvisionIO | DALI, func(l *seen) bool { return l.named("Sun raster") }},
	{"PAM, Radiance HDR, PFM in colour", Pillow | TorchvisionIO | DALI, func(l *seen) bool {
		return l.named("PAM", "Radiance HDR") || l.named("PFM") && has(l.data, "PF")
	}},
	{"BLP, DDS, FITS, ICNS, ICO, IM, MSP, PCX, grey PFM, PSD, QOI, SGI, TGA, XBM, XPM", TorchvisionIO | OpenCV | DALI,
		func(l *seen) bool {
			return l.named("BLP", "DDS", "FITS", "ICNS", "ICO", "IM", "MSP", "PCX", "PFM", "PSD", "QOI", "SGI", "TGA", "XBM",
				"XPM")
		}},
	{"a format that none of these reads", EveryReader, func(*seen) bool { return true }},
}

func (l *seen) is(format string) bool { return l.kind.Format == format }

func (l *seen) named(names ...string) bool { return slices.Contains(names, l.kind.Name) }

// says is whether the decoder's error begins with one of these, behind the format's name.
func (l *seen) says(starts ...string) bool {
	if l.err == nil {
		return false
	}
	_, rest, _ := strings.Cut(l.err.Error(), ": ")
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(rest, start) })
}

// broken is the name of the first chunk of a PNG that is not wholly there or has a wrong checksum,
// and whether it is behind the pixels; "" for none, and for what is no PNG.
func (l *seen) broken() (name string, behind bool) {
	if !l.is(PNG) || l.err == nil {
		return "", false
	}
	pixels := false
	for c := range pngChunks(l.data) {
		switch name = c.name(); {
		case !c.whole():
			return name, pixels && name != "IDAT"
		case name == "IEND":
			return "", false
		}
		pixels = pixels || name == "IDAT"
	}
	return "?", pixels
}

// cutOff is whether a JPEG has no end marker behind a header that is right. Of a file that
// libjpeg-turbo refuses, more than the end is wrong.
func (l *seen) cutOff() bool {
	return l.info.body > 0 && (l.err == nil || l.decoder.Kind() == Go) && endless(l.data, l.info)
}

// goesOn is whether a JPEG without an end marker has data behind its last pixel: given a marker,
// libjpeg-turbo says so. Without such data libjpeg looks for the next byte before it is through, as
// it does for the end of the last scan and for markers of restarts.
func (l *seen) goesOn() bool {
	restarts := bytes.Contains(l.data[:min(l.info.body, len(l.data))], []byte{0xff, dri})
	if l.err != nil || l.decoder.Kind() == Go || l.info.scans || restarts {
		return false
	}
	whole := slices.Concat(l.data, endOfImage)
	m, err := l.decoder.Decode(whole, l.info, image.Rect(0, 0, l.info.Width, l.info.Height))
	return err == nil && strings.HasSuffix(m.Damage, "extraneous bytes before marker 0xd9")
}

// warnings are how those of libjpeg begin, after which it goes on (jerror.h, JWRN_). All else that
// it says, and no warning of TurboJPEG's own, ends decoding.
var warnings = []string{"Corrupt JPEG data", "Premature end of JPEG file", "Invalid SOS parameters",
	"Inconsistent progression", "Unknown Adobe color transform", "Warning: ", "no end marker"}

func warned(damage string) bool {
	return slices.ContainsFunc(warnings, func(start string) bool { return strings.HasPrefix(damage, start) })
}

// boxed is whether all boxes of the ISO base media format are wholly there, up to bytes that are none.
func boxed(data []byte) bool {
	for len(data) >= 8 {
		size := uint64(binary.BigEndian.Uint32(data))
		switch {
		case bytes.ContainsFunc(data[4:8], func(r rune) bool { return r <= ' ' || r > '~' }), size <= 1:
			return true // no box; or to the end, or with a size of 64 bits, which no picture needs
		case size < 8 || size > uint64(len(data)):
			return false
		}
		data = data[size:]
	}
	return true
}
