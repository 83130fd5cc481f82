package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(path)
	want, err2 := os.Stat(plain)
	if errors.Join(err, err2) != nil || got.Mode() != want.Mode() {
		t.Errorf("permissions are %v (%v, %v), want %v as the umask says", got.Mode(), err, err2, want.Mode())
	}
}

func TestSaveFailures(t *testing.T) {
	full := errors.New("no space left on device")
	whole := func(w io.Writer) error { return Write(w, sampleReport()) }
	part := func(w io.Writer) error {
		io.WriteString(w, `{"schema_version":1,`)
		return full
	}
	for _, test := range []struct {
		name, path string // below a directory that holds report.json
		write      func(io.Writer) error
		is         error
	}{
		{"write error", "/report.json", part, full},
		{"no such directory", "/none/report.json", whole, os.ErrNotExist},
		{"a directory", "/", whole, nil},
		{"a file for a directory", "/report.json/x", whole, nil},
		{"no name", "", whole, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := filepath.Join(t.TempDir(), "report.json")
			if err := Save(old, sampleReport()); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(old)
			path := test.path
			if path != "" {
				path = filepath.Dir(old) + filepath.FromSlash(path)
			}
			err := SaveAs(path, test.write)
			if err == nil || test.is != nil && !errors.Is(err, test.is) || path != "" &&
				strings.Count(err.Error(), path) != 1 {
				t.Errorf("error %v, want a %v that names %q once", err, test.is, path)
			}
			if after, err := os.ReadFile(old); err != nil || string(after) != string(before) {
				t.Errorf("the old report is gone: %v", err)
			}
			onlyFile(t, old)
		})
	}
}

// A rename over /dev/null would take it from all programs of the machine.
func TestSaveAsLeavesWhatIsNoFile(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pipe := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(pipe); err != nil {
		t.Skip(err)
	}
	if err := errors.Join(SaveAs(pipe, writing("page")), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "page" {
		t.Errorf("the pipe got %q, %v", got, err)
	}
}

func TestSaveAsFollowsLinks(t *testing.T) {
	target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := SaveAs(link, writing("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "new" {
		t.Errorf("the target holds %q, %v", got, err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v", st.Mode(), err)
	}
	onlyFile(t, target)
}

func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
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
