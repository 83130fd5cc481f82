package decode

import (
	"image"
	"image/color"
	"slices"
	"testing"
)

func seeds(f *testing.F) {
	m := scene(24, 20)
	good := encodeJPEG(f, m)
	f.Add([]byte(nil))
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(encodeJPEG(f, toGray(m)))
	f.Add(encodePNG(f, m))
	f.Add(encodePNG(f, image.NewPaletted(image.Rect(0, 0, 3, 3), color.Palette{color.Black})))
	f.Add(webpFile)
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
	d, err := limits{1 << 18, 20}.decoder(kind)
	if err != nil {
		t.Fatal(err)
	}
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
