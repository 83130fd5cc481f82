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
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// randomFile writes a file that no file system can make smaller.
func randomFile(t testing.TB, path string, size int) File {
	t.Helper()
	b := make([]byte, size)
	var seed [32]byte
	rand.NewChaCha8(seed).Read(b)
	must(t, os.WriteFile(path, b, 0o644))
	return File{Path: path}
}

func residency(t testing.TB, files ...File) float64 {
	t.Helper()
	share, err := Residency(t.Context(), files)
	if errors.Is(err, ErrUnverifiable) {
		t.Skipf("the file system of %s: %v", t.TempDir(), err)
	}
	must(t, err)
	return share
}

// evictable skips where evicting has no effect, as on tmpfs.
func evictable(t testing.TB, dir string) {
	t.Helper()
	probe := randomFile(t, filepath.Join(dir, "probe"), 1<<20)
	evict(t, probe)
	if share := residency(t, probe); share > 0.5 {
		t.Skipf("the file system keeps %s of an evicted file: it cannot show it cold", percent(share))
	}
}

func evict(t testing.TB, files ...File) {
	t.Helper()
	must(t, Evict(t.Context(), files))
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
	before := readByProcess("/")
	n, err := Load(t.Context(), files)
	if err != nil || n != want {
		t.Errorf("read %d of %d bytes: %v", n, want, err)
	}
	if share := residency(t, files...); share != 1 {
		t.Errorf("%v is cached after reading", share)
	}
	if after := readByProcess("/"); before >= 0 && after-before < want*99/100 {
		t.Logf("the process read %d of %d bytes from a device: this file system does not count", after-before, want)
	}
}

func TestSpans(t *testing.T) {
	dir := t.TempDir()
	evictable(t, dir)
	whole := randomFile(t, filepath.Join(dir, "big"), 8<<20)
	evict(t, whole)
	spans := File{Path: whole.Path, Spans: []Span{{607_500, 607_500}, {7 << 20, 2 << 20}}}
	if n, err := Load(t.Context(), []File{spans}); err != nil || n >= 8<<20 {
		t.Errorf("read %d bytes: %v", n, err)
	}
	if share := residency(t, spans); share != 1 {
		t.Errorf("%v of the spans is cached after reading", share)
	}
	evict(t, File{Path: whole.Path, Spans: []Span{{1_000_000, 1}}})
	if share := residency(t, whole); share != 0 {
		t.Errorf("%v of the file is left after evicting", share)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	none, folder := []File{{Path: filepath.Join(dir, "none")}}, []File{{Path: dir}}
	for name, f := range map[string]func([]File) error{
		"evict":    func(files []File) error { return Evict(t.Context(), files) },
		"warm":     func(files []File) error { _, err := Load(t.Context(), files); return err },
		"look":     func(files []File) error { _, err := Residency(t.Context(), files); return err },
		"allocate": func(files []File) error { _, err := onDisk(t.Context(), files); return err },
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
	if _, err := Residency(t.Context(), nil); !errors.Is(err, ErrUnverifiable) {
		t.Errorf("no files: %v", err)
	}
}

func TestDropCaches(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drop_caches")
	os.WriteFile(file, nil, 0o600)
	must(t, dropCaches(file))
	if b, _ := os.ReadFile(file); string(b) != "3\n" {
		t.Errorf("wrote %q", b)
	}
	os.Chmod(file, 0o400)
	if err := dropCaches(file); os.Geteuid() != 0 && !errors.Is(err, os.ErrPermission) { // root may write everywhere
		t.Errorf("not allowed: %v", err)
	}
	if err := dropCaches(t.TempDir()); err == nil || strings.Contains(err.Error(), "root") {
		t.Errorf("a folder: %v", err)
	}
}

// What the two methods say together.
func TestShare(t *testing.T) {
	failed := unix.ENOSYS
	unverifiable := math.NaN()
	for name, c := range map[string]struct {
		count count
		want  float64
	}{
		"agree, cold":                 {count{all: 1000}, 0},
		"agree, warm":                 {count{all: 1000, seen: 1000, mapped: 1000}, 1},
		"nearly cold":                 {count{all: 1000, seen: 0, mapped: 10}, 0.01},
		"nearly warm":                 {count{all: 1000, seen: 1000, mapped: 995}, 0.995},
		"overlayfs, cached":           {count{all: 1000, mapped: 1000, overlay: true}, unverifiable},
		"overlayfs, cold":             {count{all: 1000, overlay: true}, 0},
		"others' files":               {count{all: 1000, mapped: 1000, foreign: true}, unverifiable},
		"disagree":                    {count{all: 1000, seen: 500, mapped: 400}, unverifiable},
		"old kernel":                  {count{all: 1000, mapped: 500, noSeen: failed}, 0.5},
		"old kernel, others' files":   {count{all: 1000, mapped: 1000, noSeen: failed, foreign: true}, unverifiable},
		"cannot be mapped":            {count{all: 1000, seen: 500, noMapped: failed}, 0.5},
		"cannot be mapped, overlayfs": {count{all: 1000, noMapped: failed, overlay: true}, unverifiable},
		"neither":                     {count{all: 1000, noSeen: failed, noMapped: failed}, unverifiable},
		"nothing":                     {count{}, unverifiable},
	} {
		share, err := c.count.share()
		if math.IsNaN(c.want) {
			if !errors.Is(err, ErrUnverifiable) || !math.IsNaN(share) {
				t.Errorf("%s: %v %v", name, share, err)
			}
			for why, applies := range map[string]bool{"overlayfs": c.count.overlay, "others own": c.count.foreign} {
				if strings.Contains(err.Error(), why) != applies {
					t.Errorf("%s: %v; %s: %v", name, err, why, applies)
				}
			}
		} else if err != nil || share != c.want {
			t.Errorf("%s: %v, want %v, %v", name, share, c.want, err)
		}
	}
}

func TestOnDisk(t *testing.T) {
	dir := t.TempDir()
	block := make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{}).Read(block)
	for name, c := range map[string]struct {
		make        func(f *os.File) error
		least, most float64
		blocks      bool // tell it too
	}{
		"empty": {func(*os.File) error { return nil }, 1, 1, true},
		"written": {func(f *os.File) error {
			_, err := f.Write(block)
			return err
		}, 0.9, 1, false}, // blocks may be counted late
		"three quarters are a hole": {func(f *os.File) error {
			_, err := f.Write(bytes.Repeat(block, 16))
			return errors.Join(err, f.Truncate(4<<20))
		}, 0, 0.3, true},
		"every second block is a hole": {func(f *os.File) (err error) { // more extents than one answer holds
			for i := range int64(300) {
				_, werr := f.WriteAt(block, i*128<<10)
				err = errors.Join(err, werr)
			}
			return errors.Join(err, f.Truncate(300*128<<10))
		}, 0.48, 0.52, false},
		"allocated and never written": {func(f *os.File) error {
			return unix.Fallocate(int(f.Fd()), 0, 0, 1<<20)
		}, 0, 0, false},
	} {
		f, err := os.Create(filepath.Join(dir, name))
		must(t, err)
		defer f.Close()
		if err := c.make(f); errors.Is(err, unix.EOPNOTSUPP) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		files := []File{{Path: f.Name()}}
		have, err := onDisk(t.Context(), files)
		_, noMap := new(fiemap).read(int(f.Fd()), 1)
		if err != nil || (noMap == nil || c.blocks) && (have < c.least || have > c.most) {
			t.Errorf("%s: %v, %v", name, have, err)
		}
		if warned := len(Sparse(t.Context(), files)) > 0; warned != (have < fromDisk) {
			t.Errorf("%s: of %v on the disk it warns: %t", name, have, warned)
		}
	}
}

func BenchmarkResidency(b *testing.B) {
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
				if _, err := Residency(b.Context(), files); err != nil {
					b.Skip(err)
				}
			}
		})
		b.Run("evict/"+c.name, func(b *testing.B) {
			for b.Loop() {
				must(b, Evict(b.Context(), files))
			}
		})
	}
}
