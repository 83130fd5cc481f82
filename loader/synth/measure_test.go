package synth

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/cmplx"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestAgainstPhotographs measures generated images beside the photographs in the
// folder photos of DLBENCH_TESTDATA. Its bounds are wide; `go test -v` prints what
// the package's documentation quotes.
func TestAgainstPhotographs(t *testing.T) {
	dir := os.Getenv("DLBENCH_TESTDATA")
	if dir == "" {
		t.Skip("DLBENCH_TESTDATA names no folder with photographs")
	}
	names, err := filepath.Glob(filepath.Join(dir, "photos", "*.jpg"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no photographs in %s: %v", dir, err)
	}
	var photos, made [][]byte
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		photos = append(photos, data)
		data, _ = New(1).JPEG(i, nil)
		made = append(made, data)
	}
	p, m := measure(t, photos), measure(t, made)
	t.Logf("photographs %v", p)
	t.Logf("generated   %v", m)
	if r := m.bits / p.bits; r < 0.85 || r > 1.3 {
		t.Errorf("bits a pixel %.3g of photographs', want 0.85 to 1.3", r)
	}
	if d := m.slope - p.slope; math.Abs(d) > 0.35 {
		t.Errorf("slope of the spectrum %.3g, photographs %.3g", m.slope, p.slope)
	}
	if m.gain > 0.02 {
		t.Errorf("gzip makes files %.3g %% smaller", 100*m.gain)
	}
}

// likeness is what is compared.
type likeness struct {
	bytes, bits    float64 // a file; a pixel
	nanos, perByte float64 // decoding with image/jpeg, a pixel, least of 5
	slope          float64 // of log power over log radial frequency
	gain           float64 // share of a file that gzip saves
}

func (l likeness) String() string {
	return fmt.Sprintf("%.1f kB, %.2f bits a pixel, decode %.2f ns a pixel %.2f ns a byte, slope %.2f, gzip saves %.2f %%",
		l.bytes/1e3, l.bits, l.nanos, l.perByte, l.slope, 100*l.gain)
}

func measure(t *testing.T, files [][]byte) likeness {
	t.Helper()
	var l likeness
	var pixels, size, zipped, nanos, sloped float64
	for _, f := range files {
		best := time.Duration(math.MaxInt64)
		var img image.Image
		for range 5 {
			start := time.Now()
			var err error
			if img, err = jpeg.Decode(bytes.NewReader(f)); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		nanos += float64(best)
		b := img.Bounds()
		pixels += float64(b.Dx() * b.Dy())
		size += float64(len(f))
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		w.Write(f)
		w.Close()
		zipped += float64(min(z.Len(), len(f)))
		if s := slope(img.(*image.YCbCr)); !math.IsNaN(s) {
			l.slope += s
			sloped++
		}
	}
	l.bytes, l.bits, l.nanos, l.gain = size/float64(len(files)), 8*size/pixels, nanos/pixels, 1-zipped/size
	l.slope /= sloped
	l.perByte = nanos / size
	return l
}

// slope fits log power over log frequency of the luma in the middle, from 4 to
// 100 cycles over 256 pixels.
func slope(img *image.YCbCr) float64 {
	const n = 256
	b := img.Bounds()
	x0, y0 := (b.Dx()-n)/2, (b.Dy()-n)/2
	if x0 < 0 || y0 < 0 {
		return math.NaN()
	}
	rows := make([][]complex128, n)
	window := func(i int) float64 { return math.Pow(math.Sin(math.Pi*(float64(i)+0.5)/n), 2) }
	for y := range rows {
		rows[y] = make([]complex128, n)
		for x := range rows[y] {
			rows[y][x] = complex((float64(img.Y[img.YOffset(x0+x, y0+y)])-128)*window(x)*window(y), 0)
		}
		fft(rows[y])
	}
	power := make([][]float64, n)
	col := make([]complex128, n)
	for x := range n {
		for y := range n {
			col[y] = rows[y][x]
		}
		fft(col)
		power[x] = make([]float64, n)
		for y := range n {
			power[x][y] = real(col[y] * cmplx.Conj(col[y]))
		}
	}
	var sum, count [n]float64
	for x := range n {
		for y := range n {
			r := int(math.Round(math.Hypot(float64(min(x, n-x)), float64(min(y, n-y)))))
			if r < n {
				sum[r] += power[x][y]
				count[r]++
			}
		}
	}
	var sx, sy, sxx, sxy, k float64
	for _, r := range logSpaced() {
		x, y := math.Log(float64(r)), math.Log(sum[r]/count[r])
		sx, sy, sxx, sxy, k = sx+x, sy+y, sxx+x*x, sxy+x*y, k+1
	}
	return (k*sxy - sx*sy) / (k*sxx - sx*sx)
}

// logSpaced are frequencies that weigh every octave alike.
func logSpaced() []int {
	var list []int
	for f := 4.0; f <= 100; f *= 1.15 {
		list = append(list, int(f))
	}
	return slices.Compact(list)
}

// fft transforms a, whose length is a power of two, in place.
func fft(a []complex128) {
	n := len(a)
	if n == 1 {
		return
	}
	even, odd := make([]complex128, n/2), make([]complex128, n/2)
	for i := range even {
		even[i], odd[i] = a[2*i], a[2*i+1]
	}
	fft(even)
	fft(odd)
	for i := range even {
		w := cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n)) * odd[i]
		a[i], a[i+n/2] = even[i]+w, even[i]-w
	}
}
