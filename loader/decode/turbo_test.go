package decode

import (
	"bytes"
	"image"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// samplings are those that a camera or a library writes, and some that none does.
var samplings = map[string][]byte{
	"grey":     {0x11},
	"grey, 2":  {0x22},
	"4:4:4":    {0x11, 0x11, 0x11},
	"4:2:2":    {0x21, 0x11, 0x11},
	"4:2:0":    {0x22, 0x11, 0x11},
	"4:4:0":    {0x12, 0x11, 0x11},
	"4:1:1":    {0x41, 0x11, 0x11},
	"4:1:0":    {0x42, 0x11, 0x11},
	"4:4:1":    {0x14, 0x11, 0x11},
	"unequal":  {0x22, 0x21, 0x12},
	"2:1 each": {0x21, 0x21, 0x21},
	"4 of 4":   {0x11, 0x11, 0x11, 0x11},
}

// A region is what it is in the whole image, to the bit.
func TestRegionIsOfTheWhole(t *testing.T) {
	d := newTurboDecoder(t)
	files := map[string][]byte{"photograph": encodeJPEG(t, scene(500, 375)), "narrow": encodeJPEG(t, scene(17, 300))}
	for name, s := range samplings {
		files[name] = checked(203, 149, s...).build()
		p := checked(203, 149, s...)
		p.process = 0xc2
		files[name+", progressive"] = p.build()
		p.process, p.separate = 0, true
		files[name+", in scans"] = p.build()
	}
	checkRegions(t, d, files, 60)
}

func TestRegionIsOfTheWholeOfFiles(t *testing.T) {
	files := map[string][]byte{}
	for _, f := range slices.Concat(testFiles(t, "odd/*.jpg"), testFiles(t, "photos/*.jpg")[:8]) {
		files[f] = readFile(t, f)
	}
	checkRegions(t, newTurboDecoder(t), files, 20)
}

func checkRegions(t *testing.T, d Decoder, files map[string][]byte, times int) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for name, data := range files {
		m, info, err := tried(d, data)
		if err != nil {
			if !strings.Contains(err.Error(), "too large") {
				t.Logf("%s: %v", name, err)
			}
			continue
		}
		all := m
		all.Pix = slices.Clone(m.Pix)
		for range times {
			x, y := rnd.IntN(info.Width), rnd.IntN(info.Height)
			region := image.Rect(x, y, x+1+rnd.IntN(info.Width-x), y+1+rnd.IntN(info.Height-y))
			part, err := d.Decode(data, &info, region)
			if err != nil {
				t.Fatalf("%s: %v: %v", name, region, err)
			}
			if !region.In(part.Window) || cap(part.Pix) < len(part.Pix)+Padding {
				t.Fatalf("%s: %v: window %v, %d bytes of %d", name, region, part.Window, len(part.Pix), cap(part.Pix))
			}
			if _, largest := differences(part, all, region); largest > 0 {
				t.Fatalf("%s: region %v in window %v differs from the whole by %d", name, region, part.Window, largest)
			}
		}
	}
}

// Blocks of one value are the same for each decoder, but where chroma is interpolated.
func TestValuesOfBlocks(t *testing.T) {
	for name, s := range samplings {
		file := checked(64, 64, s...)
		file.adobe = 1 // RGB and CMYK: what is stored is what comes out
		if len(s) == 1 {
			file.adobe = 0
		}
		files := map[string][]byte{name: file.build()}
		file.separate = true
		files[name+", in scans"] = file.build()
		for name, data := range files {
			checkValues(t, name, data, file)
		}
	}
}

func checkValues(t *testing.T, name string, data []byte, file blocks) {
	var want [3]byte
	for c := range want {
		switch len(file.sampling) {
		case 1:
			want[c] = file.value(0, 0, 0)
		case 3:
			want[c] = file.value(c, 0, 0)
		case 4:
			want[c] = inked(255-uint32(file.value(c, 0, 0)), uint32(file.value(3, 0, 0)))
		}
	}
	for _, d := range decoders(t) {
		m, _, err := tried(d, data)
		if err != nil {
			t.Logf("%s, %s: %v", name, d.Kind(), err)
			continue
		}
		if got := at(m, 1, 1); got != want || m.Damage != "" {
			t.Errorf("%s, %s: %v, want %v, damage %q", name, d.Kind(), got, want, m.Damage)
		}
	}
}

// A file with a warning first and a failure after is bad: the library calls it a warning
// and leaves the image before in memory.
func TestFailureAfterWarning(t *testing.T) {
	d := newTurboDecoder(t)
	file := checked(120, 90, 0x22, 0x11, 0x11)
	file.process = 0xc2
	data := file.build()
	info, err := Probe(data)
	must(t, err)
	whole(t, d, data)
	cut := slices.Clone(data[:(info.body+len(data))/2])
	cut = append(cut, data[bytes.Index(data, []byte{0xff, 0xc2}):]...) // a second frame header
	if m, err := d.Decode(cut, &info, image.Rect(0, 0, 120, 90)); err == nil {
		t.Errorf("damage %q, want an error", m.Damage)
	} else {
		t.Log(err)
	}
	whole(t, d, data)
}

// An Info that is not the file's is an error, not a write out of bounds.
func TestInfoOfAnotherFile(t *testing.T) {
	data := encodeJPEG(t, scene(120, 90))
	for _, d := range decoders(t) {
		for _, size := range []image.Point{{60, 45}, {120, 89}, {119, 90}, {1, 1}, {240, 180}, {90, 120}} {
			info, _ := Probe(data)
			info.Width, info.Height = size.X, size.Y
			_, err := d.Decode(data, &info, image.Rectangle{Max: size})
			if err == nil || !strings.Contains(err.Error(), "by the header") {
				t.Errorf("%s: %v: %v", d.Kind(), size, err)
			}
		}
		info, _ := Probe(data)
		info.Space = "cmyk"
		d.Decode(data, &info, image.Rect(0, 0, 120, 90))
		if _, err := d.Decode(nil, &info, image.Rect(0, 0, 120, 90)); err == nil {
			t.Errorf("%s: no data are an image", d.Kind())
		}
		for _, region := range []image.Rectangle{{}, image.Rect(200, 0, 300, 10), image.Rect(-9, -9, 0, 0)} {
			info, _ := Probe(data)
			if _, err := d.Decode(data, &info, region); err == nil || !strings.Contains(err.Error(), "outside") {
				t.Errorf("%s: region %v: %v", d.Kind(), region, err)
			}
		}
	}
}

// What is damaged in the rows of a region is reported, whatever is left of the scan below it;
// what is cut off as well. Damage below the region is not the region's.
func TestDamageAboveLeftRows(t *testing.T) {
	d := newTurboDecoder(t)
	good := encodeJPEG(t, scene(200, 400))
	info, err := Probe(good)
	must(t, err)
	top := image.Rect(20, 20, 180, 120)
	at := func(part float64) int { return info.body + int(part*float64(len(good)-info.body)) }
	marked := func(i int) []byte { return slices.Concat(good[:i], []byte{0xff, 0xd3}, good[i:]) }
	for name, c := range map[string]struct {
		data   []byte
		damage bool
	}{
		"good":                    {good, false},
		"a marker in the rows":    {marked(at(0.1)), true},
		"a marker below":          {marked(at(0.9)), false},
		"cut below":               {good[:at(0.9)], true},
		"half":                    {good[:len(good)/2], true},
		"no end":                  {good[:len(good)-2], true},
		"trailing bytes":          {slices.Concat(good, []byte("trailing bytes")), false},
		"bytes before the tables": {slices.Concat(good[:2], []byte{1, 2, 3}, good[2:]), true},
	} {
		info, err := Probe(c.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := d.Decode(c.data, &info, top)
		if err != nil || (m.Damage != "") != c.damage {
			t.Errorf("%s: damage %q, %v", name, m.Damage, err)
		}
		if m.Window.Max.Y == info.Height {
			t.Errorf("%s: all %d rows were decoded for %v", name, info.Height, top)
		}
	}
}

// What differs is the arithmetic of the inverse transform and of colour, and, where chroma
// is interpolated, that. libjpeg does not interpolate 4:1:1.
func TestDecodersAgree(t *testing.T) {
	compareDecoders(t, "grey", encodeJPEG(t, toGray(scene(99, 77))), 0.1, 2)
	compareDecoders(t, "4:4:4", checked(99, 77, 0x11, 0x11, 0x11).build(), 0.6, 3)
	compareDecoders(t, "4:1:1", checked(99, 77, 0x41, 0x11, 0x11).build(), 0.6, 3)
	compareDecoders(t, "scene", encodeJPEG(t, scene(500, 375)), 2, 60)
}

func TestDecodersAgreeOnPhotographs(t *testing.T) {
	for _, f := range testFiles(t, "photos/*.jpg") {
		compareDecoders(t, f, readFile(t, f), 2.5, 200)
	}
}

func compareDecoders(t *testing.T, name string, data []byte, mean float64, most int) {
	a, _ := whole(t, newTurboDecoder(t), data)
	b, _ := whole(t, newDecoder(t, Go), data)
	got, largest := differences(a, b, a.Window)
	t.Logf("%s: they differ by %.2f, at most %d", name, got, largest)
	if got > mean || largest > most {
		t.Errorf("%s: they differ by %.2f, at most %d; want %.2f, %d", name, got, largest, mean, most)
	}
}

func toGray(m image.Image) *image.Gray {
	g := image.NewGray(m.Bounds())
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			g.Set(x, y, m.At(x, y))
		}
	}
	return g
}

// What is wrong behind the last pixel is damage: every pixel is there.
func TestWrongMarkerBehindThePixels(t *testing.T) {
	jpg := encodeJPEG(t, scene(64, 48))
	data := slices.Concat(jpg[:len(jpg)-2], []byte("\xff\x51\xff\xd9"))
	d := newTurboDecoder(t)
	want, _ := whole(t, d, jpg)
	pix := slices.Clone(want.Pix)
	if m, _ := whole(t, d, data); !strings.Contains(m.Damage, "marker type 0x51") || !slices.Equal(m.Pix, pix) {
		t.Errorf("damage %q, pixels as without: %v", m.Damage, slices.Equal(m.Pix, pix))
	}
}
