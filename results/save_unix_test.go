//go:build unix

package results

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// A rename over /dev/null would take it from all programs of the machine.
func TestSaveAsLeavesWhatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	r, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that no end waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := make([]byte, 4)
	if err := SaveAs(pipe, writing("page")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "page" {
		t.Errorf("the pipe got %q, %v", got, err)
	}
	if st, err := os.Lstat(pipe); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v, %v", st.Mode(), err)
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
