package results

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	for _, label := range []string{"first", "second"} {
		r := sampleReport()
		r.Label = label
		if err := Save(path, r); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		if err != nil || got.Label != label {
			t.Fatalf("after saving %s: %v, %v", label, got, err)
		}
	}
	onlyFile(t, path)
	if runtime.GOOS != "windows" {
		plain := path + ".plain"
		f, err := os.OpenFile(plain, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got, want := mode(t, path), mode(t, plain); got != want {
			t.Errorf("permissions are %v, want %v as the umask says", got, want)
		}
	}
}

func TestSaveFailures(t *testing.T) {
	full := errors.New("no space left on device")
	tests := []struct {
		name  string
		path  func(dir string) string
		write func(io.Writer) error
		is    error
	}{
		{"write error", func(dir string) string { return filepath.Join(dir, "report.json") }, func(w io.Writer) error {
			io.WriteString(w, `{"schema_version":1,`)
			return full
		}, full},
		{"no such directory", func(dir string) string { return filepath.Join(dir, "none", "report.json") }, nil, os.ErrNotExist},
		{"a directory", func(dir string) string { return dir }, nil, nil},
		{"a file for a directory", func(dir string) string { return filepath.Join(dir, "report.json", "x") }, nil, nil},
		{"no name", func(string) string { return "" }, nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			old := filepath.Join(dir, "report.json")
			if err := Save(old, sampleReport()); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(old)
			if err != nil {
				t.Fatal(err)
			}
			path := test.path(dir)
			if test.write == nil {
				test.write = func(w io.Writer) error { return Write(w, sampleReport()) }
			}
			err = SaveAs(path, test.write)
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Count(err.Error(), path) != 1 && path != "" {
				t.Errorf("error does not name %s once: %v", path, err)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is no %v", err, test.is)
			}
			after, err := os.ReadFile(old)
			if err != nil || string(after) != string(before) {
				t.Errorf("the old report is gone: %v", err)
			}
			onlyFile(t, old)
		})
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode().Perm()
}

// onlyFile fails unless path is the only file in its directory.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != filepath.Base(path) {
			t.Errorf("%s was left behind", f.Name())
		}
	}
}
