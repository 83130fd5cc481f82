package decode

import (
	"image"
	"path/filepath"
	"strings"
	"testing"
)

// oddOutcome is what becomes of a file when all of it is decoded. pixels are at (10, 10),
// (100, 100) and (200, 250), as Pillow 13.0.0 with libjpeg-turbo 3.2.0 gives them
// (convert("RGB"), LOAD_TRUNCATED_IMAGES where it takes that); nil where there are none.
type oddOutcome struct {
	bad       string // by Probe, or by each decoder
	converted string
	turbo     string // damage
	goDamage  string
	goBad     string
	pixels    [][3]byte
}

var oddOutcomes = map[string]oddOutcome{
	"cmyk_pil.jpg":  {converted: "cmyk", pixels: [][3]byte{{98, 108, 69}, {13, 15, 12}, {16, 26, 3}}},
	"corrupt20.jpg": {turbo: "Corrupt JPEG data", pixels: [][3]byte{{97, 107, 70}, {13, 15, 12}, {8, 6, 0}}},
	"exif6.jpg":     {pixels: [][3]byte{{96, 107, 67}, {13, 15, 10}, {17, 26, 5}}},
	"garbage.jpg":   {bad: "not an image that is known here"},
	"gray.jpg":      {converted: "gray", pixels: [][3]byte{{99, 99, 99}, {13, 13, 13}, {21, 21, 21}}},
	"huge65535.jpg": {bad: "too large: 65535 x 65535"},
	"noeoi.jpg": {turbo: "Premature end", goDamage: "no end marker", pixels: [][3]byte{{97, 107, 70}, {13, 15, 12},
		{16, 26, 2}}},
	"png.JPEG":     {pixels: [][3]byte{{97, 107, 70}, {13, 15, 12}, {16, 26, 2}}},
	"png16rgb.png": {converted: "16-bit", pixels: [][3]byte{{97, 107, 70}, {13, 15, 12}, {16, 26, 2}}},
	"prog.jpg":     {pixels: [][3]byte{{96, 107, 67}, {13, 15, 10}, {17, 26, 5}}},
	"rgb.jpg":      {pixels: [][3]byte{{98, 108, 69}, {13, 15, 12}, {16, 26, 3}}},
	"s411.jpg":     {pixels: [][3]byte{{96, 108, 58}, {13, 14, 16}, {17, 27, 3}}},
	"s422.jpg":     {pixels: [][3]byte{{96, 107, 67}, {11, 16, 10}, {17, 26, 9}}},
	"s440.jpg":     {pixels: [][3]byte{{96, 107, 65}, {13, 15, 14}, {18, 26, 5}}},
	"s444.jpg":     {pixels: [][3]byte{{96, 107, 64}, {13, 15, 14}, {17, 27, 3}}},
	"trailing.jpg": {pixels: [][3]byte{{97, 107, 70}, {13, 15, 12}, {16, 26, 2}}},
	"trunc10.jpg": {turbo: "Premature end", goBad: "the data end too early", pixels: [][3]byte{{97, 107, 70},
		{128, 128, 128}, {128, 128, 128}}},
	"trunc50.jpg": {turbo: "Premature end", goBad: "the data end too early", pixels: [][3]byte{{97, 107, 70},
		{13, 15, 12}, {128, 128, 128}}},
	"zero.jpg":    {bad: "empty file"},
	"zeros2k.jpg": {turbo: "Corrupt JPEG data", pixels: [][3]byte{{97, 107, 70}, {13, 15, 12}, {255, 238, 163}}},
}

func TestOddFiles(t *testing.T) {
	files := testFiles(t, "odd/*")
	all := decoders(t)
	for _, f := range files {
		name := filepath.Base(f)
		want, ok := oddOutcomes[name]
		if !ok {
			t.Errorf("%s: what is to become of it is not said", name)
			continue
		}
		for _, d := range all {
			m, _, err := tried(d, readFile(t, f))
			bad, damage := want.bad, want.turbo
			if d.Kind() == Go {
				damage = want.goDamage
				if want.goBad != "" {
					bad = want.goBad
				}
			}
			if bad != "" {
				if err == nil || !strings.Contains(err.Error(), bad) {
					t.Errorf("%s, %s: %v, want %q", name, d.Kind(), err, bad)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", name, d.Kind(), err)
				continue
			}
			if (damage == "") != (m.Damage == "") || !strings.Contains(m.Damage, damage) ||
				m.Converted != want.converted {
				t.Errorf("%s, %s: damage %q, converted %q, want %q, %q", name, d.Kind(), m.Damage, m.Converted, damage,
					want.converted)
			}
			within := 1 // of Pillow
			if d.Kind() == Go {
				within = 16 // chroma repeated, not interpolated
			}
			for i, p := range []image.Point{{10, 10}, {100, 100}, {200, 250}} {
				if got := at(m, p.X, p.Y); !near(got, want.pixels[i], within) {
					t.Errorf("%s, %s: %v is %v, want %v", name, d.Kind(), p, got, want.pixels[i])
				}
			}
		}
	}
}
