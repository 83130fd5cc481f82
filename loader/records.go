package loader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"dlbench/bench/hostmem"
	"dlbench/bench/theory"
)

// BlockSize is what records are aligned to, as buffers are.
const BlockSize = hostmem.Block

// Record is the shape of the samples of a raw or tensor store: one image for raw, the batch for tensor.
type Record struct {
	theory.Batch
	Layout string `json:"layout"` // nhwc, nchw
}

func RecordOf(store string, b theory.Batch, layout string) Record {
	if store != Tensor {
		b.Images = 1
	}
	return Record{b, layout}
}

// Stride is the bytes from one record to the next: the record padded to BlockSize.
func (r Record) Stride() int64 { return roundUp(r.Bytes(), BlockSize) }

func (r Record) Check() error {
	if err := r.Batch.Check(); err != nil {
		return err
	}
	if r.Layout != "nhwc" && r.Layout != "nchw" {
		return fmt.Errorf("unknown layout %q: want nhwc or nchw", r.Layout)
	}
	if n := r.Bytes(); n > MostSample {
		return fmt.Errorf("a record of %d bytes is more than the 1 GiB that a sample may have", n)
	}
	return nil
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// recordMagic begins a file of records: a header of BlockSize bytes, then Stride bytes a
// record, then an int32 in little endian for each image as its label.
const recordMagic = "DLBENCH-RECORDS 1\n"

// recordHeader is the JSON behind the magic line; zeros fill the block.
type recordHeader struct {
	Kind  string `json:"kind"` // raw or tensor
	Count int64  `json:"count"`
	Record
	Step int64 `json:"stride"` // Stride
}

func (h recordHeader) check() error {
	if h.Kind != Raw && h.Kind != Tensor {
		return fmt.Errorf("unknown kind %q", h.Kind)
	}
	if h.Kind == Raw && h.Images != 1 {
		return fmt.Errorf("a raw record of %d images", h.Images)
	}
	if h.Count < 0 || h.Count > math.MaxInt32 {
		return fmt.Errorf("count %d", h.Count)
	}
	if h.Step != h.Stride() {
		return fmt.Errorf("stride %d: want %d", h.Step, h.Stride())
	}
	return h.Check()
}

func (h recordHeader) encode() []byte {
	h.Step = h.Stride()
	text, _ := json.Marshal(h) // which cannot fail, and is short
	block := make([]byte, BlockSize)
	copy(block[copy(block, recordMagic):], text)
	return block
}

func parseRecordHeader(block []byte) (h recordHeader, err error) {
	text, ok := bytes.CutPrefix(block, []byte(recordMagic))
	if !ok {
		return h, errors.New("not a file of records")
	}
	if err = json.Unmarshal(bytes.TrimRight(text, "\x00"), &h); err == nil {
		err = h.check()
	}
	if err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	return h, nil
}

// layout is how much of a file of records there is: whole records, and labels of the
// first images.
func (h recordHeader) layout(size int64) (records, labels int64) {
	if size < BlockSize {
		return 0, 0
	}
	body := size - BlockSize
	records = body / h.Stride()
	if body%h.Stride() >= h.Bytes() {
		records++ // only its padding is missing
	}
	if records < h.Count {
		return records, 0
	}
	return h.Count, min((body-min(body, h.Count*h.Stride()))/4, h.Count*int64(h.Images))
}

func isRecords(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".raw" || ext == ".tensor"
}

// openRecords reads the files of records of a kind, if there are any among names. Those whose
// shape is not that of the first are skipped, and what else has such a name: .raw is what cameras
// write, too.
func (s *Set) openRecords(kind string, names []string) bool {
	s.Store, s.Skipped = kind, nil
	for _, name := range names {
		if !isRecords(name) {
			continue
		}
		if err := s.openRecord(name); err != nil {
			s.Skipped = append(s.Skipped, lost(name, err))
		}
	}
	return s.Record != nil || s.limits() != nil
}

func (s *Set) openRecord(name string) error {
	f, size, err := openRegular(filepath.Join(s.Root, name))
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, BlockSize)
	n, err := f.ReadAt(block, 0)
	if err != nil && err != io.EOF {
		return err
	}
	h, err := parseRecordHeader(block[:n])
	if err != nil {
		return err
	}
	if h.Kind != s.Store {
		return fmt.Errorf("holds %s records", h.Kind)
	}
	if s.Record != nil && *s.Record != h.Record {
		return fmt.Errorf("%s is not the shape of the files before it", h.Batch)
	}
	s.Record = &h.Record
	records, labelled := h.layout(size)
	if records < h.Count {
		why := fmt.Sprintf("truncated: %d of %d records are missing", h.Count-records, h.Count)
		s.Skipped = append(s.Skipped, Fault{Path: name, Offset: BlockSize + records*h.Stride(), Reason: why, Lost: true})
	}
	if records == 0 {
		return errors.New("no records")
	}
	labels := slices.Repeat([]int32{-1}, int(records)*h.Images)
	behind := io.NewSectionReader(f, BlockSize+h.Count*h.Stride(), 4*labelled)
	if err := binary.Read(behind, binary.LittleEndian, labels[:labelled]); err != nil {
		return fmt.Errorf("labels: %w", err)
	}
	for i := range records {
		sample := Sample{File: int32(len(s.Files)), Label: -1, Off: BlockSize + i*h.Stride(), Len: h.Bytes()}
		if h.Kind == Raw {
			sample.Label = labels[i]
		}
		s.add(sample)
	}
	if h.Kind == Tensor {
		s.Labels = append(s.Labels, labels...)
	}
	s.Files = append(s.Files, File{Path: name, Size: size})
	return nil
}
