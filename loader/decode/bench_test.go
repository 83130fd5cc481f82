package decode

import (
	"image"
	"testing"
)

func BenchmarkTurbo(b *testing.B) {
	if _, err := Library(); err != nil {
		b.Skip(err)
	}
	benchmark(b, Turbo)
}

func BenchmarkGo(b *testing.B) { benchmark(b, Go) }

// benchmark decodes whole images, and a region of about a third of the area, as a random
// resized crop has it on average.
func benchmark(b *testing.B, kind string) {
	third := func(i *Info) image.Rectangle {
		return image.Rect(i.Width/5, i.Height/5, i.Width*4/5, i.Height*4/5)
	}
	full := func(i *Info) image.Rectangle { return image.Rect(0, 0, i.Width, i.Height) }
	made := [][]byte{encodeJPEG(b, scene(500, 375))}
	b.Run("scene", func(b *testing.B) { benchmarkFiles(b, kind, made, full) })
	b.Run("scene-third", func(b *testing.B) { benchmarkFiles(b, kind, made, third) })
	photos := func(b *testing.B) (files [][]byte) {
		for _, f := range testFiles(b, "photos/*.jpg") {
			files = append(files, readFile(b, f))
		}
		return files
	}
	b.Run("photos", func(b *testing.B) { benchmarkFiles(b, kind, photos(b), full) })
	b.Run("photos-third", func(b *testing.B) { benchmarkFiles(b, kind, photos(b), third) })
}

func benchmarkFiles(b *testing.B, kind string, files [][]byte, region func(*Info) image.Rectangle) {
	d := newDecoder(b, kind)
	b.ReportAllocs()
	var info Info
	for i := 0; b.Loop(); i++ {
		data := files[i%len(files)]
		var err error
		if info, err = Probe(data); err != nil {
			b.Fatal(err)
		}
		if _, err := d.Decode(data, &info, region(&info)); err != nil {
			b.Fatal(err)
		}
	}
}
