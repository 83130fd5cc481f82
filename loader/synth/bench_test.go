package synth

import (
	"path/filepath"
	"strconv"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader"
)

func BenchmarkJPEG(b *testing.B) {
	g := New(1)
	buf, _ := g.JPEG(0, nil)
	i := 0
	for b.Loop() {
		buf, _ = g.JPEG(i, buf)
		b.SetBytes(int64(len(buf)))
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "images/s")
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

// BenchmarkMake makes whole sets of 64 images on all usable CPUs.
func BenchmarkMake(b *testing.B) {
	for _, store := range loader.Stores {
		b.Run(store, func(b *testing.B) {
			root, n := b.TempDir(), 0
			for b.Loop() {
				s := Spec{Store: store, Images: 64, Batch: theory.ArticleBatch}
				if _, err := Make(b.Context(), filepath.Join(root, strconv.Itoa(n)), s, nil); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(64*n)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
