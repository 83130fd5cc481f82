package loader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"dlbench/bench/theory"
	"dlbench/loader/decode"
)

// picture is an image file with some detail.
func picture(t testing.TB, w, h int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), uint8(x * y), 255})
		}
	}
	var b bytes.Buffer
	must(t, encode(&b, img))
	return b.Bytes()
}

func asJPEG(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }
func asPNG(b *bytes.Buffer, m image.Image) error  { return png.Encode(b, m) }

// A census counts each sample once, as good, damaged or bad, and names what is not
// good with its reason; what was lost on opening is bad, too.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	whole := picture(t, 64, 48, asJPEG)
	write(t, whole, dir, "a", "good.jpg")
	write(t, picture(t, 32, 32, asPNG), dir, "a", "png.JPEG")
	write(t, []byte("no image at all"), dir, "a", "text.jpg")
	write(t, nil, dir, "b", "zero.jpg")
	write(t, whole, dir, "b", "good.jpg")
	write(t, whole[:20], dir, "b", "short.jpg")
	write(t, whole, dir, "b", "._hidden.jpg")
	write(t, []byte("x"), dir, "b", "notes.txt")
	s := open(t, dir, Files)
	if o := s.Only([]int32{2, 0}); o.Name(0) != s.Name(2) || o.Name(1) != s.Name(0) {
		t.Errorf("%+v", o.Samples)
	}
	for _, threads := range []int{1, 3} {
		done := 0
		c, good, err := s.Check(t.Context(), CheckOptions{Decoder: decode.Go, Threads: threads,
			Progress: func(n, all int) { done = max(done, n) }})
		must(t, err)
		if c.Images != 6 || c.Good != 3 || c.Damaged != 0 || done != 5 || len(c.Passed) != 2 {
			t.Errorf("%d images, %d good, %d damaged, %d done, passed over %v", c.Images, c.Good, c.Damaged, done,
				c.Passed)
		}
		var names []string
		for _, f := range c.Bad {
			if f.Reason == "" {
				t.Errorf("%s is bad without a reason", f.Path)
			}
			names = append(names, f.Path)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"a/text.jpg", "b/short.jpg", "b/zero.jpg"}) {
			t.Errorf("bad: %v", names)
		}
		if len(c.Misnamed) != 1 || c.Misnamed[0] != (Fault{Path: "a/png.JPEG", Reason: "holds png"}) {
			t.Errorf("misnamed: %v", c.Misnamed)
		}
		if c.Formats["jpeg"] < 2 || c.Formats["png"] != 1 || c.Widths.Min != 32 || c.Widths.Max != 64 {
			t.Errorf("formats %v, widths %+v", c.Formats, c.Widths)
		}
		if want := []Count{{"a", 3}, {"b", 2}}; !slices.Equal(c.Labels, want) {
			t.Errorf("labels %v, want %v", c.Labels, want)
		}
		rest := s.Only(good)
		if got := paths(rest); !slices.Equal(got, []string{"a/good.jpg", "a/png.JPEG", "b/good.jpg"}) ||
			rest.Bytes >= s.Bytes || len(s.Samples) != 5 {
			t.Errorf("%q are left, %d bytes of %d", got, rest.Bytes, s.Bytes)
		}
		if again, all, err := rest.Check(t.Context(), CheckOptions{Decoder: decode.Go}); err != nil || len(all) != 3 ||
			again.Good != 3 {
			t.Errorf("what is left: %+v, %v", again, err)
		}
	}
}

// Shards name what is bad by shard and offset.
func TestCheckNamesOffsets(t *testing.T) {
	whole := string(picture(t, 16, 16, asJPEG))
	shard := shardBytes(t, plain("0.jpg="+whole, "1.jpg=no", "2.jpg="+whole)...)
	s := open(t, write(t, shard, t.TempDir(), "a.tar"), Tar)
	c, good, err := s.Check(t.Context(), CheckOptions{Decoder: decode.Go})
	if err != nil || !slices.Equal(good, []int32{0, 2}) || c.Good != 2 {
		t.Fatalf("%+v, %v, %v", c, good, err)
	}
	want := Fault{Path: s.Files[0].Path, Offset: s.Samples[1].Off, Reason: c.Bad[0].Reason}
	if c.Bad[0] != want || !strings.Contains(c.Bad[0].At(), fmt.Sprintf(" at %d", want.Offset)) {
		t.Errorf("bad: %+v, want %+v", c.Bad[0], want)
	}
}

func TestCheckOfRecords(t *testing.T) {
	for _, kind := range []string{Raw, Tensor} {
		s := store(t, kind, 6, 5000)
		c, good, err := s.Check(t.Context(), CheckOptions{})
		if err != nil || !slices.Equal(good, count(len(s.Samples))) || c.Images != len(s.Samples)*s.images() ||
			c.Good+c.Damaged != c.Images {
			t.Errorf("%s: %+v, %v, %v", kind, c, good, err)
		}
	}
	r := Record{Batch: theory.Batch{DType: "float32"}}
	nan := []byte{0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x3f}
	if why := r.damage(nan); why != "1 numbers are not finite" {
		t.Errorf("a record with a NaN: %q", why)
	}
	if why := r.damage(nan[4:]); why != "" {
		t.Errorf("a record with 1: %q", why)
	}
}

// Names that are not UTF-8 stay different, in the text and in JSON, and can be had back.
func TestNamesThatAreNotUTF8(t *testing.T) {
	names := []string{"a\xff.jpg", "a\xfe.jpg", "a\ufffd.jpg", `a\xff.jpg`, "a\nb.jpg", `a"b.jpg`, "ä 画.jpg"}
	seen := map[string]bool{}
	for _, name := range names {
		f := Fault{Path: name, Reason: "bad"}
		text, err := json.Marshal([]any{f, Slow{Path: name}})
		must(t, err)
		var back [2]Fault
		must(t, json.Unmarshal(text, &back))
		if back[0].Path != f.At() || back[1].Path != f.At() || !utf8.ValidString(f.At()) ||
			strings.ContainsRune(f.At(), '\n') {
			t.Errorf("%q: %q and %q in JSON, %q in text", name, back[0].Path, back[1].Path, f.At())
		}
		if got, err := strconv.Unquote(`"` + f.At() + `"`); err != nil || got != name {
			t.Errorf("%q comes back as %q, %v", name, got, err)
		}
		seen[f.At()] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%v", seen)
	}
}

// A shard at which WebDataset stops would stop what decodes by Pillow.
func TestCheckForeseesWebDataset(t *testing.T) {
	whole := string(picture(t, 16, 16, asJPEG))
	shard := shardBytes(t, plain("0.jpg="+whole, "0.cls=1", "0.cls=1")...)
	c, _, err := open(t, write(t, shard, t.TempDir(), "a.tar"), Tar).Check(t.Context(), CheckOptions{Decoder: decode.Go})
	if err != nil || c.Good != 1 || c.Shards != 1 || c.Stops.Count(decode.Pillow) != 1 ||
		c.Stops.Count(decode.OpenCV) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// An image that nothing here decodes is counted apart from bad ones.
func TestCheckUnsupported(t *testing.T) {
	dir := t.TempDir()
	write(t, picture(t, 8, 8, asJPEG), dir, "a", "good.jpg")
	write(t, []byte("%PDF-1.7\n"), dir, "a", "scan.jpg")
	write(t, []byte("<html>"), dir, "a", "page.jpg")
	c, good, err := open(t, dir, Files).Check(t.Context(), CheckOptions{Decoder: decode.Go})
	must(t, err)
	if c.Images != 3 || c.Usable() != 1 || len(good) != 1 || len(c.Bad) != 1 || len(c.Unsupported) != 1 ||
		c.Unsupported[0].At() != "a/scan.jpg" || c.Flawed() != "1 bad, 1 not decoded here" {
		t.Errorf("%+v", c)
	}
}

// A file that vanishes, or shrinks, is bad and ends nothing.
func TestCheckOfWhatChanged(t *testing.T) {
	dir := t.TempDir()
	whole := picture(t, 16, 16, asJPEG)
	for _, name := range []string{"a.jpg", "b.jpg", "c.jpg"} {
		write(t, whole, dir, "x", name)
	}
	s := open(t, dir, Files)
	remove(t, s, 0)
	must(t, os.Truncate(filepath.Join(dir, "x", "b.jpg"), 10))
	c, good, err := s.Check(t.Context(), CheckOptions{Decoder: decode.Go, Threads: 2})
	if err != nil || !slices.Equal(good, []int32{2}) || c.Good != 1 {
		t.Fatalf("%+v, %v, %v", c, good, err)
	}
	for _, f := range c.Bad {
		if strings.Contains(f.Reason, dir) || strings.Contains(f.Reason, f.Path) {
			t.Errorf("the reason repeats the path: %+v", f)
		}
	}
}

// hanging is an inspection that stands still at some samples until ctx is done.
func hanging(ctx context.Context, at ...int32) func(sample int32) inspected {
	return func(sample int32) inspected {
		if slices.Contains(at, sample) {
			<-ctx.Done()
		}
		return inspected{info: decode.Info{Format: decode.JPEG, Width: 1, Height: 1}}
	}
}

// A decoder that stands still costs its image and a thread, not the check; many of
// them end it.
func TestCheckTimeLimit(t *testing.T) {
	s := store(t, Files, 40, 10)
	for _, tt := range []struct {
		hang []int32
		ok   bool
	}{{nil, true}, {[]int32{3}, true}, {[]int32{0, 39}, true}, {count(18), false}} {
		synctest.Test(t, func(t *testing.T) {
			end, stop := context.WithCancel(t.Context())
			defer stop() // lets what hangs end
			c, good, err := s.Check(t.Context(), CheckOptions{Threads: 2, TimeLimit: time.Second,
				inspect: hanging(end, tt.hang...)})
			if !tt.ok {
				if err == nil || !strings.Contains(err.Error(), "16 images are not read and decoded after 1s") {
					t.Errorf("%v", err)
				}
				return
			}
			rest := slices.DeleteFunc(count(40), func(i int32) bool { return slices.Contains(tt.hang, i) })
			if err != nil || !slices.Equal(good, rest) || c.Good != len(rest) || c.Images != 40 {
				t.Errorf("hang at %v: good %v, %d good, %v", tt.hang, good, c.Good, err)
			}
			for _, f := range c.Bad {
				if f.Reason != "not read and decoded after 1s" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// waiter is a decoder that waits for memory.
type waiter struct {
	decode.Decoder
	left []time.Duration
}

func (w *waiter) Close() error { return nil }

func (w *waiter) Waited() (t time.Duration) {
	if len(w.left) > 0 {
		t, w.left = w.left[0], w.left[1:]
	}
	return t
}

// The time that an image waits for memory does not count for its limit, nor as its own.
func TestCheckWaitsForMemory(t *testing.T) {
	s := store(t, Files, 1, 10)
	for waits, hung := range map[time.Duration]bool{2500 * time.Millisecond: false, 0: true} {
		synctest.Test(t, func(t *testing.T) {
			i := &inspector{set: s, decoder: &waiter{left: []time.Duration{waits}}, o: CheckOptions{
				TimeLimit: time.Second, inspect: func(int32) inspected {
					time.Sleep(3 * time.Second)
					return inspected{}
				}}}
			found := i.limited(t.Context(), 0)
			if found.stuck != hung || !hung && found.took != 500*time.Millisecond {
				t.Errorf("waited %v: %+v", waits, found)
			}
			time.Sleep(time.Minute) // what hung ends
		})
	}
}

// A picture for which there is no memory is bad for that reason, and takes none of the others
// with it, whatever the number of threads; so is a file that is too large to be read.
func TestCheckWithoutMemory(t *testing.T) {
	dir := t.TempDir()
	write(t, picture(t, 2000, 1500, asPNG), dir, "a", "large.png")
	write(t, append(picture(t, 64, 48, asJPEG), make([]byte, 3<<20)...), dir, "a", "long.jpg")
	for i := range 20 {
		write(t, picture(t, 200+i, 200, asPNG), dir, "b", fmt.Sprintf("%d.png", i))
	}
	s := open(t, dir, Files)
	for _, threads := range []int{1, 4} {
		c, good, err := s.Check(t.Context(), CheckOptions{Decoder: decode.Go, Threads: threads,
			Memory: decode.NewMemory(4<<20, "this cgroup (memory.max)")})
		if err != nil || len(good) != 20 || len(c.Bad) != 2 {
			t.Fatalf("%d threads: %d good, bad %+v, %v", threads, len(good), c.Bad, err)
		}
		for _, f := range c.Bad {
			if !strings.HasPrefix(f.Reason, "not enough memory: ") {
				t.Errorf("%+v", f)
			}
		}
	}
}

func TestCheckIsCancelled(t *testing.T) {
	s := store(t, Files, 40, 10)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		o := CheckOptions{Threads: 2, TimeLimit: time.Hour, inspect: hanging(ctx, 5)}
		if _, _, err := s.Check(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	if _, _, err := s.Check(t.Context(), CheckOptions{Decoder: "magic"}); err == nil {
		t.Error("an unknown decoder was taken")
	}
}

// Every kind of file that people have, by the decoders that are here: nothing ends the
// census.
func TestCheckOfOddFiles(t *testing.T) {
	dir := testdata(t, "odd")
	s := open(t, dir, "")
	for _, kind := range []string{decode.Go, decode.Turbo} {
		c, good, err := s.Check(t.Context(), CheckOptions{Decoder: kind})
		if errors.Is(err, decode.ErrNoLibrary) {
			t.Log(err)
			continue
		}
		must(t, err)
		if c.Images != 20 || c.Good+c.Damaged+len(c.Bad) != 20 || c.Oriented != 1 || c.Progressive != 1 ||
			c.Converted["cmyk"] != 1 || c.Converted["gray"] != 1 || c.Converted["16-bit"] != 1 {
			t.Errorf("%s: %+v", kind, c)
		}
		if bad := len(s.Samples) - len(good); bad != len(c.Bad)-1 { // the empty one is no sample at all
			t.Errorf("%s: %d samples to leave out of %d bad", kind, bad, len(c.Bad))
		}
	}
}

// testdata is a folder of DLBENCH_TESTDATA.
func testdata(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(testdataRoot, name)
	if testdataRoot == "" {
		t.Skip("DLBENCH_TESTDATA names no folder with photographs and odd images")
	}
	return dir
}

var testdataRoot = os.Getenv("DLBENCH_TESTDATA")

// Folders that users met: how many images can be used of each, and what is said of others.
func TestFieldFolders(t *testing.T) {
	root := os.Getenv("DLBENCH_TESTDATA")
	if root == "" {
		t.Skip("DLBENCH_TESTDATA is not set")
	}
	for folder, want := range map[string]struct {
		usable, unsupported int
		bad                 []string // parts of what is bad
	}{
		"all-undecodable":           {0, 0, []string{"gzip data"}},
		"concatenated":              {8, 0, []string{"another archive, of 40960 bytes"}},
		"containers/gzip-named-tar": {0, 0, []string{"no tar archive: gzip data"}},
		"dotted-names":              {1, 0, []string{"scene/21 has no image", "scene/22 has no image"}},
		"orientation":               {5, 0, nil},
		"other-formats":             {4, 5, nil},
		"pages-as-jpg": {1, 0, []string{"base64", "HTML", "XML", "JSON", "gzip", "JPEG behind bytes", "HTML",
			"Git LFS"}},
		"pnm":                {9, 0, nil},
		"sparse-member":      {22, 0, []string{"0002.jpg: sparse", "0002.jpg: sparse"}},
		"tiff-bmp":           {4, 8, nil},
		"tar-beside-classes": {36, 0, []string{"12 images in the same folder, in store tar, are left out"}},
		"zero-filled":        {8, 0, []string{"zeros from byte"}},
	} {
		s, err := Open(filepath.Join(root, "field", folder), "")
		if errors.Is(err, os.ErrNotExist) {
			t.Skip(err)
		}
		if s == nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		c, _, err := s.Check(t.Context(), CheckOptions{})
		must(t, err)
		if c.Usable() != want.usable || len(c.Unsupported) != want.unsupported ||
			c.Images != want.usable+want.unsupported+len(c.Bad) {
			t.Errorf("%s: %d usable, %d unsupported, bad %v", folder, c.Usable(), len(c.Unsupported), c.Bad)
		}
		for i, part := range want.bad {
			if i >= len(c.Bad) || !slices.ContainsFunc(c.Bad, func(f Fault) bool { return strings.Contains(f.Reason, part) }) {
				t.Errorf("%s: %q is not said: %v", folder, part, c.Bad)
			}
		}
		if folder == "orientation" && c.Oriented != 5 {
			t.Errorf("%s: %d", folder, c.Oriented)
		}
	}
}

// A census keeps little of each sample, good or bad, whatever their number.
func TestCheckKeepsLittle(t *testing.T) {
	const n = 50_000
	s := &Set{Store: Files, Files: []File{{Path: "a/b.jpg", Size: 100}}, Samples: slices.Repeat([]Sample{{Len: 100}}, n)}
	rule := &decode.Rules[0]
	for name, c := range map[string]struct {
		found inspected
		most  int64 // B a sample
	}{
		"good": {inspected{info: decode.Info{Format: decode.JPEG, Width: 500, Height: 375}}, 8},
		"bad":  {inspected{err: errors.New("cut"), rule: rule}, 120},
	} {
		before := live()
		census, good, err := s.Check(t.Context(), CheckOptions{inspect: func(int32) inspected {
			again := c.found
			if again.err != nil {
				again.err = errors.New(strings.Clone("cut")) // as of a file of its own
			}
			return again
		}})
		must(t, err)
		if kept := live() - before; kept > n*c.most || census.Images != n {
			t.Errorf("%s: %d B kept a sample", name, kept/n)
		}
		if bad := census.Stops.Count(decode.Pillow); bad != len(census.Bad) || bad+len(good) != n {
			t.Errorf("%s: %d stops, %d bad", name, bad, len(census.Bad))
		}
	}
}

// live is what of the heap is in use, in bytes.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
