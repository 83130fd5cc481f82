package loader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"dlbench/bench/theory"
)

// A file of records is a header of BlockSize bytes, then Stride bytes a record, then
// an int32 in little endian for each image as its label.
const recordMagic = "DLBENCH-RECORDS 1\n"

// Bytes is the size of a record, without the padding behind it.
func (r Record) Bytes() int64 { return r.batch().Bytes() }

func (r Record) batch() theory.Batch {
	return theory.Batch{Images: r.Images, Height: r.Height, Width: r.Width, Channels: r.Channels, DType: r.DType}
}

// Check says what is wrong with the shape of a record.
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

// roundUp rounds n up to a multiple of to.
func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// recordHeader is the JSON behind the magic line; zeros fill the block.
type recordHeader struct {
	Kind     string `json:"kind"` // raw or tensor
	Count    int64  `json:"count"`
	Images   int    `json:"images"`
	Height   int    `json:"height"`
	Width    int    `json:"width"`
	Channels int    `json:"channels"`
	DType    string `json:"dtype"`
	Layout   string `json:"layout"`
	Stride   int64  `json:"stride"`
}

func (h recordHeader) record() Record {
	return Record{h.Images, h.Height, h.Width, h.Channels, h.DType, h.Layout, h.Stride}
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
	return h.record().Check()
}

// encode returns the block of the header.
func (h recordHeader) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	block := make([]byte, BlockSize)
	if copy(block[copy(block, recordMagic):], text) < len(text) {
		return nil, errors.New("the header does not fit a block")
	}
	return block, nil
}

// errNotRecords says that a file has no magic line.
var errNotRecords = errors.New("not a file of records")

func parseRecordHeader(block []byte) (recordHeader, error) {
	var h recordHeader
	text, ok := bytes.CutPrefix(block, []byte(recordMagic))
	if !ok {
		return h, errNotRecords
	}
	if err := json.Unmarshal(bytes.TrimRight(text, "\x00"), &h); err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	if err := h.check(); err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	return h, nil
}

func readRecordHeader(f *os.File) (recordHeader, error) {
	block := make([]byte, BlockSize)
	n, err := f.ReadAt(block, 0)
	if err != nil && err != io.EOF {
		return recordHeader{}, err
	}
	return parseRecordHeader(block[:n])
}

// layout is how much of a file of records there is: whole records, and labels of the
// first images.
func (h recordHeader) layout(size int64) (records, labels int64) {
	if size < BlockSize {
		return 0, 0
	}
	body := size - BlockSize
	records = body / h.Stride
	if body%h.Stride >= h.record().Bytes() {
		records++ // only its padding is missing
	}
	if records < h.Count {
		return records, 0
	}
	return h.Count, min((body-min(body, h.Count*h.Stride))/4, h.Count*int64(h.Images))
}
