package pagecache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// randomFile writes a file that no file system can make smaller.
func randomFile(t testing.TB, path string, size int) File {
	t.Helper()
	b := make([]byte, size)
	var seed [32]byte
	rand.NewChaCha8(seed).Read(b)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return File{Path: path}
}

func residency(t testing.TB, files ...File) float64 {
	t.Helper()
	share, _, err := Residency(t.Context(), files)
	if errors.Is(err, ErrUnverifiable) {
		t.Skipf("the file system of %s: %v", t.TempDir(), err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return share
}

// evictable skips where evicting has no effect, as on tmpfs: not even on a file
// that is clean.
func evictable(t testing.TB, dir string) {
	t.Helper()
	probe := randomFile(t, filepath.Join(dir, "probe"), 1<<20)
	f, err := os.Open(probe.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := Evict(t.Context(), []File{probe}); err != nil {
		t.Fatal(err)
	}
	if share := residency(t, probe); share > 0.5 {
		t.Skipf("the file system keeps %s of an evicted file: it cannot show it cold", cachePercent(share))
	}
}

func evict(t testing.TB, files ...File) {
	t.Helper()
	if err := Evict(t.Context(), files); err != nil {
		t.Fatal(err)
	}
}

func TestEvictAndWarm(t *testing.T) {
	dir := t.TempDir()
	evictable(t, dir)
	var files []File
	want := int64(0)
	for i, size := range []int{0, 1, 4096, 97_001, 3 << 20} {
		files = append(files, randomFile(t, filepath.Join(dir, fmt.Sprint(i)), size))
		want += int64(size)
	}
	if share := residency(t, files...); share != 1 {
		t.Errorf("%v of what was just written is cached", share)
	}
	evict(t, files...) // they are dirty
	if share := residency(t, files...); share != 0 {
		t.Errorf("%v is left after evicting", share)
	}
	before, ok := readProcessIO("/")
	n, err := Load(t.Context(), files)
	if err != nil || n != want {
		t.Errorf("read %d of %d bytes: %v", n, want, err)
	}
	if share := residency(t, files...); share != 1 {
		t.Errorf("%v is cached after reading", share)
	}
	if after, _ := readProcessIO("/"); ok && after.ReadBytes-before.ReadBytes < want*99/100 {
		t.Logf("the process read %d of %d bytes from a device: this file system does not count", after.ReadBytes-before.ReadBytes, want)
	}
}

func TestSpansAreEvictedAndWarmed(t *testing.T) {
	dir := t.TempDir()
	evictable(t, dir)
	f := randomFile(t, filepath.Join(dir, "big"), 8<<20)
	evict(t, f)
	spans := File{Path: f.Path, Spans: []Span{{607_500, 607_500}, {7 << 20, 2 << 20}}}
	warm := func(f File) {
		if _, err := Load(t.Context(), []File{f}); err != nil {
			t.Fatal(err)
		}
		if share := residency(t, f); share != 1 {
			t.Errorf("%v of %v is cached after reading", share, f.Spans)
		}
	}
	warm(spans)
	evict(t, spans)
	if share := residency(t, spans); share != 0 {
		t.Errorf("%v of the spans is left after evicting", share)
	}
	warm(f) // in order: the kernel takes folios of many pages
	few := File{Path: f.Path, Spans: []Span{{1_000_000, 1}, {5_000_000, 1}}}
	evict(t, few)
	if share := residency(t, few); share != 0 {
		t.Errorf("%v of two pages is left after evicting them", share)
	}
}

func TestCacheErrors(t *testing.T) {
	dir := t.TempDir()
	none := filesAt(filepath.Join(dir, "none"))
	folder := filesAt(dir)
	for name, f := range map[string]func([]File) error{
		"evict":    func(files []File) error { return Evict(t.Context(), files) },
		"warm":     func(files []File) error { _, err := Load(t.Context(), files); return err },
		"look":     func(files []File) error { _, _, err := Residency(t.Context(), files); return err },
		"allocate": func(files []File) error { _, err := AllocationOf(t.Context(), files); return err },
	} {
		if err := f(none); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		if err := f(folder); err == nil || errors.Is(err, ErrUnverifiable) {
			t.Errorf("%s a folder: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Evict(ctx, none); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := Residency(t.Context(), nil); !errors.Is(err, ErrUnverifiable) {
		t.Errorf("no files: %v", err)
	}
}

func TestDropCaches(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drop_caches")
	if err := dropCaches(file); !errors.Is(err, ErrNotSupported) {
		t.Errorf("no file: %v", err)
	}
	os.WriteFile(file, nil, 0o600)
	if err := dropCaches(file); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(file); string(b) != "3\n" {
		t.Errorf("wrote %q", b)
	}
	os.Chmod(file, 0o400)
	if err := dropCaches(file); os.Geteuid() != 0 && !errors.Is(err, errCacheNeedsRoot) { // root may write everywhere
		t.Errorf("not allowed: %v", err)
	}
}

// What the two methods say together.
func TestCacheCountShare(t *testing.T) {
	failed := unix.ENOSYS
	for _, c := range []struct {
		name   string
		count  cacheCount
		share  float64
		method string // "" for unverifiable
	}{
		{"agree, cold", cacheCount{all: 1000}, 0, "cachestat, mincore"},
		{"agree, warm", cacheCount{all: 1000, seen: 1000, mapped: 1000}, 1, "cachestat, mincore"},
		{"nearly cold", cacheCount{all: 1000, seen: 0, mapped: 10}, 0.01, "cachestat, mincore"},
		{"nearly warm", cacheCount{all: 1000, seen: 1000, mapped: 995}, 0.995, "cachestat, mincore"},
		{"overlayfs, cached", cacheCount{all: 1000, mapped: 1000, overlay: true}, 0, ""},
		{"overlayfs, cold", cacheCount{all: 1000, overlay: true}, 0, "cachestat, mincore"},
		{"others' files", cacheCount{all: 1000, mapped: 1000, foreign: true}, 0, ""},
		{"disagree", cacheCount{all: 1000, seen: 500, mapped: 400}, 0, ""},
		{"old kernel", cacheCount{all: 1000, mapped: 500, noSeen: failed}, 0.5, "mincore"},
		{"old kernel, others' files", cacheCount{all: 1000, mapped: 1000, noSeen: failed, foreign: true}, 0, ""},
		{"cannot be mapped", cacheCount{all: 1000, seen: 500, noMapped: failed}, 0.5, "cachestat"},
		{"cannot be mapped, overlayfs", cacheCount{all: 1000, noMapped: failed, overlay: true}, 0, ""},
		{"neither", cacheCount{all: 1000, noSeen: failed, noMapped: failed}, 0, ""},
		{"nothing", cacheCount{}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			share, method, err := c.count.share()
			if c.method == "" {
				if !errors.Is(err, ErrUnverifiable) || !math.IsNaN(share) {
					t.Errorf("%v %v", share, err)
				}
				return
			}
			if err != nil || share != c.share || method != c.method {
				t.Errorf("%v by %s, %v", share, method, err)
			}
		})
	}
}

func TestFileAllocation(t *testing.T) {
	dir := t.TempDir()
	full := randomFile(t, filepath.Join(dir, "full"), 1<<20)
	have, err := AllocationOf(t.Context(), []File{full, randomFile(t, filepath.Join(dir, "empty"), 0)})
	if err != nil {
		t.Fatal(err)
	}
	if have.Written > 1 || have.Written < 0.9 && have.Method == "fiemap" { // blocks may be counted late
		t.Errorf("written: %+v", have)
	}

	holes := filepath.Join(dir, "holes")
	randomFile(t, holes, 1<<20)
	if err := os.Truncate(holes, 4<<20); err != nil {
		t.Fatal(err)
	}
	if have, err := AllocationOf(t.Context(), filesAt(holes)); err != nil || have.Written > 0.3 {
		t.Errorf("three quarters are a hole: %+v, %v", have, err)
	}

	// 300 extents, more than one answer holds.
	comb := filepath.Join(dir, "comb")
	f, err := os.Create(comb)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := bytes.Repeat([]byte{1}, 64<<10)
	for i := range int64(300) {
		if _, err := f.WriteAt(block, i*128<<10); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(300 * 128 << 10); err != nil {
		t.Fatal(err)
	}
	if have, err := AllocationOf(t.Context(), filesAt(comb)); err != nil || have.Method == "fiemap" && have.Compressed == 0 && math.Abs(have.Written-0.5) > 0.02 {
		t.Errorf("every second block is a hole: %+v, %v", have, err)
	}

	if have.Method != "fiemap" {
		t.Skipf("only %s here: unwritten extents cannot be told", have.Method)
	}
	unwritten := filepath.Join(dir, "unwritten")
	g, err := os.Create(unwritten)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := unix.Fallocate(int(g.Fd()), 0, 0, 1<<20); err != nil {
		t.Skipf("fallocate: %v", err)
	}
	if have, err := AllocationOf(t.Context(), filesAt(unwritten)); err != nil || have.Written != 0 {
		t.Errorf("allocated and never written: %+v, %v", have, err)
	}
}

func BenchmarkCacheResidency(b *testing.B) {
	dir := b.TempDir()
	for _, c := range []struct {
		name        string
		files, size int
	}{{"3000x97kB", 3000, 97_000}, {"20x18.5MiB", 20, 19_440_000}} {
		files := make([]File, c.files)
		for i := range files {
			files[i] = randomFile(b, filepath.Join(dir, fmt.Sprint(c.name, i)), c.size)
		}
		b.Run("look/"+c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Residency(b.Context(), files); err != nil {
					b.Skip(err)
				}
			}
		})
		b.Run("evict/"+c.name, func(b *testing.B) {
			for b.Loop() {
				if err := Evict(b.Context(), files); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// filesAt are whole files.
func filesAt(paths ...string) []File {
	files := make([]File, len(paths))
	for i, p := range paths {
		files[i].Path = p
	}
	return files
}
