package loader

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// RecordWriter writes a file of records. The file takes its name at Close, so that
// one that was not finished is never taken for a store.
type RecordWriter struct {
	path   string
	f      *os.File
	w      *bufio.Writer
	header recordHeader
	pad    []byte
	labels []int32 // of all images so far, 4 bytes each
	err    error   // the first, which later calls return
}

// partial is what an unfinished file is called behind its name.
const partial = ".partial"

// CreateRecords starts a file of records of kind Raw or Tensor and the shape of r,
// whose Stride is set here.
func CreateRecords(path, kind string, r Record) (*RecordWriter, error) {
	r.Stride = roundUp(r.Bytes(), BlockSize)
	h := recordHeader{kind, 0, r.Images, r.Height, r.Width, r.Channels, r.DType, r.Layout, r.Stride}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	block, err := h.encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := os.Create(path + partial)
	if err != nil {
		return nil, err
	}
	w := &RecordWriter{path: path, f: f, w: bufio.NewWriterSize(f, 1<<20), header: h, pad: make([]byte, h.Stride-r.Bytes())}
	w.write(block)
	return w, w.err
}

func (w *RecordWriter) write(p []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(p)
	}
}

// Append adds a record and the labels of its images; nil stands for -1 each.
func (w *RecordWriter) Append(data []byte, labels []int32) error {
	if w.err != nil {
		return w.err
	}
	images := w.header.Images
	if want := w.header.record().Bytes(); int64(len(data)) != want {
		return fmt.Errorf("%s: a record of %d bytes: want %d", w.path, len(data), want)
	}
	if labels != nil && len(labels) != images {
		return fmt.Errorf("%s: %d labels of %d images", w.path, len(labels), images)
	}
	w.write(data)
	w.write(w.pad)
	for i := range images {
		label := int32(-1)
		if labels != nil {
			label = labels[i]
		}
		w.labels = append(w.labels, label)
	}
	w.header.Count++
	return w.err
}

// Close writes labels and the header's count, and gives the file its name. After an
// error it removes what there is of it.
func (w *RecordWriter) Close() error {
	if w.f == nil {
		return w.err
	}
	var label [4]byte
	for _, l := range w.labels {
		binary.LittleEndian.PutUint32(label[:], uint32(l))
		w.write(label[:])
	}
	if w.err == nil {
		w.err = w.w.Flush()
	}
	if w.err == nil {
		var block []byte
		if block, w.err = w.header.encode(); w.err == nil {
			_, w.err = w.f.WriteAt(block, 0)
		}
	}
	w.err = finish(w.f, w.path, w.err)
	w.f = nil
	return w.err
}

// Abort removes what was written. It does nothing after Close.
func (w *RecordWriter) Abort() {
	if w.f != nil {
		w.err = finish(w.f, w.path, errAborted)
		w.f = nil
	}
}

var errAborted = errors.New("aborted")

// finish closes a file that was written under a partial name and gives it its own,
// or removes it when err or closing says that it is not whole.
func finish(f io.Closer, path string, err error) error {
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(path+partial, path)
	}
	if err != nil {
		os.Remove(path + partial)
	}
	return err
}
