package synth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
)

// stage is a hidden folder in the one that is to be filled. What is in it becomes what
// that folder holds, or vanishes.
type stage struct {
	dir, temp string
	made      []string // folders that were not there, dir or its parents, innermost first
}

const staged = ".tmp-"

// newStage refuses a folder that holds something and a disk that has not got need
// bytes and 5 % more, and only then makes a folder.
func newStage(dir string, need int64, free func(string) (int64, bool)) (*stage, error) {
	if dir == "" {
		return nil, errors.New("no folder is named")
	}
	s := &stage{dir: filepath.Clean(dir)}
	at := s.dir
	st, err := os.Stat(at)
	for ; errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at; st, err = os.Stat(at) {
		s.made = append(s.made, at)
		at = filepath.Dir(at)
	}
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s: is a file", at)
	}
	if err := s.empty(); err != nil {
		return nil, err
	}
	need += need / 20
	if available, ok := free(at); ok && available < need {
		return nil, fmt.Errorf("%s: not enough room: about %s needed, %s available",
			dir, humanize.Bytes(uint64(need)), humanize.Bytes(uint64(available)))
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	if s.temp, err = os.MkdirTemp(s.dir, staged); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	return s, nil
}

// empty says whether the folder holds nothing, but for what is being made or was left
// by a process that was killed.
func (s *stage) empty() error {
	entries, _ := os.ReadDir(s.dir) // which need not be there
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), staged) {
			return fmt.Errorf("%s: exists and is not empty: nothing is overwritten, name a new folder", s.dir)
		}
	}
	return nil
}

// commit puts what was made in its place, all of it or nothing.
func (s *stage) commit() error {
	if err := s.empty(); err != nil {
		return err // somebody put something there in the meantime
	}
	entries, err := os.ReadDir(s.temp)
	for i := 0; err == nil && i < len(entries); i++ {
		name := entries[i].Name()
		if err = os.Rename(filepath.Join(s.temp, name), filepath.Join(s.dir, name)); err != nil {
			for _, e := range entries[:i] {
				os.RemoveAll(filepath.Join(s.dir, e.Name()))
			}
		}
	}
	if err == nil {
		s.made = nil
	}
	return err
}

func (s *stage) discard() error {
	var err error
	if s.temp != "" {
		err = os.RemoveAll(s.temp)
	}
	for _, dir := range s.made {
		os.Remove(dir) // only while nobody else has put something in it
	}
	return err
}
