package synth

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results/golden"
)

// TestGolden holds the generator to its version: whoever changes what is drawn
// raises Version. The bytes of the files may change with Go's encoder too.
func TestGolden(t *testing.T) {
	var got strings.Builder
	fmt.Fprintf(&got, "generator %d\n", Version)
	for _, c := range []struct {
		seed  uint64
		index int
	}{{1, 0}, {1, 1}, {1, 4999}, {1<<64 - 1, 7}} {
		var drawn canvas
		newGenerator(c.seed).draw(&drawn, c.index)
		img, err := jpeg.Decode(bytes.NewReader(drawn.encode(nil)))
		decoded, ok := img.(*image.YCbCr)
		if err != nil || !ok || decoded.SubsampleRatio != image.YCbCrSubsampleRatio420 {
			t.Fatalf("%T is not 4:2:0, or %v", img, err)
		}
		fmt.Fprintf(&got, "seed %d index %d: %v label %d, pixels %.8x, decoded %.8x\n", c.seed, c.index,
			drawn.img.Rect.Max,
			c.index%DefaultClasses,
			planes(drawn.img), planes(decoded))
	}
	golden.Check(t, filepath.Join("testdata", "golden.txt"), []byte(got.String()))
}

// planes is the SHA-256 of an image's pixels.
func planes(m *image.YCbCr) []byte {
	h := sha256.New()
	for _, plane := range [][]byte{m.Y, m.Cb, m.Cr} {
		h.Write(plane)
	}
	return h.Sum(nil)
}

// files makes the first n files of a seed, several at once.
func files(seed uint64, n int) [][]byte {
	g := newGenerator(seed)
	list := make([][]byte, n)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			var c canvas
			for i := worker; i < n; i += 4 {
				g.draw(&c, i)
				list[i] = c.encode(nil)
			}
		})
	}
	wg.Wait()
	return list
}

// Files have the sizes of photographs, as what a set needs is reckoned with, and differ.
func TestFiles(t *testing.T) {
	const n = 100
	all := files(3, n)
	sum := 0
	seen := map[string]bool{}
	for _, f := range all {
		seen[string(f)] = true
		sum += len(f)
	}
	if mean := sum / n; mean < 105e3 || mean > meanJPEG {
		t.Errorf("mean of %d bytes, want 105 to %d kB", mean, meanJPEG/1000)
	}
	if len(seen) != n {
		t.Errorf("%d of %d files differ", len(seen), n)
	}
	if bytes.Equal(all[0], files(4, 1)[0]) {
		t.Error("seeds 3 and 4 give the same file")
	}
	// One by one, in another order, into memory that is used again.
	g := newGenerator(3)
	var c canvas
	var buf []byte
	for i := 23; i >= 0; i-- {
		g.draw(&c, i)
		if buf = c.encode(buf); !bytes.Equal(buf, all[i]) {
			t.Errorf("index %d differs", i)
		}
	}
}

func TestSizes(t *testing.T) {
	most, shares := 0, 0
	for _, s := range sizes {
		most, shares = max(most, s.w*s.h), shares+s.share
	}
	if most != MostPixels || shares != sizeShares {
		t.Errorf("the largest image has %d pixels, not %d; %d shares, not %d", most, MostPixels, shares, sizeShares)
	}
}

// A tensor of a picture's own size holds its pixels.
func TestTensor(t *testing.T) {
	var c canvas
	newGenerator(1).draw(&c, 0)
	picture, size := c.rgb(), c.img.Rect.Size()
	sampler, err := newSampler(&loader.Record{Batch: theory.Batch{Height: size.Y, Width: size.X, DType: "uint8"}})
	must(t, err)
	got, err := middle(sampler, nil, picture)
	must(t, err)
	for i := range size.X * size.Y {
		y := c.img.YCbCrAt(i%size.X, i/size.X)
		r, g, b := color.YCbCrToRGB(y.Y, y.Cb, y.Cr)
		if want := []byte{r, g, b}; !bytes.Equal(got[3*i:][:3], want) {
			t.Fatalf("pixel %d: %v, want %v", i, got[3*i:][:3], want)
		}
	}
}
