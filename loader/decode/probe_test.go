package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

func TestProbeJPEG(t *testing.T) {
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
		"adobe rgb":    {blocks{adobe: 1, width: 9, height: 8, sampling: []byte{0x11, 0x11, 0x11}, value: checked(0, 0).value}, Info{Space: "rgb"}},
		"adobe ycbcr":  {blocks{adobe: 2, width: 9, height: 8, sampling: []byte{0x11, 0x11, 0x11}, value: checked(0, 0).value}, Info{Space: "ycbcr", Subsampling: "4:4:4"}},
		"jfif first":   {blocks{jfif: true, adobe: 1, width: 9, height: 8, sampling: []byte{0x11, 0x11, 0x11}, value: checked(0, 0).value}, Info{Space: "ycbcr", Subsampling: "4:4:4"}},
		"rgb by names": {blocks{ids: "RGB", width: 9, height: 8, sampling: []byte{0x11, 0x11, 0x11}, value: checked(0, 0).value}, Info{Space: "rgb"}},
		"cmyk":         {blocks{adobe: 1, width: 9, height: 8, sampling: []byte{0x11, 0x11, 0x11, 0x11}, value: checked(0, 0).value}, Info{Space: "cmyk"}},
		"cmyk, bare":   {flat(9, 8, 1, 2, 3, 4), Info{Space: "cmyk"}},
		"ycck":         {blocks{adobe: 3, width: 9, height: 8, sampling: []byte{0x22, 0x11, 0x11, 0x22}, value: checked(0, 0).value}, Info{Space: "ycck", Subsampling: "4:2:0"}},
		"progressive":  {blocks{process: 0xc2, width: 9, height: 8, sampling: []byte{0x11}, value: checked(0, 0).value}, Info{Space: "gray", Progressive: true}},
		"arithmetic":   {blocks{process: 0xc9, width: 9, height: 8, sampling: []byte{0x11}, value: checked(0, 0).value}, Info{Space: "gray", Arithmetic: true}},
		"arithmetic, progressive": {blocks{process: 0xca, width: 9, height: 8, sampling: []byte{0x11}, value: checked(0, 0).value},
			Info{Space: "gray", Arithmetic: true, Progressive: true}},
		"lossless": {blocks{process: 0xc3, width: 9, height: 8, sampling: []byte{0x11}, value: checked(0, 0).value}, Info{Space: "gray", Lossless: true}},
		"12 bit":   {blocks{process: 0xc1, precision: 12, width: 9, height: 8, sampling: []byte{0x11}, value: checked(0, 0).value}, Info{Space: "gray", Bits: 12}},
		"exif":     {blocks{exif: 6, width: 9, height: 8, sampling: []byte{0x11}, value: checked(0, 0).value}, Info{Space: "gray", Orientation: 6}},
		"exif 9":   {blocks{exif: 9, width: 9, height: 8, sampling: []byte{0x11}, value: checked(0, 0).value}, Info{Space: "gray"}},
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
		"text":            {"<html>", "not an image that is known here"},
		"zeros":           {strings.Repeat("\x00", 100), "not an image that is known here"},
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
		"png, no width":   {"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + strings.Repeat("\x00", 13), "PNG: non-positive dimension"},
		"gif, short":      {"GIF89a", "GIF: the data end too early"},
		"bmp, none":       {"BM, said the text, and went on for some more bytes than a header has", "BMP: "},
		"webp, short":     {"RIFF\x04\x00\x00\x00WEBP", "WebP: "},
		"tiff, short":     {"II*\x00\x08\x00\x00\x00", "TIFF: "},
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

func TestProbeOthers(t *testing.T) {
	m := scene(20, 10)
	var b, ti, g bytes.Buffer
	if err := errors.Join(bmp.Encode(&b, m), tiff.Encode(&ti, m, nil), gif.Encode(&g, m, nil)); err != nil {
		t.Fatal(err)
	}
	half := image.NewNRGBA(m.Rect)
	half.Set(1, 1, color.NRGBA{1, 2, 3, 4})
	for name, c := range map[string]struct {
		data []byte
		want Info
	}{
		"png":        {encodePNG(t, m), Info{Format: PNG, Space: "rgb", Bits: 8}},
		"png, alpha": {encodePNG(t, half), Info{Format: PNG, Space: "rgb", Bits: 8, Alpha: true}},
		"png, grey":  {encodePNG(t, image.NewGray16(m.Rect)), Info{Format: PNG, Space: "gray", Bits: 16}},
		"png, palette": {encodePNG(t, image.NewPaletted(m.Rect, color.Palette{color.Black, color.White})),
			Info{Format: PNG, Space: "palette", Bits: 8}},
		"bmp":  {b.Bytes(), Info{Format: BMP, Space: "rgb", Bits: 8}},
		"tiff": {ti.Bytes(), Info{Format: TIFF, Space: "rgb", Bits: 8}},
		"gif":  {g.Bytes(), Info{Format: GIF, Space: "palette", Bits: 8}},
		"webp": {webpFile, Info{Format: WebP, Space: "ycbcr", Bits: 8}},
	} {
		want := c.want
		want.Width, want.Height = 20, 10
		if got, err := Probe(c.data); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
}
