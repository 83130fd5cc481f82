package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Save writes r to the file at path, whole or not at all: see SaveAs.
func Save(path string, r *Report) error {
	return SaveAs(path, func(w io.Writer) error { return Write(w, r) })
}

// SaveAs puts what write writes into the file at path. It goes to a temporary
// file beside it, to the disk, and is then renamed, so that a crash or an error
// leaves the old file as it was, and no temporary file after an error. Where path is
// a link, the file that it leads to is replaced; a device or a pipe is written to.
// The error names path.
func SaveAs(path string, write func(io.Writer) error) error {
	if err := saveAs(path, write); err != nil {
		return fmt.Errorf("save %s: %w", path, withoutPath(err))
	}
	return nil
}

func saveAs(path string, write func(io.Writer) error) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return writeInto(path, write)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	// Unlike os.CreateTemp this leaves the permissions to the umask: others may read a report.
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x.tmp", filepath.Base(path), rand.Uint32()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = cmp.Or(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
		return err
	}
	// The rename lasts through a power failure, where the system can do that.
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}

// writeInto writes to what is no regular file, as /dev/null, which a rename would
// replace for all programs of the machine.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
