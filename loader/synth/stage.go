package synth

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
)

// ErrNotEmpty says that there is something where a set was to be made.
var ErrNotEmpty = errors.New("exists and is not empty: nothing is overwritten, name a new folder")

// FullError says that a set would not fit on its disk.
type FullError struct {
	Dir        string
	Need, Free int64 // bytes: with the reserve, and available without being root
}

func (e *FullError) Error() string {
	return fmt.Sprintf("%s: not enough room: about %s needed, %s available", e.Dir, humanize.Bytes(uint64(e.Need)), humanize.Bytes(uint64(e.Free)))
}

// stage is a folder beside the one that is to be made. What is in it becomes that
// folder at once, or vanishes.
type stage struct {
	dir, temp string
	made      []string // parents that were not there, innermost first
}

// staged is what stands between the name of a folder and random digits while it is
// made.
const staged = ".tmp-"

// newStage refuses a folder that holds something and a disk that has not got need
// bytes and 5 % more, and only then makes a folder.
func newStage(dir string, need int64, free func(string) (int64, bool)) (*stage, error) {
	dir, err := checkTarget(dir)
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(dir)
	s := &stage{dir: dir}
	at := parent
	for ; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			break
		}
		s.made = append(s.made, at)
	}
	need += need / 20
	if available, ok := free(at); ok && available < need {
		return nil, &FullError{dir, need, available}
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		s.discard()
		return nil, err
	}
	for try := 0; ; try++ {
		s.temp = fmt.Sprintf("%s%s%08x", dir, staged, rand.Uint32())
		err := os.Mkdir(s.temp, 0o755)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			s.temp = ""
			s.discard()
			return nil, err
		}
	}
}

// checkTarget returns dir without symbolic links in its last element, when it is
// not there or is an empty folder that a rename can replace.
func checkTarget(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no folder is named")
	}
	dir = filepath.Clean(dir)
	st, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		if dir, err = filepath.EvalSymlinks(dir); err == nil {
			st, err = os.Stat(dir)
		}
	}
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", fmt.Errorf("%s: is a file", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("%s: %w", dir, ErrNotEmpty)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if parent := filepath.Dir(abs); parent == abs || !sameDevice(abs, parent) {
		return "", fmt.Errorf("%s: is where a file system is mounted: name a folder inside it", dir)
	}
	return abs, nil
}

// commit puts the folder in its place.
func (s *stage) commit() error {
	if was, err := os.Stat(s.dir); err == nil { // empty, and somebody's: as it was
		if err := keep(s.temp, was); err != nil {
			return err
		}
	}
	if err := os.Remove(s.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // somebody put something there in the meantime
	}
	if err := os.Rename(s.temp, s.dir); err != nil {
		return err
	}
	s.temp, s.made = "", nil
	return nil
}

// discard removes what was not committed, and the parents that were made for it.
func (s *stage) discard() error {
	var err error
	if s.temp != "" {
		err = os.RemoveAll(s.temp)
	}
	for _, dir := range s.made {
		os.Remove(dir) // only while nobody else has put something in it
	}
	s.temp, s.made = "", nil
	return err
}
