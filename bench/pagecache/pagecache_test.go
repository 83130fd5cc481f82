package pagecache

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// says checks that a text has a part, and is empty where that is.
func says(t *testing.T, name, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) || (part == "") != (text == "") {
		t.Errorf("%s: %q, want %q", name, text, part)
	}
}

func TestJudge(t *testing.T) {
	const (
		asked              = 100 << 20
		cold, warm, direct = results.ColdData, results.Warm, results.Direct
	)
	nan := math.NaN()
	for _, c := range []struct {
		name, cache string
		p           Proof
		why         string // part of it; "" for valid
	}{
		{"cold", cold, Proof{Asked: asked, FromDevice: asked}, ""},
		{"cold with readahead", cold, Proof{Asked: asked, FromDevice: 2 * asked, After: 1}, ""},
		{"cold, limit", cold, Proof{Before: 0.00099, Asked: 1000, FromDevice: 990}, ""},
		{"cold, a page cached", cold, Proof{Before: 0.001, Asked: asked, FromDevice: asked},
			"0.1 % of the data were cached"},
		{"cold, from memory", cold, Proof{Asked: 100000, FromDevice: 98999}, "only 98.999 %"},
		{"cold, unverified", cold, Proof{Before: nan, Unverified: "they disagree", Asked: asked, FromDevice: asked},
			"they disagree"},
		{"cold, unknown", cold, Proof{Before: nan, Asked: asked, FromDevice: asked}, "cannot be verified here"},
		{"cold, after unknown", cold, Proof{After: nan, Asked: asked, FromDevice: asked}, ""},
		{"cold, no counts", cold, Proof{Asked: asked, FromDevice: UnknownBytes},
			"cannot be verified here: /proc/self/io"},
		{"warm", warm, Proof{Before: 1, After: 1, Asked: asked}, ""},
		{"warm, some read", warm, Proof{Before: 0.9999, Asked: 1000, FromDevice: 9}, ""},
		{"warm, too much read", warm, Proof{Before: 1, Asked: 1000, FromDevice: 10}, "1 % of the bytes came"},
		{"warm, not all", warm, Proof{Before: 0.999, Asked: asked}, "only 99.9 % of the data were cached"},
		{"warm, unverified", warm, Proof{Unverified: "overlayfs", Asked: asked}, "overlayfs"},
		{"warm, no counts", warm, Proof{Before: 1, Asked: asked, FromDevice: UnknownBytes}, "cannot be verified here"},
		{"direct", direct, Proof{Before: 1, After: 1, Asked: asked, FromDevice: asked}, ""},
		{"direct needs no residency", direct,
			Proof{Before: nan, After: nan, Unverified: "overlayfs", Asked: asked, FromDevice: asked}, ""},
		{"direct on tmpfs", direct, Proof{Before: 1, After: 1, Asked: asked}, "only 0 % of the bytes came"},
		{"direct, compressed", direct, Proof{Asked: asked, FromDevice: asked / 2}, "only 50 %"},
		{"direct, buffered", direct, Proof{After: 0.9, Asked: asked, FromDevice: asked}, "through the page cache"},
		{"direct, no counts", direct, Proof{Asked: asked, FromDevice: UnknownBytes}, "cannot be verified here"},
		{"cold over a network that is not counted", cold, Proof{Network: true, Asked: asked}, ""},
		{"cold over a network, cached", cold, Proof{Network: true, Before: 0.5, Asked: asked}, "were cached before"},
		{"cold over a network that is counted", cold, Proof{Network: true, Asked: asked, FromDevice: asked / 2}, "only 50 %"},
		{"direct over a network that is not counted", direct, Proof{Network: true, Asked: asked},
			"this file system does not count what it reads"},
		{"nothing", cold, Proof{}, "nothing was read"},
	} {
		says(t, c.name, Judge(c.cache, c.p), c.why)
	}
}

func TestForeignIO(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Proof
		want string
	}{
		{"alone", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: 1050}, ""},
		{"others read", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: 1051}, "the disk read 1.051 kB while"},
		{"warm, others read", Proof{Asked: 1000, FromDevice: 0, DeviceBytes: 51}, "other I/O on it"},
		{"warm, alone", Proof{Asked: 1000, FromDevice: 0, DeviceBytes: 50}, ""},
		{"readahead is our own", Proof{Asked: 1000, FromDevice: 1700, DeviceBytes: 1700}, ""},
		{"between them", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: 0}, "a cache between"},
		{"no device", Proof{Asked: 1000, FromDevice: 1000, DeviceBytes: UnknownBytes}, ""},
		{"no process", Proof{Asked: 1000, FromDevice: UnknownBytes, DeviceBytes: 1 << 30}, ""},
	} {
		says(t, c.name, strings.Join(c.p.Warnings(), "\n"), c.want)
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
		{"beyond the end", 5000, []Span{{4096, 1 << 40}}, []Span{{4096, 4096}}},
		{"empty", 5000, []Span{{0, 0}, {0, -1}, {5000000, 1}}, []Span{}},
	} {
		if have := (File{Spans: c.spans}).pages(c.size, page); !slices.Equal(have, c.want) {
			t.Errorf("%s: %v, want %v", c.name, have, c.want)
		}
	}
}

// plant writes a file of a fixture.
func plant(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
}

func TestReadByProcess(t *testing.T) {
	for text, want := range map[string]int64{
		"rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 0\n": 4096,
		"rchar: 1\nread_bytes: -4096\n": UnknownBytes,
		"rchar: 1\n":                    UnknownBytes,
		"\nread_bytes\x00:::\n":         UnknownBytes,
		"":                              UnknownBytes,
	} {
		root := t.TempDir()
		plant(t, root, "proc/self/io", text)
		if have := readByProcess(root); have != want {
			t.Errorf("%q: %d, want %d", text, have, want)
		}
	}
	if have := readByProcess(t.TempDir()); have != UnknownBytes {
		t.Errorf("read %d where there is nothing", have)
	}
}

// A watch over counters of a fixture counts what they grew by.
func TestWatchReads(t *testing.T) {
	root := t.TempDir()
	plant(t, root, "proc/self/io", "rchar: 1\nsyscr: 1\nread_bytes: 1000\n")
	plant(t, root, "sys/block/sda/stat", "10 0 100 5 0 0 0 0 0 5 5\n")
	plant(t, root, "sys/class/block/sda/size", "1000\n")
	w := WatchReads(root, []string{"sda"})
	plant(t, root, "proc/self/io", "rchar: 1\nsyscr: 1\nread_bytes: 5096\n")
	plant(t, root, "sys/block/sda/stat", "11 0 108 6 0 0 0 0 0 6 6\n")
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

// Reads past the page cache are proven by what this process got from devices, unless that
// is more than its own.
func TestJudgeDirect(t *testing.T) {
	for _, c := range []struct {
		asked, device int64
		why           string // part of it; "" for proven
	}{
		{1000, 1000, ""}, {1000, 1100, ""}, {1000, 600, "only 60 %"}, {1000, 0, "only 0 %"},
		{1000, 1600, "other data"}, {1000, UnknownBytes, "cannot be read"}, {0, 500, "nothing was read"},
	} {
		why := JudgeDirect(Proof{Unverified: "not looked at", Asked: c.asked, FromDevice: c.device})
		says(t, fmt.Sprint(c), why, c.why)
	}
}
