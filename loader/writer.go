package loader

import (
	"archive/tar"
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// output is a file that is written through a buffer, which keeps the first error.
type output struct {
	*bufio.Writer
	file *os.File
}

func create(path string) (output, error) {
	f, err := os.Create(path)
	return output{bufio.NewWriterSize(f, 1<<20), f}, err
}

func (o output) Close() error { return errors.Join(o.Flush(), o.file.Close()) }

// ShardWriter writes WebDataset shards, 000000.tar and on, of members named after
// the sample's number: 000017.jpg and its label in 000017.cls. The same samples give
// the same bytes.
type ShardWriter struct {
	dir     string
	most    int         // samples in a shard
	samples int         // so far, in all shards
	tar     *tar.Writer // the shard that is open; nil for none
	out     output
}

// CreateShards starts shards of up to most samples each, one or more, in a directory that
// exists.
func CreateShards(dir string, most int) *ShardWriter { return &ShardWriter{dir: dir, most: most} }

// Append adds an image in the format that ext names without a dot, such as jpg, and
// its label, if it is not negative.
func (w *ShardWriter) Append(ext string, image []byte, label int32) error {
	if w.samples%w.most == 0 {
		if err := w.next(); err != nil {
			return err
		}
	}
	err := w.member(ext, image)
	if err == nil && label >= 0 {
		err = w.member("cls", strconv.AppendInt(nil, int64(label), 10))
	}
	w.samples++
	return err
}

func (w *ShardWriter) next() error {
	if err := w.Close(); err != nil {
		return err
	}
	out, err := create(filepath.Join(w.dir, fmt.Sprintf("%06d.tar", w.samples/w.most)))
	if err == nil {
		w.out, w.tar = out, tar.NewWriter(out)
	}
	return err
}

func (w *ShardWriter) member(ext string, data []byte) error {
	name := fmt.Sprintf("%06d.%s", w.samples, ext)
	h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Format: tar.FormatUSTAR}
	if err := w.tar.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.tar.Write(data)
	return err
}

func (w *ShardWriter) Close() error {
	if w.tar == nil {
		return nil
	}
	err := cmp.Or(w.tar.Close(), w.out.Close())
	if err == nil {
		w.tar = nil
	}
	return err
}

type RecordWriter struct {
	out    output
	header recordHeader
	pad    []byte
	labels []byte // of all images so far, int32 in little endian
}

// CreateRecords starts a file of records of kind Raw or Tensor and the shape of r.
func CreateRecords(path, kind string, r Record) (*RecordWriter, error) {
	w := &RecordWriter{header: recordHeader{Kind: kind, Record: r, Step: r.Stride()}}
	err := w.header.check()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	w.pad = make([]byte, r.Stride()-r.Bytes())
	if w.out, err = create(path); err == nil {
		_, err = w.out.Write(w.header.encode())
	}
	return w, err
}

// Append adds a record, which must have its size, and a label for each of its images.
func (w *RecordWriter) Append(data []byte, labels []int32) error {
	for _, label := range labels {
		w.labels = binary.LittleEndian.AppendUint32(w.labels, uint32(label))
	}
	w.header.Count++
	w.out.Write(data)
	_, err := w.out.Write(w.pad) // or the first of before
	return err
}

func (w *RecordWriter) Close() error {
	w.out.Write(w.labels)
	err := w.out.Flush()
	if err == nil {
		_, err = w.out.file.WriteAt(w.header.encode(), 0)
	}
	return errors.Join(err, w.out.file.Close())
}
