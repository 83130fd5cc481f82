package synth

import "testing"

func BenchmarkJPEG(b *testing.B) {
	g := New(1)
	buf, _ := g.JPEG(0, nil)
	i := 0
	for b.Loop() {
		buf, _ = g.JPEG(i, buf)
		b.SetBytes(int64(len(buf)))
		i++
	}
}

func BenchmarkDraw(b *testing.B) {
	g := New(1)
	g.textures()
	i := 0
	for b.Loop() {
		g.scratch.Put(g.draw(i))
		i++
	}
}

func BenchmarkTextures(b *testing.B) {
	for b.Loop() {
		New(1).textures()
	}
}
