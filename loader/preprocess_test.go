package loader

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"dlbench/bench/theory"
	"dlbench/loader/decode"
	"dlbench/loader/transform"
)

// photos is a set of JPEG files of different sizes.
func photos(t testing.TB, n int) *Set {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		write(t, picture(t, 100+i*3, 90, asJPEG), dir, "a", string(rune('a'+i))+".jpg")
	}
	return open(t, dir, Files)
}

var square = transform.Options{Height: 32, Width: 32, DType: "float32", Layout: "nhwc"}

// prepare makes all batches of two epochs with so many threads.
func prepare(t testing.TB, s *Set, o PreprocessOptions, readers, part int) []byte {
	t.Helper()
	const batch = 4
	p := s.Plan(Order{Shuffle: true, Seed: 9}, batch)
	batches := 2 * p.Len()
	size := 32 * 32 * 3 * 4
	all := make([]byte, batches*batch*size)
	workers := make([]*Preprocessor, readers)
	f := feed(t, t.Context(), s, p, FeedOptions{Readers: readers, Depth: 3, Part: part, Batches: batches,
		Thread: func(i int) func() {
			w, err := NewPreprocessor(o)
			if err != nil {
				t.Error(err)
				return nil
			}
			workers[i] = w
			return func() { w.Close() }
		},
		Work: func(i int, at Place, data []byte) error {
			k := at.Batch*batch + at.At
			_, err := workers[i].Image(all[k*size:(k+1)*size], data, at)
			return err
		}})
	drain(t, f, batches, nil)
	return all
}

// The same seed makes the same batches whatever the number of threads and however
// they share the work; epochs and seeds differ.
func TestBatchesFollowFromTheSeed(t *testing.T) {
	s := photos(t, 8)
	o := PreprocessOptions{Decoder: decode.Go, Sample: square, Seed: 5}
	want := prepare(t, s, o, 1, 0)
	for _, c := range []struct{ readers, part int }{{2, 1}, {3, 2}, {3, 0}, {5, 1}} {
		if got := prepare(t, s, o, c.readers, c.part); !bytes.Equal(got, want) {
			t.Errorf("%d readers, parts of %d: other batches", c.readers, c.part)
		}
	}
	if half := len(want) / 2; bytes.Equal(want[:half], want[half:]) {
		t.Error("the second epoch has the crops of the first")
	}
	o.Seed = 6
	if bytes.Equal(prepare(t, s, o, 1, 0), want) {
		t.Error("another seed has the same crops")
	}
}

// What is bad leaves zeros, an error, and its count.
func TestPreprocessorCounts(t *testing.T) {
	p, err := NewPreprocessor(PreprocessOptions{Decoder: decode.Go, Sample: square})
	must(t, err)
	defer p.Close()
	dst := bytes.Repeat([]byte{1}, 32*32*3*4)
	whole := picture(t, 50, 40, asJPEG)
	if damage, err := p.Image(dst, whole, Place{}); damage != "" || err != nil {
		t.Errorf("a good image: %q, %v", damage, err)
	}
	for _, bad := range [][]byte{nil, []byte("no image"), whole[:len(whole)/4]} {
		if _, err := p.Image(dst, bad, Place{}); err == nil || !bytes.Equal(dst, make([]byte, len(dst))) {
			t.Errorf("%d bad bytes: %v", len(bad), err)
		}
	}
	if _, err := p.Image(dst[:10], whole, Place{}); err == nil {
		t.Error("a sample of another size was made")
	}
	if s := p.Stages(); s.Good != 1 || s.Bad != 4 || s.Decode <= 0 || s.Transform <= 0 {
		t.Errorf("%+v", s)
	}
	if _, err := NewPreprocessor(PreprocessOptions{Decoder: "magic", Sample: square}); err == nil {
		t.Error("an unknown decoder was taken")
	}
}

// Steady work on JPEG files by libjpeg-turbo allocates nothing.
func TestPreprocessorAllocatesNothing(t *testing.T) {
	if _, err := decode.Library(); err != nil {
		t.Skip(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := NewPreprocessor(PreprocessOptions{Decoder: decode.Turbo, Sample: square})
	must(t, err)
	defer p.Close()
	dst := make([]byte, 32*32*3*4)
	whole := picture(t, 200, 150, asJPEG)
	i := int32(0)
	if n := testing.AllocsPerRun(100, func() {
		i++
		if _, err := p.Image(dst, whole, Place{Sample: i}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an image", n)
	}
}

// Records of a batch's shape are copied; stored pixels are cropped anew each epoch.
func TestRecordsArePrepared(t *testing.T) {
	p, err := NewPreprocessor(PreprocessOptions{Decoder: decode.Go, Sample: square})
	must(t, err)
	defer p.Close()
	dst := make([]byte, 32*32*3*4)
	shape := func(height, width int, dtype string) *Record {
		b := theory.Batch{Images: 1, Height: height, Width: width, Channels: 3, DType: dtype}
		return &Record{b, "nhwc"}
	}
	same := shape(32, 32, "float32")
	data := content(3, len(dst))
	if err := p.Record(dst, data, same, Place{}); err != nil || !bytes.Equal(dst, data) {
		t.Errorf("a copy: %v", err)
	}
	if err := p.Record(dst, data[4:], same, Place{}); err == nil {
		t.Error("a short record was taken")
	}
	pixels := shape(256, 256, "uint8")
	if !Crops(pixels) || Crops(same) {
		t.Error("which store has pixels for crops")
	}
	plain := bytes.Repeat([]byte{124, 116, 104}, 256*256) // about ImageNet's mean
	must(t, p.Record(dst, plain, pixels, Place{}))
	for i := 0; i < len(dst); i += 4 {
		v := math.Float32frombits(uint32(dst[i]) | uint32(dst[i+1])<<8 | uint32(dst[i+2])<<16 | uint32(dst[i+3])<<24)
		if math.Abs(float64(v)) > 0.02 {
			t.Fatalf("the mean is normalised to %v", v)
		}
	}
	first := append([]byte(nil), dst...)
	noise := content(1, 256*256*3)
	for epoch := range 2 {
		if err := p.Record(dst, noise, pixels, Place{Epoch: epoch}); err != nil || bytes.Equal(dst, first) {
			t.Errorf("epoch %d: the same crop, or %v", epoch, err)
		}
		copy(first, dst)
	}
	for _, c := range []struct {
		r    *Record
		says string
	}{{nil, "no store"}, {same, ""}, {pixels, ""}, {&Record{Batch: theory.Batch{Channels: 1}}, "1 channels"},
		{shape(64, 32, "float32"), "64x32"}} {
		if why := CanPrepare(c.r, square); c.says == "" && why != "" || !strings.Contains(why, c.says) {
			t.Errorf("%+v: %q", c.r, why)
		}
	}
}
