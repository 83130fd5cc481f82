package loader

import (
	"errors"
	"os"
	"path/filepath"
)

// openTar indexes WebDataset shards: members with one key, the name up to the first
// dot of its last part, are one sample; its image is the member with an image's
// extension, its label the number in .cls. Members of a key need not lie together.
func (s *Set) openTar(only string) error {
	names, err := matching(s.Root, only, isShard)
	if err != nil {
		return err
	}
	shards := make([]shard, len(names))
	inParallel(len(shards), scanners, func(i int) {
		shards[i].path = names[i]
		shards[i].index(filepath.Join(s.Root, names[i]))
	})
	for i := range shards {
		s.Skipped = append(s.Skipped, shards[i].skipped...)
		if len(shards[i].samples) == 0 {
			continue
		}
		file := int32(len(s.Files))
		s.Files = append(s.Files, File{names[i], shards[i].size})
		for _, sample := range shards[i].samples {
			sample.File = file
			s.Samples = append(s.Samples, sample)
		}
	}
	return nil
}

func (s *shard) index(full string) {
	f, size, err := openRegular(full)
	if err != nil {
		s.skip(0, "%s", reason(err))
		return
	}
	defer f.Close()
	adviseRandom(f)
	s.scan(f, size)
	if len(s.samples) == 0 && len(s.skipped) == 0 {
		s.skip(0, "shard without images")
	}
}

// openRegular opens a file for reading unless it is something on which that could
// block, and returns its size.
func openRegular(full string) (*os.File, int64, error) {
	info, err := os.Stat(full)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("not a regular file")
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
