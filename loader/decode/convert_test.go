package decode

import (
	"bytes"
	"cmp"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// Each kind of image that a decoder makes becomes R, G, B as they are stored, their high bytes.
func TestConvertIsTheColourModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	bounds := image.Rect(0, 0, 37, 23)
	gray, gray16 := image.NewGray(bounds), image.NewGray16(bounds)
	nrgba, nrgba64 := image.NewNRGBA(bounds), image.NewNRGBA64(bounds)
	rgba, rgba64 := image.NewRGBA(bounds), image.NewRGBA64(bounds)
	paletted := image.NewPaletted(bounds, color.Palette{color.RGBA{1, 2, 3, 255}, color.NRGBA{200, 100, 50, 3},
		color.Gray{9}})
	images := []image.Image{gray, gray16, nrgba, nrgba64, rgba, rgba64, paletted}
	noise := [][]byte{gray.Pix, gray16.Pix, nrgba.Pix, nrgba64.Pix, rgba.Pix, rgba64.Pix}
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		m := image.NewYCbCr(bounds, ratio)
		images, noise = append(images, m), append(noise, m.Y, m.Cb, m.Cr)
	}
	for _, p := range noise {
		for i := range p {
			p[i] = byte(rnd.UintN(256))
		}
	}
	for i := range paletted.Pix {
		paletted.Pix[i] = byte(rnd.UintN(3))
	}
	for _, m := range images {
		for range 20 {
			x, y := rnd.IntN(37), rnd.IntN(23)
			region := image.Rect(x, y, x+1+rnd.IntN(37-x), y+1+rnd.IntN(23-y))
			got := Image{Pix: make([]byte, 4*region.Dx()*region.Dy()), Stride: 4 * region.Dx(), Window: region}
			convert(got.Pix, got.Stride, m, region)
			for y := region.Min.Y; y < region.Max.Y; y++ {
				for x := region.Min.X; x < region.Max.X; x++ {
					if want := stored(m.At(x, y)); at(got, x, y) != want {
						t.Fatalf("%T: region %v: (%d, %d) is %v, want %v", m, region, x, y, at(got, x, y), want)
					}
				}
			}
		}
	}
}

func stored(c color.Color) [3]byte {
	switch c := c.(type) {
	case color.NRGBA64:
		return [3]byte{byte(c.R >> 8), byte(c.G >> 8), byte(c.B >> 8)}
	case color.NRGBA:
		return [3]byte{c.R, c.G, c.B}
	}
	r, g, b, _ := c.RGBA()
	return [3]byte{byte(r >> 8), byte(g >> 8), byte(b >> 8)}
}

// The values are of Pillow 13.0.0, Image.new("CMYK", (1, 1), v).convert("RGB").
func TestCMYKIsPillows(t *testing.T) {
	for v, want := range map[[4]byte][3]byte{
		{0, 0, 0, 0}:         {255, 255, 255},
		{255, 255, 255, 255}: {0, 0, 0},
		{0, 0, 0, 255}:       {0, 0, 0},
		{255, 0, 0, 0}:       {0, 255, 255},
		{10, 200, 77, 30}:    {216, 49, 157},
		{128, 64, 32, 16}:    {119, 179, 209},
		{1, 2, 3, 4}:         {250, 249, 248},
		{250, 128, 127, 200}: {1, 27, 28},
		{33, 99, 211, 129}:   {110, 77, 22},
	} {
		p := v
		cmykRow(p[:], 0)
		if [3]byte(p[:3]) != want {
			t.Errorf("%v: %v, want %v", v, p, want)
		}
		p = [4]byte{255 - v[0], 255 - v[1], 255 - v[2], 255 - v[3]}
		cmykRow(p[:], inverted)
		if [3]byte(p[:3]) != want {
			t.Errorf("%v, inverted: %v, want %v", v, p, want)
		}
	}
}

// A JPEG of CMYK without Adobe's segment is taken for inverted, too, as Pillow does; Go's
// decoder refuses it. The values are Pillow 13.0.0's of the same bytes.
func TestCMYKJPEG(t *testing.T) {
	for adobe, want := range map[int][3]byte{0: {180, 108, 54}, 1: {180, 108, 54}, 3: {135, 4, 62}} {
		file := flat(16, 16, 200, 120, 60, 230)
		file.adobe = adobe
		data := file.build()
		for _, d := range decoders(t) {
			m, _, err := tried(d, data)
			if refuses := d.Kind() == Go && adobe == 0; refuses != (err != nil) {
				t.Errorf("%d, %s: %v", adobe, d.Kind(), err)
			} else if !refuses && (m.Converted != "cmyk" || !near(at(m, 3, 3), want, 1)) {
				t.Errorf("%d, %s: %v, want %v, converted %q", adobe, d.Kind(), at(m, 3, 3), want, m.Converted)
			}
		}
	}
}

func TestOtherFormats(t *testing.T) {
	m := scene(20, 10)
	want := [3]byte(m.Pix[m.PixOffset(7, 5):])
	half := image.NewNRGBA(m.Rect)
	copy(half.Pix, m.Pix)
	for i := 3; i < len(half.Pix); i += 4 {
		half.Pix[i] = 100
	}
	deep := image.NewNRGBA64(m.Rect)
	for i, v := range half.Pix {
		deep.Pix[i*2], deep.Pix[i*2+1] = v, 0x37
	}
	pal := image.NewPaletted(m.Rect, color.Palette{color.Black, color.RGBA{want[0], want[1], want[2], 255}})
	for i := range pal.Pix {
		pal.Pix[i] = 1
	}
	var b, ti, tiDeep, g bytes.Buffer
	if err := errors.Join(bmp.Encode(&b, m), tiff.Encode(&ti, half, nil), tiff.Encode(&tiDeep, deep, nil),
		gif.Encode(&g, pal, nil)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data      []byte
		info      Info
		converted string
		want      [3]byte
	}{
		"png":          {encodePNG(t, m), Info{Format: PNG}, "", want},
		"png, alpha":   {encodePNG(t, half), Info{Format: PNG, Alpha: true}, "alpha", want},
		"png, 16":      {encodePNG(t, deep), Info{Format: PNG, Alpha: true, Bits: 16}, "16-bit", want},
		"png, palette": {encodePNG(t, pal), Info{Format: PNG, Space: "palette"}, "palette", want},
		"png, grey":    {encodePNG(t, image.NewGray(m.Rect)), Info{Format: PNG, Space: "gray"}, "gray", [3]byte{}},
		"png, grey, 16": {encodePNG(t, image.NewGray16(m.Rect)), Info{Format: PNG, Space: "gray", Bits: 16}, "16-bit",
			[3]byte{}},
		"png, grey alpha": {grayAlphaPNG(20, 10, 177), Info{Format: PNG, Space: "gray", Alpha: true}, "gray",
			[3]byte{177, 177, 177}},
		"bmp":      {b.Bytes(), Info{Format: BMP}, "", want},
		"tiff":     {ti.Bytes(), Info{Format: TIFF, Alpha: true}, "alpha", want},
		"tiff, 16": {tiDeep.Bytes(), Info{Format: TIFF, Alpha: true, Bits: 16}, "16-bit", want},
		"gif":      {g.Bytes(), Info{Format: GIF, Space: "palette"}, "palette", want},
		// Pillow 13.0.0 of pixel (7, 5).
		"webp": {webpFile, Info{Format: WebP, Space: "ycbcr"}, "", [3]byte{200, 29, 41}},
	} {
		info, err := Probe(c.data)
		c.info.Width, c.info.Height = 20, 10
		c.info.Space, c.info.Bits = cmp.Or(c.info.Space, "rgb"), cmp.Or(c.info.Bits, 8)
		if err != nil || info != c.info {
			t.Errorf("%s: %+v, %v, want %+v", name, info, err, c.info)
			continue
		}
		for _, d := range decoders(t) {
			got, err := d.Decode(c.data, &info, image.Rect(3, 2, 15, 9))
			if err != nil || got.Converted != c.converted || got.Window != image.Rect(3, 2, 15, 9) {
				t.Errorf("%s, %s: %v, converted %q, %v", name, d.Kind(), got.Window, got.Converted, err)
				continue
			}
			if got := at(got, 7, 5); got != c.want {
				t.Errorf("%s, %s: %v, want %v", name, d.Kind(), got, c.want)
			}
			// Cut off, none of them is good.
			if name == "bmp" || name == "png" {
				if _, err := d.Decode(c.data[:len(c.data)*2/3], &info, image.Rect(3, 2, 15, 9)); err == nil {
					t.Errorf("%s, %s: two thirds of it are an image", name, d.Kind())
				}
			}
		}
	}
}

// grayAlphaPNG is what image/png does not write: grey of one value with alpha.
func grayAlphaPNG(w, h int, v byte) []byte {
	row := append([]byte{0}, bytes.Repeat([]byte{v, 100}, w)...)
	header := []byte{0, 0, 0, byte(w), 0, 0, 0, byte(h), 8, 4, 0, 0, 0}
	return slices.Concat([]byte("\x89PNG\r\n\x1a\n"), pngChunkOf("IHDR", header),
		pngChunkOf("IDAT", deflated(bytes.Repeat(row, h))), pngChunkOf("IEND", nil))
}

// The first frame of a GIF need not fill it.
func TestGIFOfASmallFrame(t *testing.T) {
	frame := image.NewPaletted(image.Rect(4, 3, 10, 8), color.Palette{color.RGBA{9, 90, 200, 255}, color.White})
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: image.Config{Width: 20,
		Height: 10, ColorModel: frame.Palette}})
	must(t, err)
	d := newDecoder(t, Go)
	whole(t, d, encodePNG(t, scene(20, 10))) // leaves its pixels
	m, _ := whole(t, d, b.Bytes())
	for p, want := range map[image.Point][3]byte{{0, 0}: {}, {4, 3}: {9, 90, 200}, {9, 7}: {9, 90, 200}, {10, 7}: {},
		{9, 8}: {}, {3, 3}: {}} {
		if got := at(m, p.X, p.Y); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
	info, _ := Probe(b.Bytes())
	if m, err := d.Decode(b.Bytes(), &info, image.Rect(12, 0, 20, 10)); err != nil || at(m, 15, 5) != [3]byte{} {
		t.Errorf("outside the frame: %v", err)
	}
}
