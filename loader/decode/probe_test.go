package decode

import (
	"encoding/binary"
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

func TestProbeBadFiles(t *testing.T) {
	good := string(flat(9, 8, 100).build())
	frame := strings.Index(good, "\xff\xc0")
	height := frame + 5
	edited := func(at int, with string) string { return good[:at] + with + good[at+len(with):] }
	scan := strings.Index(good, "\xff\xda")
	for name, c := range map[string]struct{ data, want string }{
		"empty":           {"", "empty file"},
		"text":            {"<html>", "not an image: an HTML page"},
		"zeros":           {strings.Repeat("\x00", 100), "not an image: nothing but zeros"},
		"unknown":         {"\x03\x01\x02\x7f\x10", "not an image that is known here"},
		"start":           {"\xff\xd8", "no frame header before the data ends"},
		"end":             {"\xff\xd8\xff\xd9", "no frame header"},
		"fill":            {"\xff\xd8\xff\xff\xff", "no frame header"},
		"no height":       {edited(height, "\x00\x00"), "height of 0"},
		"no width":        {edited(height+2, "\x00\x00"), "width of 0"},
		"no components":   {edited(height+4, "\x00"), "without components"},
		"many components": {edited(height+4, "\xff"), "wrong length"},
		"no scan":         {good[:scan], "9 x 8: no data"},
		"scan first":      {good[:frame] + good[scan:], "scan before the frame"},
		"two frames":      {good[:scan] + good[frame:], "two frame headers"},
		"hierarchical":    {edited(frame+1, "\xc5"), "hierarchical"},
		"short segment":   {"\xff\xd8\xff\xe0\x00\x01", "wrong length"},
		"second start":    {"\xff\xd8" + good, "second start"},
		"png, short":      {"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00", "PNG: the data end too early"},
		"png, no width": {"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + strings.Repeat("\x00", 13),
			"PNG: non-positive dimension"},
		"gif, short":  {"GIF89a", "GIF: the data end too early"},
		"bmp, none":   {"BM, said the text, and went on for some more bytes than a header has", "BMP: "},
		"webp, short": {"RIFF\x04\x00\x00\x00WEBP", "WebP: "},
		"tiff, short": {"II*\x00\x08\x00\x00\x00", "TIFF: "},
	} {
		if info, err := Probe([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want %q", name, info, err, c.want)
		}
	}
	// Bytes between segments are passed over.
	if info, err := Probe([]byte(good[:frame] + "junk\xff\x00\xff\xd0" + good[frame:])); err != nil || info.Width != 9 {
		t.Errorf("bytes between segments: %+v, %v", info, err)
	}
}
