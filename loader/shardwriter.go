package loader

import (
	"archive/tar"
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// ShardWriter writes WebDataset shards, 000000.tar and on, of members named after
// the sample's number: 000017.jpg and its label in 000017.cls. The same samples give
// the same bytes. A shard takes its name when it is finished.
type ShardWriter struct {
	dir     string
	most    int // samples in a shard
	samples int // so far, in all shards
	shards  int // begun
	f       *os.File
	buf     *bufio.Writer
	tar     *tar.Writer
	err     error // the first, which later calls return
}

// CreateShards starts shards of up to most samples each in a directory that exists.
func CreateShards(dir string, most int) (*ShardWriter, error) {
	if most < 1 {
		return nil, fmt.Errorf("shards of %d samples: want at least 1", most)
	}
	return &ShardWriter{dir: dir, most: most}, nil
}

// Append adds an image in the format that ext names without a dot, such as jpg, and
// its label, if it is not negative.
func (w *ShardWriter) Append(ext string, image []byte, label int32) error {
	if w.err != nil {
		return w.err
	}
	if !isImage("." + ext) {
		return fmt.Errorf("%s: extension %q is not that of an image", w.dir, ext)
	}
	if w.samples%w.most == 0 {
		w.next()
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
	h := &tar.Header{Name: fmt.Sprintf("%06d.%s", w.samples, ext), Mode: 0o644, Size: int64(len(data)), Format: tar.FormatUSTAR}
	if w.err = w.tar.WriteHeader(h); w.err == nil {
		_, w.err = w.tar.Write(data)
	}
}

func (w *ShardWriter) path() string {
	return filepath.Join(w.dir, fmt.Sprintf("%06d.tar", w.shards-1))
}

// next ends the shard that is open and begins another.
func (w *ShardWriter) next() {
	w.end()
	if w.err != nil {
		return
	}
	w.shards++
	if w.f, w.err = os.Create(w.path() + partial); w.err != nil {
		w.f = nil
		return
	}
	w.buf = bufio.NewWriterSize(w.f, 1<<20)
	w.tar = tar.NewWriter(w.buf)
}

func (w *ShardWriter) end() {
	if w.f == nil {
		return
	}
	if w.err == nil {
		w.err = w.tar.Close()
	}
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	w.err = finish(w.f, w.path(), w.err)
	w.f = nil
}

// Close finishes the last shard. After an error it removes it.
func (w *ShardWriter) Close() error {
	w.end()
	return w.err
}

// Abort removes the shard that is not finished.
func (w *ShardWriter) Abort() {
	if w.f != nil {
		w.err = errAborted
		w.end()
	}
}
