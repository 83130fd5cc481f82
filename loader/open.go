package loader

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OpenOptions says how a path is to be understood.
type OpenOptions struct {
	Store string // one of Stores; "" goes by what is there
}

// MostSample is the largest sample that a set may have, in bytes. Larger ones are
// skipped: a reader keeps a buffer of the largest.
const MostSample = 1 << 30

// Open finds the samples below path, a directory or a single file. Without a store
// in o, a directory with *.tar files is a tar store, one with record files (*.raw,
// *.tensor) a raw or tensor store, and any other a folder of images.
//
// What cannot be a sample is listed in Skipped, never an error. A set without
// samples is one: ErrNoSamples, with the set beside it. The order of files and samples depends on their
// names alone.
func Open(path string, o OpenOptions) (*Set, error) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	store := o.Store
	if store == "" {
		if store, err = detect(path, info); err != nil {
			return nil, err
		}
	}
	root, only := path, ""
	if !info.IsDir() {
		root, only = filepath.Split(path)
		root = filepath.Clean(root)
	}
	s := &Set{Store: store, Root: root}
	switch store {
	case Files:
		err = s.openFiles(only)
	case Tar:
		err = s.openTar(only)
	case Raw, Tensor:
		err = s.openRecords(only)
	default:
		return nil, fmt.Errorf("unknown store %q: want %s", store, strings.Join(Stores, ", "))
	}
	if err != nil {
		return nil, err
	}
	if err := s.sum(path); err != nil {
		return s, err
	}
	return s, nil
}

// sum sums up, and refuses a set without samples or with too many.
func (s *Set) sum(path string) error {
	if len(s.Samples) == 0 {
		err := fmt.Errorf("%s, as %s: %w", path, s.Store, ErrNoSamples)
		if len(s.Skipped) > 0 {
			first := s.Skipped[0]
			err = fmt.Errorf("%w; %d skipped, the first %s: %s", err, len(s.Skipped), first.Path, first.Reason)
		}
		return err
	}
	if len(s.Samples) > math.MaxInt32 {
		return fmt.Errorf("%s: %d samples are more than the 2^31 that a set may have", path, len(s.Samples))
	}
	for _, sample := range s.Samples {
		s.Bytes += sample.Len
	}
	return nil
}

// skip notes a sample that is lost.
func (s *Set) skip(path string, offset int64, format string, args ...any) {
	s.Skipped = append(s.Skipped, Skipped{path, offset, fmt.Sprintf(format, args...), true})
}

// pass notes what is no sample and was not meant to be one.
func (s *Set) pass(path, format string, args ...any) {
	s.Skipped = append(s.Skipped, Skipped{Path: path, Reason: fmt.Sprintf(format, args...)})
}

// detect tells the store of path by what is there.
func detect(path string, info os.FileInfo) (string, error) {
	if !info.IsDir() {
		if isShard(path) {
			return Tar, nil
		}
		if kind := recordKind(path); kind != "" {
			return kind, nil
		}
		return Files, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	kind, first := "", ""
	for {
		names, err := f.Readdirnames(4096)
		for _, name := range names {
			if hidden(name) {
				continue
			}
			if isShard(name) {
				return Tar, nil
			}
			// The first by name decides between raw and tensor.
			if isRecords(name) && (first == "" || name < first) {
				if k := recordKind(filepath.Join(path, name)); k != "" {
					kind, first = k, name
				}
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if kind != "" {
		return kind, nil
	}
	return Files, nil
}

func isShard(name string) bool { return strings.EqualFold(filepath.Ext(name), ".tar") }

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// matching returns the visible files of a directory that are wanted, in order; with
// only, that file alone.
func matching(root, only string, want func(name string) bool) ([]string, error) {
	if only != "" {
		return []string{only}, nil
	}
	f, err := os.Open(root)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return hidden(name) || !want(name) })
	slices.Sort(names)
	return names, nil
}
