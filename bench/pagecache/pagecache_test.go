package pagecache

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestJudgeCache(t *testing.T) {
	const asked = 100 << 20
	nan := math.NaN()
	for _, c := range []struct {
		name, kind string
		p          Proof
		why        string // part of it; "" for valid
	}{
		{"cold", Cold, Proof{Asked: asked, FromDevice: asked}, ""},
		{"cold with readahead", Cold, Proof{Asked: asked, FromDevice: 2 * asked, After: 1}, ""},
		{"cold, limit", Cold, Proof{Before: 0.00099, Asked: 1000, FromDevice: 990}, ""},
		{"cold, a page cached", Cold, Proof{Before: 0.001, Asked: asked, FromDevice: asked}, "0.1 % of the data were cached"},
		{"cold, from memory", Cold, Proof{Asked: 100000, FromDevice: 98999}, "only 98.999 %"},
		{"cold, unverified", Cold, Proof{Before: nan, Unverified: "they disagree", Asked: asked, FromDevice: asked}, "cannot be verified here: they disagree"},
		{"cold, unknown", Cold, Proof{Before: nan, Asked: asked, FromDevice: asked}, "cannot be verified here"},
		{"cold, after unknown", Cold, Proof{After: nan, Asked: asked, FromDevice: asked}, ""},
		{"cold, no counts", Cold, Proof{Asked: asked, FromDevice: UnknownBytes}, "cannot be verified here: /proc/self/io"},
		{"warm", Warm, Proof{Before: 1, After: 1, Asked: asked}, ""},
		{"warm, some read", Warm, Proof{Before: 0.9999, Asked: 1000, FromDevice: 9}, ""},
		{"warm, too much read", Warm, Proof{Before: 1, Asked: 1000, FromDevice: 10}, "1 % of the bytes came"},
		{"warm, not all", Warm, Proof{Before: 0.999, Asked: asked}, "only 99.9 % of the data were cached"},
		{"warm, unverified", Warm, Proof{Unverified: "overlayfs", Asked: asked}, "cannot be verified here: overlayfs"},
		{"warm, no counts", Warm, Proof{Before: 1, Asked: asked, FromDevice: UnknownBytes}, "cannot be verified here"},
		{"direct", Direct, Proof{Before: 1, After: 1, Asked: asked, FromDevice: asked}, ""},
		{"direct needs no residency", Direct, Proof{Before: nan, After: nan, Unverified: "overlayfs", Asked: asked, FromDevice: asked}, ""},
		{"direct on tmpfs", Direct, Proof{Before: 1, After: 1, Asked: asked}, "served direct reads from memory"},
		{"direct, compressed", Direct, Proof{Asked: asked, FromDevice: asked / 2}, "only 50 %"},
		{"direct, buffered", Direct, Proof{After: 0.9, Asked: asked, FromDevice: asked}, "through the page cache"},
		{"direct, no counts", Direct, Proof{Asked: asked, FromDevice: UnknownBytes}, "cannot be verified here"},
		{"nothing", Cold, Proof{}, "nothing was read"},
		{"no kind", "tepid", Proof{Asked: 1, FromDevice: 1}, `"tepid"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok, why := Judge(c.kind, c.p)
			if ok != (c.why == "") || ok != (why == "") || !strings.Contains(why, c.why) {
				t.Errorf("%v %q, want %q", ok, why, c.why)
			}
		})
	}
}

func TestForeignIO(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Proof
		want string
	}{
		{"alone", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: 1050}, ""},
		{"others read", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: 1051}, "other I/O"},
		{"warm, others read", Proof{Asked: 1000, FromDevice: 0, DeviceBytes: 51}, "other I/O"},
		{"warm, alone", Proof{Asked: 1000, FromDevice: 0, DeviceBytes: 50}, ""},
		{"readahead is our own", Proof{Asked: 1000, FromDevice: 1700, DeviceBytes: 1700}, ""},
		{"a cache between", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: 0}, "a cache lies between"},
		{"no device", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: UnknownBytes}, ""},
		{"no process", Proof{Asked: 1000, FromDevice: UnknownBytes, DeviceBytes: 1 << 30}, ""},
	} {
		if have := strings.Join(c.p.Warnings(), "\n"); (have == "") != (c.want == "") || !strings.Contains(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}

func TestPagesOfSpans(t *testing.T) {
	const page = 4096
	for _, c := range []struct {
		name  string
		size  int64
		spans []Span
		want  []Span
	}{
		{"whole", 5000, nil, []Span{{0, 8192}}},
		{"whole pages", 8192, nil, []Span{{0, 8192}}},
		{"outwards", 50000, []Span{{5000, 100}, {4095, 2}}, []Span{{4096, 4096}, {0, 8192}}},
		{"beyond the end", 5000, []Span{{4096, 1 << 40}, {math.MaxInt64, math.MaxInt64}}, []Span{{4096, 4096}}},
		{"empty", 5000, []Span{{0, 0}, {0, -1}, {5000000, 1}}, []Span{}},
		{"negative", 50000, []Span{{-5, 10}}, []Span{{0, 4096}}},
	} {
		if have := (File{Spans: c.spans}).pages(c.size, page); !slices.Equal(have, c.want) {
			t.Errorf("%s: %v, want %v", c.name, have, c.want)
		}
	}
}

func TestReadProcessIO(t *testing.T) {
	const good = "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 0\ncancelled_write_bytes: 0\n"
	for _, c := range []struct {
		text string
		want processIO
		ok   bool
	}{
		{good, processIO{4096, 6976, 10}, true},
		{strings.ReplaceAll(good, "4096", "-4096"), processIO{}, false},
		{"rchar: 1\n", processIO{}, false},
		{"read_bytes\x00:::\n", processIO{}, false},
		{"", processIO{}, false},
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "proc", "self"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "proc", "self", "io"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if have, ok := readProcessIO(root); have != c.want || ok != c.ok {
			t.Errorf("%q: %+v %v", c.text, have, ok)
		}
	}
	if _, ok := readProcessIO(t.TempDir()); ok {
		t.Error("read where there is nothing")
	}
}

func TestAllocationWarnings(t *testing.T) {
	for _, c := range []struct {
		a    fileAllocation
		want string
	}{
		{fileAllocation{Written: 1, Method: "fiemap"}, ""},
		{fileAllocation{Written: 0.5, Method: "fiemap"}, "50 % of the files' bytes are holes"},
		{fileAllocation{Written: 0.5, Method: "blocks"}, "compressed away"},
		{fileAllocation{Written: 1, Compressed: 1, Method: "fiemap"}, "stored compressed"},
	} {
		if have := strings.Join(c.a.Warnings(), "\n"); (have == "") != (c.want == "") || !strings.Contains(have, c.want) {
			t.Errorf("%+v: %q, want %q", c.a, have, c.want)
		}
	}
}

// A watch over counters of a fixture counts what they grew by.
func TestWatchReads(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/self/io", "rchar: 1\nsyscr: 1\nread_bytes: 1000\n")
	write("sys/block/sda/stat", "10 0 100 5 0 0 0 0 0 5 5\n")
	write("sys/class/block/sda/size", "1000\n")
	w := WatchReads(root, []string{"sda"})
	write("proc/self/io", "rchar: 1\nsyscr: 1\nread_bytes: 5096\n")
	write("sys/block/sda/stat", "11 0 108 6 0 0 0 0 0 6 6\n")
	var p Proof
	w.Fill(&p)
	if p.FromDevice != 4096 || p.DeviceBytes != 4096 || p.Depth <= 0 {
		t.Errorf("%+v", p)
	}
	WatchReads(root, []string{"sdb"}).Fill(&p)
	if p.FromDevice != 0 || p.DeviceBytes != UnknownBytes || p.Depth != 0 {
		t.Errorf("a device that is not there: %+v", p)
	}
}
