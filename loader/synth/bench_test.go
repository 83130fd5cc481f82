package synth

import (
	"path/filepath"
	"strconv"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// BenchmarkMake makes whole sets of 64 images on all usable CPUs.
func BenchmarkMake(b *testing.B) {
	for _, store := range loader.Stores {
		b.Run(store, func(b *testing.B) {
			root, n := b.TempDir(), 0
			for b.Loop() {
				s := Spec{Form: Form{Store: store, Batch: theory.ArticleBatch}, Images: 64}
				if _, err := Make(b.Context(), filepath.Join(root, strconv.Itoa(n)), s, nil); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(64*n)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
