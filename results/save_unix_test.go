//go:build unix

package results

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A rename over /dev/null would take it from all programs of the machine.
func TestSaveAsLeavesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "page")
		return err
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	r, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that no end waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := SaveAs(pipe, write); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "page" {
		t.Errorf("the pipe got %q, %v", got, err)
	}
	if st, err := os.Lstat(pipe); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v, %v", st.Mode(), err)
	}
}

func TestSaveAsFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	err := SaveAs(link, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	})
	if err != nil {
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
