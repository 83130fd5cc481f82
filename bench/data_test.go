package bench

import (
	"slices"
	"strings"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader"
)

func TestImagesFor(t *testing.T) {
	b := theory.ArticleBatch
	for _, c := range []struct {
		quick bool
		batch int
		free  int64
		want  int
	}{
		{false, 32, 0, 640},
		{true, 32, 0, 160},
		{false, 32, 1 << 40, 640},
		{false, 32, 5e9, 320},      // a tenth of it: room for 347
		{false, 32, 5.2e9, 320},    // a little more or less asks for no other set
		{false, 300, 1 << 40, 600}, // 4 batches are over 1.5 GB
	} {
		b.Images = c.batch
		n, err := imagesFor(b, c.quick, c.free)
		if err != nil || n != c.want {
			t.Errorf("%+v: %d images, %v", c, n, err)
		}
	}
	b.Images = 32
	if n, err := imagesFor(b, false, 100e6); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("100 MB free: %d images, %v", n, err)
	}
}

func TestChoose(t *testing.T) {
	s := &loader.Set{Store: loader.Files}
	for range 10000 {
		s.Samples = append(s.Samples, loader.Sample{Len: 100e3})
	}
	all := choose(s, 32, 1)
	if len(all) != mostChecked || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("%d samples are chosen", len(all))
	}
	if other := choose(s, 32, 2); slices.Equal(all, other) {
		t.Error("another seed chooses the same")
	}
	for i := range s.Samples {
		s.Samples[i].Len = 10e6
	}
	if n := len(choose(s, 32, 1)); n != leastChecked*32 {
		t.Errorf("%d large images are chosen", n)
	}
}
