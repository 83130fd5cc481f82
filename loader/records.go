package loader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"dlbench/bench/hostmem"
	"dlbench/bench/theory"
)

// BlockSize is what records are aligned to, as buffers are.
const BlockSize = hostmem.Block

// Record is the shape of the samples of a raw or tensor store.
type Record struct {
	Images   int    `json:"images"` // in a record: 1 for raw, the batch for tensor
	Height   int    `json:"height"`
	Width    int    `json:"width"`
	Channels int    `json:"channels"`
	DType    string `json:"dtype"`  // float32, float16, uint8
	Layout   string `json:"layout"` // nhwc, nchw
	Stride   int64  `json:"stride"` // bytes from one record to the next: the record padded to BlockSize
}

func RecordOf(store string, b theory.Batch, layout string) Record {
	r := Record{1, b.Height, b.Width, b.Channels, b.DType, layout, 0}
	if store == Tensor {
		r.Images = b.Images
	}
	r.Stride = roundUp(r.Bytes(), BlockSize)
	return r
}

// Bytes is the size of a record, without the padding behind it.
func (r Record) Bytes() int64 { return r.batch().Bytes() }

func (r Record) batch() theory.Batch {
	return theory.Batch{Images: r.Images, Height: r.Height, Width: r.Width, Channels: r.Channels, DType: r.DType}
}

func (r Record) Check() error {
	if err := r.batch().Check(); err != nil {
		return err
	}
	if r.Layout != "nhwc" && r.Layout != "nchw" {
		return fmt.Errorf("unknown layout %q: want nhwc or nchw", r.Layout)
	}
	if n := r.Bytes(); n > MostSample {
		return fmt.Errorf("a record of %d bytes is more than the 1 GiB that a sample may have", n)
	}
	if want := roundUp(r.Bytes(), BlockSize); r.Stride != want {
		return fmt.Errorf("stride %d: want %d", r.Stride, want)
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
	return h.Check()
}

func (h recordHeader) encode() []byte {
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
	records = body / h.Stride
	if body%h.Stride >= h.Bytes() {
		records++ // only its padding is missing
	}
	if records < h.Count {
		return records, 0
	}
	return h.Count, min((body-min(body, h.Count*h.Stride))/4, h.Count*int64(h.Images))
}

func isRecords(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".raw" || ext == ".tensor"
}

// openRecordFile opens a file of records and reads its header.
func openRecordFile(full string) (f *os.File, size int64, h recordHeader, err error) {
	if f, size, err = openRegular(full); err != nil {
		return f, size, h, err
	}
	block := make([]byte, BlockSize)
	n, err := f.ReadAt(block, 0)
	if err == nil || err == io.EOF {
		h, err = parseRecordHeader(block[:n])
	}
	if err != nil {
		f.Close()
	}
	return f, size, h, err
}

// recordKind is the store that a file belongs to, "" if it is no file of records:
// .raw is what cameras write, too. An error is of the machine.
func recordKind(full string) (string, error) {
	f, _, h, err := openRecordFile(full)
	if OfMachine(err) {
		return "", limited(err)
	}
	if err != nil {
		return "", nil
	}
	return h.Kind, f.Close()
}

// openRecords reads the files of records of a directory. Those whose shape is not
// that of the first are skipped.
func (s *Set) openRecords(only string) error {
	names, err := matching(s.Root, only, isRecords)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.openRecord(name); err != nil {
			s.Skipped = append(s.Skipped, lost(name, err))
		}
	}
	if s.Store == Tensor && len(s.Labels) != len(s.Samples)*s.images() {
		s.Labels = nil
	}
	return nil
}

func (s *Set) openRecord(name string) error {
	f, size, h, err := openRecordFile(filepath.Join(s.Root, name))
	if err != nil {
		return err
	}
	defer f.Close()
	if h.Kind != s.Store {
		return fmt.Errorf("holds %s records", h.Kind)
	}
	if s.Record != nil && *s.Record != h.Record {
		return fmt.Errorf("%s, stride %d, is not the shape of the files before it", h.batch(), h.Stride)
	}
	records, n := h.layout(size)
	if records < h.Count {
		why := fmt.Sprintf("truncated: %d of %d records are missing", h.Count-records, h.Count)
		s.Skipped = append(s.Skipped, Fault{Path: name, Offset: BlockSize + records*h.Stride, Reason: why, Lost: true})
	}
	if records == 0 {
		return errors.New("no records")
	}
	labels := make([]int32, records*int64(h.Images))
	if err := readLabels(f, labels, BlockSize+h.Count*h.Stride, int(n)); err != nil {
		return err
	}
	s.Record = &h.Record
	file := int32(len(s.Files))
	s.Files = append(s.Files, File{Path: name, Size: size})
	for i := range records {
		sample := Sample{File: file, Label: -1, Off: BlockSize + i*h.Stride, Len: h.Bytes()}
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
