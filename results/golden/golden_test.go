package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// failures notes whether a test would have failed.
type failures struct {
	testing.TB
	failed bool
}

func (f *failures) Errorf(string, ...any) { f.failed = true }

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.txt")
	if err := os.WriteFile(path, []byte("a\r\nb\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for got, differs := range map[string]bool{"a\nb\n": false, "a\nc\n": true, "a\n": true, "a\nb\nc\n": true, "": true} {
		f := &failures{TB: t}
		Check(f, path, []byte(got))
		if f.failed != differs {
			t.Errorf("%q: differs %v, want %v", got, f.failed, differs)
		}
	}
}
