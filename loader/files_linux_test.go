package loader

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
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
		if err := os.Chmod(full, mode); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(full, 0o755)
	}
	s := &Set{Store: Files, Root: dir}
	var err error
	unprivileged(t, func() { err = s.walk(1) })
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(s); !slices.Equal(got, []string{"a/1.jpg"}) {
		t.Errorf("samples %q", got)
	}
	for _, path := range []string{"a/secret.jpg", "a/locked", "z"} {
		if !hasSkipped(s, path, 0, "permission") {
			t.Errorf("%s was not skipped: %v", path, s.Skipped)
		}
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
		if _, err := Open(dir, OpenOptions{Store: kind}); !errors.Is(err, ErrNoSamples) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
