package synth

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// small is a shape that is quick to write.
var small = theory.Batch{Images: 4, Height: 20, Width: 30, Channels: 3, DType: "float16"}

// mustMake makes a set of few images and returns its folder.
func mustMake(t *testing.T, store string, images int) (string, Info) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), store)
	info, err := Make(t.Context(), dir, Spec{Store: store, Images: images, Seed: 1, Classes: 3, Batch: small, Layout: "nchw"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dir, info
}

// reread reads a set through the loader and sums up what is in it.
func reread(t *testing.T, dir string) (*loader.Set, string, []int32) {
	t.Helper()
	set, err := loader.Open(dir, loader.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := loader.NewReader(set, loader.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var print Fingerprint
	var labels []int32
	for i := range set.Samples {
		if _, err := r.Read([]int32{int32(i)}, func(_ int32, data []byte) error {
			images := 1
			if set.Record != nil {
				images = set.Record.Images
			}
			for k := range images {
				print.Add(data[k*len(data)/images : (k+1)*len(data)/images])
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		labels = append(labels, set.Samples[i].Label)
	}
	if set.Store == loader.Tensor {
		labels = set.Labels
	}
	return set, print.String(), labels
}

func TestMakeEveryStore(t *testing.T) {
	prints := map[string]string{}
	for _, store := range loader.Stores {
		dir, info := mustMake(t, store, 10)
		images, labels := 10, []int32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}
		switch store {
		case loader.Tensor:
			images, labels = 8, labels[:8]
		case loader.Files:
			slices.Sort(labels) // by class folder
		}
		set, print, got := reread(t, dir)
		if set.Store != store || info.Images != images || info.LeftOver != 10-images || info.Classes != 3 {
			t.Errorf("%s: opened as %s, info %+v", store, set.Store, info)
		}
		if print != info.Fingerprint || set.Bytes != info.Bytes {
			t.Errorf("%s: %d bytes, fingerprint %s, info %+v", store, set.Bytes, print, info)
		}
		if !slices.Equal(got, labels) {
			t.Errorf("%s: labels %v, want %v", store, got, labels)
		}
		if read, err := ReadInfo(dir); err != nil || read.Fingerprint != info.Fingerprint || read.intact(dir) != nil {
			t.Errorf("%s: read %+v, %v", store, read, err)
		}
		if set.Record != nil && (set.Record.Height != 20 || set.Record.Width != 30 || set.Record.DType != "float16" || set.Record.Layout != "nchw") {
			t.Errorf("%s: record %+v", store, set.Record)
		}
		prints[store] = print
	}
	if prints[loader.Files] != prints[loader.Tar] || prints[loader.Files] == prints[loader.Raw] {
		t.Errorf("fingerprints %v: files and shards hold the same, tensors something else", prints)
	}
}

// TestMakeIsTheSameAgain compares the bytes of two runs.
func TestMakeIsTheSameAgain(t *testing.T) {
	for _, name := range []string{"tar/000000.tar", "raw/data.raw"} {
		store := filepath.Dir(name)
		a, _ := mustMake(t, store, 9)
		b, _ := mustMake(t, store, 9)
		x, err := os.ReadFile(filepath.Join(a, filepath.Base(name)))
		y, err2 := os.ReadFile(filepath.Join(b, filepath.Base(name)))
		if err != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s: two runs differ (%v, %v)", name, err, err2)
		}
	}
}

func TestSpecCheck(t *testing.T) {
	grey := small
	grey.Channels = 1
	huge := small
	huge.Images = 1 << 20
	for want, s := range map[string]Spec{
		"unknown store":   {Store: "zip", Images: 1},
		"at least one":    {Store: loader.Files},
		"pictures have 3": {Store: loader.Raw, Images: 1, Batch: grey},
		"unknown layout":  {Store: loader.Raw, Images: 1, Batch: small, Layout: "hwcn"},
		"unknown type":    {Store: loader.Raw, Images: 1, Batch: theory.Batch{Images: 1, Height: 1, Width: 1, Channels: 3}},
		"1 GiB":           {Store: loader.Tensor, Images: 1 << 20, Batch: huge},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	dir := filepath.Join(t.TempDir(), "set")
	if _, err := Make(t.Context(), dir, Spec{Store: loader.Tensor, Images: 3, Batch: small}, nil); err == nil || !strings.Contains(err.Error(), "no whole batch of 4") {
		t.Errorf("3 images in batches of 4: %v", err)
	}
}

// TestInterrupted stops in the middle and looks for what is left, parents included.
func TestInterrupted(t *testing.T) {
	src, _ := mustMake(t, loader.Files, 40)
	for _, store := range loader.Stores {
		for name, do := range map[string]func(ctx context.Context, dir string, p Progress) error{
			"make": func(ctx context.Context, dir string, p Progress) error {
				_, err := Make(ctx, dir, Spec{Store: store, Images: 40, Batch: small}, p)
				return err
			},
			"pack": func(ctx context.Context, dir string, p Progress) error {
				_, err := Pack(ctx, src, dir, PackOptions{Store: store, Batch: small, Progress: p})
				return err
			},
		} {
			root := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			last := 0
			err := do(ctx, filepath.Join(root, "a", "b"), func(done, total int) {
				if last = done; done == 5 {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) || last > 6 {
				t.Errorf("%s %s: %v after %d images", name, store, err, last)
			}
			if left, _ := os.ReadDir(root); len(left) > 0 {
				t.Errorf("%s %s left %v", name, store, left)
			}
			cancel()
		}
	}
}

func TestMostPixels(t *testing.T) {
	most := 0
	for _, s := range sizes {
		most = max(most, s.w*s.h)
	}
	if most != MostPixels {
		t.Errorf("the largest image has %d pixels, not %d", most, MostPixels)
	}
}
