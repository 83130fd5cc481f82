package decode

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

func TestProbeJPEG(t *testing.T) {
	small := func(b blocks, sampling ...byte) blocks {
		b.width, b.height, b.sampling, b.value = 9, 8, sampling, checked(0, 0).value
		return b
	}
	for name, c := range map[string]struct {
		file blocks
		want Info
	}{
		"grey":         {flat(17, 9, 100), Info{Space: "gray"}},
		"4:2:0":        {checked(40, 24, 0x22, 0x11, 0x11), Info{Space: "ycbcr", Subsampling: "4:2:0"}},
		"4:4:4":        {checked(40, 24, 0x11, 0x11, 0x11), Info{Space: "ycbcr", Subsampling: "4:4:4"}},
		"4:4:4 by two": {checked(40, 24, 0x22, 0x22, 0x22), Info{Space: "ycbcr", Subsampling: "4:4:4"}},
		"4:2:2":        {checked(40, 24, 0x21, 0x11, 0x11), Info{Space: "ycbcr", Subsampling: "4:2:2"}},
		"4:4:0":        {checked(40, 24, 0x12, 0x11, 0x11), Info{Space: "ycbcr", Subsampling: "4:4:0"}},
		"4:1:1":        {checked(40, 24, 0x41, 0x11, 0x11), Info{Space: "ycbcr", Subsampling: "4:1:1"}},
		"4:1:0":        {checked(40, 24, 0x42, 0x11, 0x11), Info{Space: "ycbcr", Subsampling: "4:1:0"}},
		"unequal":      {checked(40, 24, 0x22, 0x21, 0x11), Info{Space: "ycbcr", Subsampling: "other"}},
		"adobe rgb":    {small(blocks{adobe: 1}, 0x11, 0x11, 0x11), Info{Space: "rgb"}},
		"adobe ycbcr":  {small(blocks{adobe: 2}, 0x11, 0x11, 0x11), Info{Space: "ycbcr", Subsampling: "4:4:4"}},
		"jfif first": {small(blocks{jfif: true, adobe: 1}, 0x11, 0x11, 0x11),
			Info{Space: "ycbcr", Subsampling: "4:4:4"}},
		"rgb by names": {small(blocks{ids: "RGB"}, 0x11, 0x11, 0x11), Info{Space: "rgb"}},
		"cmyk":         {small(blocks{adobe: 1}, 0x11, 0x11, 0x11, 0x11), Info{Space: "cmyk"}},
		"cmyk, bare":   {flat(9, 8, 1, 2, 3, 4), Info{Space: "cmyk"}},
		"ycck":         {small(blocks{adobe: 3}, 0x22, 0x11, 0x11, 0x22), Info{Space: "ycck", Subsampling: "4:2:0"}},
		"progressive":  {small(blocks{process: 0xc2}, 0x11), Info{Space: "gray", Progressive: true}},
		"arithmetic":   {small(blocks{process: 0xc9}, 0x11), Info{Space: "gray", Arithmetic: true}},
		"arithmetic, progressive": {small(blocks{process: 0xca}, 0x11),
			Info{Space: "gray", Arithmetic: true, Progressive: true}},
		"lossless": {small(blocks{process: 0xc3}, 0x11), Info{Space: "gray", Lossless: true}},
		"12 bit":   {small(blocks{process: 0xc1, precision: 12}, 0x11), Info{Space: "gray", Bits: 12}},
		"exif":     {small(blocks{exif: 6}, 0x11), Info{Space: "gray", Orientation: 6}},
		"exif 9":   {small(blocks{exif: 9}, 0x11), Info{Space: "gray"}},
		"two":      {flat(9, 8, 1, 2), Info{}},
	} {
		data := c.file.build()
		got, err := Probe(data)
		want := c.want
		want.Format, want.Width, want.Height = JPEG, c.file.width, c.file.height
		want.body, want.mcu, want.scans, want.frame = got.body, got.mcu, got.Progressive, got.frame
		if h := binary.BigEndian.Uint16(data[got.frame:]); int(h) != want.Height {
			t.Errorf("%s: a height of %d at byte %d", name, h, got.frame)
		}
		if want.Bits == 0 {
			want.Bits = 8
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
		if n := testing.AllocsPerRun(10, func() { Probe(data) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		// Each shorter one, without its scan, is an error that says so.
		for n := range got.body {
			if _, err := Probe(data[:n]); err == nil {
				t.Errorf("%s: the first %d bytes are an image", name, n)
			}
		}
	}
}

// Bad files are bad as what they are.
func TestBadFiles(t *testing.T) {
	good := string(flat(9, 8, 100).build())
	frame := strings.Index(good, "\xff\xc0")
	height := frame + 5
	edited := func(at int, with string) string { return good[:at] + with + good[at+len(with):] }
	scan := strings.Index(good, "\xff\xda")
	d := newDecoder(t, Go)
	for data, want := range map[string]string{
		"":                                          "empty file",
		"<html>":                                    "not an image: an HTML page",
		strings.Repeat("\x00", 100):                 "not an image: nothing but zeros",
		"\x03\x01\x02\x7f\x10":                      "not an image that is known here",
		"\xff\xd8":                                  "end before the first scan",
		"\xff\xd8\xff\xd9":                          "end before the first scan",
		"\xff\xd8\xff\xff\xff":                      "end before the first scan",
		edited(height, "\x00\x00"):                  "9 x 0 pixels",
		edited(height+2, "\x00\x00"):                "0 x 8 pixels",
		edited(height+4, "\x00"):                    "of 0 components",
		edited(height+4, "\xff"):                    "wrong length",
		good[:scan]:                                 "end before the first scan",
		good[:frame] + good[scan:]:                  "scan before the frame",
		good[:scan] + good[frame:]:                  "two frame headers",
		edited(frame+1, "\xc5"):                     "hierarchical",
		"\xff\xd8\xff\xe0\x00\x01":                  "wrong length",
		"\xff\xd8" + good:                           "second start",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00": "PNG: the data end too early",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + strings.Repeat("\x00", 13): "PNG: non-positive dimension",
		"GIF89a": "GIF: the data end too early",
		"BM, said the text, and went on for some more bytes than a header has": "BMP: ",
		"RIFF\x04\x00\x00\x00WEBP":                   "WebP: ",
		"II*\x00\x08\x00\x00\x00":                    "TIFF: ",
		"P5 3 2 0\n123456":                           "1 to 65535",
		"P5 3 2 70000\n123456":                       "1 to 65535",
		"P5 3 x 255\n123456":                         "a number is missing",
		"P5 0 2 255\n123456":                         "0 x 2",
		"P5 99999999999 2 255\n1":                    "too large",
		"P5 3 2 255":                                 "too early",
		"P5 3 2 255123456":                           "1 to 65535",
		"P5 3 2 255x12345":                           "a number is missing",
		"P2 3 2 9 1 2 3 4 5 10":                      "too large",
		"P2 3 2 9 1 2 3 4 5 -1":                      "a number is missing",
		"P1 3 2 1 0 1 0 1 2":                         "too large",
		"P6 900000000 900000000 1\n":                 "too large",
		"P5 9000 9000 255\nfew":                      "too early",
		"<!DOCTYPE HTML>\n<html>":                    "not an image: an HTML page",
		"\xef\xbb\xbf\r\n  <HTML><body>":             "not an image: an HTML page",
		"<?xml version=\"1.0\"?><Error><Code>":       "not an image: XML",
		"<br />\n<b>Warning</b>: fopen()":            "not an image: HTML or XML",
		"{\"error\": \"rate limit\"}":                "not an image: JSON",
		"version https://git-lfs.github.com/spec/v1": "not an image: a Git LFS pointer",
		"/9j/4AAQSkZJRgABAQAAAQABAAD":                "not an image: base64 of an image",
		"data:image/png;base64,iVBORw0KGgo":          "not an image: base64 of an image",
		"\x1f\x8b\x08\x00":                           "not an image: gzip data",
		"PK\x03\x04\x14\x00":                         "not an image: a ZIP archive",
		"\r\n\xff\xd8\xff\xe0\x00":                   "not an image: a JPEG behind bytes",
		"rate limit exceeded":                        "not an image: text",
		"\x00\x00\x00\x0cftypisom":                   "not an image: a video",
		"\x00\x05\x16\x07\x00\x02":                   "not an image: an AppleDouble file",
		"PAR1\x15\x04":                               "not an image: Parquet",
		strings.Repeat("\x00", 4096):                 "not an image: nothing but zeros",
		strings.Repeat("\x00", 257) + "ustar\x00":    "not an image: a tar archive",
		"\x28\xb5\x2f\xfd\x04\x00":                   "not an image: Zstandard data",
	} {
		_, info, err := tried(d, []byte(data))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %+v, %v, want %q", data, info, err, want)
		}
		if _, valid := errors.AsType[*Unsupported](err); valid && want != "hierarchical" {
			t.Errorf("%.20q is called valid: %v", data, err)
		}
	}
	// Bytes between segments are passed over.
	if info, err := Probe([]byte(good[:frame] + "junk\xff\x00\xff\xd0" + good[frame:])); err != nil || info.Width != 9 {
		t.Errorf("bytes between segments: %+v, %v", info, err)
	}
}
