package loader

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dlbench/bench/pace"
)

// unprivileged runs do as a user who owns nothing, where the test runs as root. The
// kernel keeps credentials by thread.
func unprivileged(t *testing.T, do func()) {
	if os.Geteuid() != 0 {
		do()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Skipf("cannot drop root: %v", err)
	}
	defer unix.Setfsuid(0)
	do()
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		os.Chmod(d, 0o755) // testing makes it for its own user alone
	}
	write(t, []byte("x"), dir, "a", "1.jpg")
	write(t, []byte("x"), dir, "a", "secret.jpg")
	write(t, []byte("x"), dir, "a", "locked", "2.jpg")
	write(t, []byte("x"), dir, "z", "3.jpg")
	for p, mode := range map[string]fs.FileMode{"a/secret.jpg": 0o200, "a/locked": 0, "z": 0} {
		full := filepath.Join(dir, p)
		must(t, os.Chmod(full, mode))
		defer os.Chmod(full, 0o755)
	}
	s := &Set{Store: Files, Root: dir}
	var secret inspected
	unprivileged(t, func() {
		for _, name := range []string{"a", "z"} {
			for _, f := range (&folder{path: name}).below(dir) {
				s.addImages(f.images, 0)
				s.Skipped = append(s.Skipped, f.skipped...)
			}
		}
		secret = (&inspector{set: s}).inspect(1)
	})
	skippedAs(t, s, map[string]string{"a/locked": "permission", "z": "permission"})
	if got := paths(s); !slices.Equal(got, []string{"a/1.jpg", "a/secret.jpg"}) ||
		secret.err == nil || secret.err.Error() != "no permission to read it" {
		t.Errorf("images %q, the second %v", got, secret.err)
	}
}

func TestNamedPipe(t *testing.T) {
	dir := t.TempDir()
	write(t, []byte("x"), dir, "1.jpg")
	for _, name := range []string{"pipe.jpg", "pipe.tar", "pipe.raw"} {
		if err := unix.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
	}
	if s := open(t, dir, Files); len(s.Samples) != 1 || !hasSkipped(s, "pipe.jpg", 0, "not a regular file") {
		t.Errorf("%v, skipped %v", s.Samples, s.Skipped)
	}
	for _, kind := range []string{Tar, Raw} { // must not wait for a writer
		if _, err := Open(dir, kind); !errors.Is(err, ErrNoSamples) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestNoDirect(t *testing.T) {
	s := store(t, Files, 2, 100)
	if _, err := NewReader(s, ReadOptions{Direct: true, Disk: &pace.Disk{Rate: 1e9}}); err == nil {
		t.Error("an emulated disk with direct I/O")
	}
	// /proc has files without direct I/O wherever this runs.
	s = &Set{Store: Files, Root: "/proc/self", Files: []File{{Path: "status", Size: 100}}, Samples: []Sample{{Len: 100}}}
	_, err := NewReader(s, ReadOptions{Direct: true})
	if !errors.Is(err, ErrNoDirect) || !strings.Contains(err.Error(), "status") {
		t.Errorf("direct I/O from /proc: %v", err)
	}
}

func TestTooManyOpen(t *testing.T) {
	s := store(t, Tar, 6, 100)
	r := reader(t, s, ReadOptions{})
	var before unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	probe, err := os.Open(s.Root)
	must(t, err)
	lowest := uint64(probe.Fd())
	probe.Close()
	limit := func(n uint64) {
		must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: before.Max}))
	}
	defer limit(before.Cur)
	limit(lowest) // none more
	_, err = r.Read(count(6), nil)
	if !errors.Is(err, ErrTooManyOpen) || !strings.Contains(err.Error(), "ulimit -n") || !strings.Contains(err.Error(),
		"000000.tar") {
		t.Errorf("no file may be opened: %v", err)
	}
	// Nor is a set opened, or checked, whose files are then called bad.
	if _, err := Open(s.Root, ""); !errors.Is(err, unix.EMFILE) {
		t.Errorf("opening a set: %v", err)
	}
	missing := FeedOptions{Batches: 1, Missing: func(int, Place, error) bool { return true }}
	limit(lowest + 1) // for the folder
	f, err := NewFeed(t.Context(), s, s.Plan(Order{}, 1), missing)
	must(t, err)
	if _, err := f.Next(); !errors.Is(err, ErrTooManyOpen) {
		t.Errorf("a sample of a feed: %v", err)
	}
	f.Close()
	limit(lowest + 1) // one more: the reader makes do with it
	if _, err := r.Read(count(6), nil); err != nil {
		t.Errorf("one file may be opened: %v", err)
	}
}

// A file may want another alignment than the first one did.
func TestRealign(t *testing.T) {
	for _, kind := range Stores {
		s := store(t, kind, 6, 9000)
		r := reader(t, s, ReadOptions{Direct: true})
		align := r.align
		r.align = 1 // as if the first file could be read anywhere
		_, err := r.Read([]int32{5, 1, 2}, func(i int32, data []byte) error {
			if !bytes.Equal(data, content(int(i), int(s.Samples[i].Len))) {
				t.Errorf("%s: sample %d is wrong", kind, i)
			}
			return nil
		})
		if err != nil || r.align != align && r.align != 1 { // 1 where a file system reads buffered instead
			t.Errorf("%s: alignment %d, want %d: %v", kind, r.align, align, err)
		}
	}
}
