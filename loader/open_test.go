package loader

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for _, kind := range Stores {
		s := store(t, kind, 8, 1000)
		if s.Store != kind || len(s.Samples) != 8 {
			t.Errorf("%s was opened as %s with %d samples", kind, s.Store, len(s.Samples))
		}
		var sum int64
		for _, sample := range s.Samples {
			sum += sample.Len
		}
		if s.Bytes != sum || sum < 8000 {
			t.Errorf("%s: %d bytes, the samples' are %d", kind, s.Bytes, sum)
		}
		// A single file of a store is one, too.
		one := open(t, filepath.Join(s.Root, filepath.FromSlash(s.Files[0].Path)), "")
		if one.Store != kind || one.Files[0].Path != filepath.Base(s.Files[0].Path) {
			t.Errorf("a file of %s was opened as %s: %v", kind, one.Store, one.Files)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, []byte("text"), dir, "notes.txt")
	write(t, []byte("a camera's"), dir, "photo.raw")
	_, err := Open(dir, OpenOptions{})
	if !errors.Is(err, ErrNoSamples) || !strings.Contains(err.Error(), "2 files that are not images") {
		t.Errorf("a folder without images: %v", err)
	}
	for _, kind := range Stores {
		if _, err := Open(dir, OpenOptions{Store: kind}); !errors.Is(err, ErrNoSamples) {
			t.Errorf("as %s: %v", kind, err)
		}
	}
	if _, err := Open(dir, OpenOptions{Store: "zip"}); err == nil || !strings.Contains(err.Error(), "files, tar, raw, tensor") {
		t.Errorf("an unknown store: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), OpenOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing path: %v", err)
	}
}
