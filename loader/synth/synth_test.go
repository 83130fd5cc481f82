package synth

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// TestGolden holds the generator to its version: whoever changes what is drawn
// raises Version. The bytes of the files may change with Go's encoder too.
func TestGolden(t *testing.T) {
	var got strings.Builder
	fmt.Fprintf(&got, "generator %d\n", Version)
	for _, c := range []struct {
		seed  uint64
		index int
	}{{1, 0}, {1, 1}, {1, 4999}, {1<<64 - 1, 7}} {
		g := New(c.seed)
		img := g.Image(c.index)
		h := sha256.New()
		for _, plane := range [][]byte{img.Y, img.Cb, img.Cr} {
			h.Write(plane)
		}
		file, label := g.JPEG(c.index, nil)
		fmt.Fprintf(&got, "seed %d index %d: %v label %d, pixels %.8x, decoded %.8x\n", c.seed, c.index, img.Rect.Max, label, h.Sum(nil), decodedSum(t, file))
	}
	path := filepath.Join("testdata", "golden.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func decodedSum(t *testing.T, file []byte) []byte {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	y, ok := img.(*image.YCbCr)
	if !ok || y.SubsampleRatio != image.YCbCrSubsampleRatio420 {
		t.Fatalf("%T is not 4:2:0", img)
	}
	h := sha256.New()
	for _, plane := range [][]byte{y.Y, y.Cb, y.Cr} {
		h.Write(plane)
	}
	return h.Sum(nil)
}

// files makes n files, several at once.
func files(g *Generator, n int) [][]byte {
	list := make([][]byte, n)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; i < n; i += 4 {
				list[i], _ = g.JPEG(i, nil)
			}
		})
	}
	wg.Wait()
	return list
}

// raceDetector is on: drawing takes ten times as long.
var raceDetector bool

func TestSizesOfFiles(t *testing.T) {
	n := 500
	if raceDetector {
		n = 100
	}
	var sizes []int
	seen := map[[32]byte]bool{}
	dims := map[image.Point]int{}
	sum := 0
	for _, f := range files(New(3), n) {
		c, err := jpeg.DecodeConfig(bytes.NewReader(f))
		if err != nil {
			t.Fatal(err)
		}
		dims[image.Point{c.Width, c.Height}]++
		seen[sha256.Sum256(f)] = true
		sizes = append(sizes, len(f))
		sum += len(f)
	}
	slices.Sort(sizes)
	if mean := sum / n; mean < 105e3 || mean > 115e3 {
		t.Errorf("mean of %d bytes, want 105 to 115 kB", mean)
	}
	if low, high := sizes[n/20], sizes[n-n/20]; low < 40e3 || high > 200e3 || float64(high)/float64(low) < 1.5 {
		t.Errorf("9 of 10 files have %d to %d bytes", low, high)
	}
	if len(seen) != n {
		t.Errorf("%d of %d files differ", len(seen), n)
	}
	if dims[image.Point{500, 375}] < n/3 || len(dims) < 8 {
		t.Errorf("sizes %v", dims)
	}
}

func TestFilesDoNotCompress(t *testing.T) {
	for i, f := range files(New(4), 20) {
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		w.Write(f)
		w.Close()
		if z.Len() < len(f)*98/100 {
			t.Errorf("index %d: gzip makes %d bytes of %d", i, z.Len(), len(f))
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	a, _ := New(1).JPEG(0, nil)
	b, _ := New(2).JPEG(0, nil)
	if bytes.Equal(a, b) {
		t.Error("seeds 1 and 2 give the same file")
	}
}

// TestConcurrent compares images made at the same time with those made one by one
// in another order, into a buffer that is used again.
func TestConcurrent(t *testing.T) {
	const n = 24
	together := files(New(5), n)
	g := New(5)
	var buf []byte
	for i := n - 1; i >= 0; i-- {
		if buf, _ = g.JPEG(i, buf); !bytes.Equal(buf, together[i]) {
			t.Errorf("index %d differs", i)
		}
	}
}

func TestImageIsKept(t *testing.T) {
	g := New(6)
	first := g.Image(0)
	before := slices.Clone(first.Y)
	g.JPEG(1, nil)
	g.Image(2)
	if !slices.Equal(first.Y, before) {
		t.Error("a later image was drawn over the first")
	}
}

func TestLabels(t *testing.T) {
	g := New(1)
	for i := range 25 {
		if got := g.Label(i); got != i%DefaultClasses {
			t.Errorf("label of %d: %d", i, got)
		}
	}
	g.Classes = 3
	if got := g.Label(7); got != 1 {
		t.Errorf("label of 7 of 3 classes: %d", got)
	}
}
