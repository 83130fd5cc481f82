package loader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// openRecords reads the files of records of a directory. Those whose shape is not
// that of the first are skipped.
func (s *Set) openRecords(only string) error {
	names, err := matching(s.Root, only, isRecords)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.openRecord(name); err != nil {
			s.skip(name, 0, "%s", reason(err))
		}
	}
	if s.Store == Tensor && len(s.Labels) != len(s.Samples)*s.images() {
		s.Labels = nil
	}
	return nil
}

func (s *Set) images() int {
	if s.Record == nil {
		return 1
	}
	return s.Record.Images
}

func (s *Set) openRecord(name string) error {
	f, size, err := openRegular(filepath.Join(s.Root, name))
	if err != nil {
		return err
	}
	defer f.Close()
	h, err := readRecordHeader(f)
	if err != nil {
		return err
	}
	if h.Kind != s.Store {
		return fmt.Errorf("holds %s records", h.Kind)
	}
	record := h.record()
	if s.Record != nil && *s.Record != record {
		return fmt.Errorf("%s, stride %d, is not the shape of the files before it", record.batch(), record.Stride)
	}
	records, n := h.layout(size)
	if records < h.Count {
		s.skip(name, BlockSize+records*h.Stride, "truncated: %d of %d records are missing", h.Count-records, h.Count)
	}
	if records == 0 {
		return errors.New("no records")
	}
	labels := make([]int32, records*int64(h.Images))
	if err := readLabels(f, labels, BlockSize+h.Count*h.Stride, int(n)); err != nil {
		return err
	}
	s.Record = &record
	file := int32(len(s.Files))
	s.Files = append(s.Files, File{name, size})
	for i := range records {
		sample := Sample{File: file, Label: -1, Off: BlockSize + i*h.Stride, Len: record.Bytes()}
		if h.Kind == Raw {
			sample.Label = labels[i]
		}
		s.Samples = append(s.Samples, sample)
	}
	if h.Kind == Tensor {
		s.Labels = append(s.Labels, labels...)
	}
	return nil
}

// readLabels reads the first n labels; the others are -1.
func readLabels(f *os.File, labels []int32, off int64, n int) error {
	n = min(n, len(labels))
	text := make([]byte, 4*n)
	if _, err := f.ReadAt(text, off); err != nil && n > 0 {
		return fmt.Errorf("labels at %d: %w", off, err)
	}
	for i := range labels {
		labels[i] = -1
		if i < n {
			labels[i] = int32(binary.LittleEndian.Uint32(text[4*i:]))
		}
	}
	return nil
}

func isRecords(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".raw" || ext == ".tensor"
}

// recordKind is the store that a file belongs to, "" if it is no file of records:
// .raw is what cameras write, too.
func recordKind(full string) string {
	f, _, err := openRegular(full)
	if err != nil {
		return ""
	}
	defer f.Close()
	h, err := readRecordHeader(f)
	if err != nil {
		return ""
	}
	return h.Kind
}
