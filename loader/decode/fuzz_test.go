package decode

import (
	"bytes"
	"image"
	"image/color"
	"slices"
	"testing"
)

func seeds(f *testing.F) {
	m := scene(24, 20)
	good := encodeJPEG(f, m)
	f.Add([]byte(nil))
	for _, bad := range spoiled(good) {
		f.Add(bad)
	}
	f.Add(encodeJPEG(f, toGray(m)))
	f.Add(encodePNG(f, m))
	f.Add(encodePNG(f, image.NewPaletted(image.Rect(0, 0, 3, 3), color.Palette{color.Black})))
	f.Add(webpFile)
	f.Add(animatedWebP())
	f.Add(bmpOf(40, 24, 0, 0))
	f.Add(tiffOf(nil))
	for _, c := range pnmFiles {
		f.Add([]byte(c.data))
	}
	for _, s := range samplings {
		file := checked(40, 24, s...)
		f.Add(file.build())
		file.process, file.adobe, file.exif = 0xc2, 3, 8
		f.Add(file.build())
	}
	for _, process := range []byte{0xc1, 0xc3, 0xc9, 0xca} {
		file := checked(20, 20, 0x11)
		file.process = process
		f.Add(file.build())
	}
}

// spoiled are a good JPEG, and what Probe, a decoder or both do not take.
func spoiled(good []byte) [][]byte {
	frame, scan, middle := bytes.Index(good, []byte{0xff, 0xc0}), bytes.Index(good, startOfScan), len(good)/2
	tables := bytes.Index(good, []byte{0xff, dht})
	edited := func(at int, with ...byte) []byte {
		b := slices.Clone(good)
		copy(b[at:], with)
		return b
	}
	inserted := func(at int, with ...byte) []byte { return slices.Concat(good[:at], with, good[at:]) }
	return [][]byte{
		good,
		edited(frame+4, 12),        // bits
		edited(frame+4, 1),         // as well
		edited(frame+5, 0x10),      // a height with no data but for its first rows
		edited(frame+11, 0),        // sampling
		edited(frame+11, 0x55),     // as well
		edited(frame+12, 3),        // no such table
		edited(frame+1, 0xc3),      // lossless
		edited(frame+1, 0xc9),      // arithmetic
		edited(scan+5, 99),         // no such component
		edited(scan+11, 5, 2),      // spectrum
		edited(tables+5, 255, 255), // too many codes
		flat(24, 20, 1, 2).build(),
		flat(24, 20, 1, 2, 3, 4, 5).build(),
		checked(24, 20, 0x42, 0x21, 0x13).build(),
		slices.Concat(good[:tables], good[scan:]),
		inserted(2, 0xff, 0x02, 0, 2), // a reserved marker
		good[:scan+14],
		good[:middle],
		inserted(middle, make([]byte, 500)...),
		inserted(middle, []byte("\xff\xd3\x12\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00")...),
	}
}

func FuzzProbe(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := Probe(data)
		if err == nil && (info.Width <= 0 || info.Height <= 0 || info.Format == "" || info.Orientation < 0 ||
			info.Orientation > 8 || info.body > len(data)) {
			t.Errorf("%+v", info)
		}
	})
}

func FuzzGo(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) { fuzzDecoder(t, Go, data) })
}

// FuzzTurbo also decodes a good file after each.
func FuzzTurbo(f *testing.F) {
	if _, err := Library(); err != nil {
		f.Skip(err)
	}
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) { fuzzDecoder(t, Turbo, data) })
}

func fuzzDecoder(t *testing.T, kind string, data []byte) {
	info, err := Probe(data)
	if err != nil {
		return
	}
	if kind == Turbo && info.Format != JPEG {
		return
	}
	d, err := limits{1 << 18, 20}.decoder(kind, nil)
	must(t, err)
	defer d.Close()
	full := image.Rect(0, 0, info.Width, info.Height)
	for _, region := range []image.Rectangle{full, image.Rect(info.Width/3, info.Height/3, info.Width/3*2+1,
		info.Height/2+1)} {
		m, err := d.Decode(data, &info, region)
		if err != nil {
			continue
		}
		w := m.Window
		if !region.In(w) || !w.In(full) || m.Stride < w.Dx()*4 || len(m.Pix) < m.Stride*(w.Dy()-1)+w.Dx()*4 ||
			cap(m.Pix) < len(m.Pix)+Padding {
			t.Errorf("%+v: window %v, stride %d, %d bytes of %d", info, w, m.Stride, len(m.Pix), cap(m.Pix))
		}
		if behind := m.Pix[len(m.Pix):cap(m.Pix)]; region == full && slices.ContainsFunc(behind,
			func(v byte) bool { return v != 0 }) {
			t.Errorf("%+v: written behind the image: %v", info, behind)
		}
	}
	if kind == Turbo {
		info, _ := Probe(fuzzGood)
		if m, err := d.Decode(fuzzGood, &info, image.Rect(0, 0, 16, 16)); err != nil || m.Damage != "" ||
			at(m, 9, 9) != [3]byte{77, 77, 77} {
			t.Errorf("a good file after it: damage %q, %v", m.Damage, err)
		}
	}
}

var fuzzGood = flat(16, 16, 77).build()
