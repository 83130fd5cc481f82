package loader

import (
	"archive/tar"
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// partial is what an unfinished file is called behind its name.
const partial = ".partial"

// output is a file that takes its name when it is finished, so that one that was not
// is never taken for a store.
type output struct {
	path string
	f    *os.File
	*bufio.Writer
}

func create(path string) (*output, error) {
	f, err := os.Create(path + partial)
	if err != nil {
		return nil, err
	}
	return &output{path, f, bufio.NewWriterSize(f, 1<<20)}, nil
}

// finish closes the file and gives it its name, or removes it when err or closing says
// that it is not whole.
func (o *output) finish(err error) error {
	if err == nil {
		err = o.Flush()
	}
	if closing := o.f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(o.path+partial, o.path)
	}
	if err != nil {
		os.Remove(o.path + partial)
	}
	return err
}

// ShardWriter writes WebDataset shards, 000000.tar and on, of members named after
// the sample's number: 000017.jpg and its label in 000017.cls. The same samples give
// the same bytes. A shard takes its name when it is finished.
type ShardWriter struct {
	dir     string
	most    int     // samples in a shard
	samples int     // so far, in all shards
	out     *output // the shard that is open
	tar     *tar.Writer
	err     error // the first, which later calls return
}

// CreateShards starts shards of up to most samples each, one or more, in a directory that
// exists.
func CreateShards(dir string, most int) *ShardWriter { return &ShardWriter{dir: dir, most: most} }

// Append adds an image in the format that ext names without a dot, such as jpg, and
// its label, if it is not negative.
func (w *ShardWriter) Append(ext string, image []byte, label int32) error {
	if w.err != nil {
		return w.err
	}
	if !isImage("." + ext) {
		return fmt.Errorf("%s: extension %q is not that of an image", w.dir, ext)
	}
	if w.samples%w.most == 0 && w.Close() == nil {
		if w.out, w.err = create(filepath.Join(w.dir, fmt.Sprintf("%06d.tar", w.samples/w.most))); w.err == nil {
			w.tar = tar.NewWriter(w.out)
		}
	}
	w.member(ext, image)
	if label >= 0 {
		w.member("cls", strconv.AppendInt(nil, int64(label), 10))
	}
	w.samples++
	return w.err
}

func (w *ShardWriter) member(ext string, data []byte) {
	if w.err != nil {
		return
	}
	name := fmt.Sprintf("%06d.%s", w.samples, ext)
	h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Format: tar.FormatUSTAR}
	if w.err = w.tar.WriteHeader(h); w.err == nil {
		_, w.err = w.tar.Write(data)
	}
}

// Close finishes the last shard. After an error it removes it.
func (w *ShardWriter) Close() error {
	if w.out == nil {
		return w.err
	}
	if w.err == nil {
		w.err = w.tar.Close()
	}
	w.err = w.out.finish(w.err)
	w.out = nil
	return w.err
}

// RecordWriter writes a file of records. The file takes its name at Close.
type RecordWriter struct {
	out    *output // nil when it is finished
	header recordHeader
	pad    []byte
	labels []byte // of all images so far, int32 in little endian
	err    error  // the first, which later calls return
}

// CreateRecords starts a file of records of kind Raw or Tensor and the shape of r,
// whose Stride is set here.
func CreateRecords(path, kind string, r Record) (*RecordWriter, error) {
	r.Stride = roundUp(r.Bytes(), BlockSize)
	w := &RecordWriter{header: recordHeader{Kind: kind, Record: r}, pad: make([]byte, max(0, r.Stride-r.Bytes()))}
	err := w.header.check()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if w.out, err = create(path); err == nil {
		w.write(w.header.encode())
	}
	return w, err
}

func (w *RecordWriter) write(p []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(p)
	}
}

// Append adds a record and the labels of its images.
func (w *RecordWriter) Append(data []byte, labels []int32) error {
	if w.err != nil {
		return w.err
	}
	if want := w.header.Bytes(); int64(len(data)) != want {
		return fmt.Errorf("%s: a record of %d bytes: want %d", w.out.path, len(data), want)
	}
	if len(labels) != w.header.Images {
		return fmt.Errorf("%s: %d labels of %d images", w.out.path, len(labels), w.header.Images)
	}
	w.write(data)
	w.write(w.pad)
	for _, label := range labels {
		w.labels = binary.LittleEndian.AppendUint32(w.labels, uint32(label))
	}
	w.header.Count++
	return w.err
}

// Close writes labels and the header's count, and gives the file its name. After an
// error it removes what there is of it.
func (w *RecordWriter) Close() error {
	if w.out == nil {
		return w.err
	}
	w.write(w.labels)
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		_, w.err = w.out.f.WriteAt(w.header.encode(), 0)
	}
	w.err = w.out.finish(w.err)
	w.out = nil
	return w.err
}
