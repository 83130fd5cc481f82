package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

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

// A set of ours that was damaged without a change of its size is made anew.
func TestDamagedSetIsMadeAnew(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // of other systems
	var made []string
	o := Options{Batch: theory.ArticleBatch, Quick: true, Root: "/"}
	o.Notice = func(text string) { made = append(made, text) }
	o.Batch.Images = 8
	d, err := OpenData(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	shard := filepath.Join(d.Sets[loader.Tar].Root, d.Sets[loader.Tar].Files[0].Path)
	data, err := os.ReadFile(shard)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(shard, make([]byte, len(data)), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err = OpenData(t.Context(), o)
	if err != nil || len(d.Sets[loader.Tar].Skipped) > 0 || len(made) != 2 {
		t.Errorf("%v; made %q", err, made)
	}
	if again, err := os.ReadFile(shard); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%s is not as it was: %v", shard, err)
	}
}

// A worker that does not come back from its sample keeps nobody from the others' counts.
func TestStuckWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Workers{all: make([]worker, 2)}
		w.all[0].mutex.Lock()
		seen := 0
		if w.each(func(*worker) { seen++ }); seen != 1 {
			t.Errorf("%d workers were asked, want the one that is not stuck", seen)
		}
	})
}
