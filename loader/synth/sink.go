package synth

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dlbench/loader"
)

// sink writes samples in the form of a store.
type sink interface {
	add(*sample) error
	close() error // finishes the files
	abort()       // closes them; does nothing after close
}

// shardBytes and shardImages bound a shard: the first that is reached.
const (
	shardBytes  = 64_000_000
	shardImages = 1000
)

// newSink starts a store in an empty folder. Images have mean bytes.
func newSink(dir, store string, record *loader.Record, mean int64, class func(label int) string) (sink, error) {
	switch store {
	case loader.Files:
		return &fileSink{dir: dir, class: class, made: map[string]bool{}}, nil
	case loader.Tar:
		w, err := loader.CreateShards(dir, int(min(max(1, shardBytes/max(1, mean)), shardImages)))
		if err != nil {
			return nil, err
		}
		return &shardSink{w}, nil
	}
	w, err := loader.CreateRecords(filepath.Join(dir, "data."+store), store, *record)
	if err != nil {
		return nil, err
	}
	return &recordSink{w: w, record: *record}, nil
}

// fileSink writes a folder of class folders.
type fileSink struct {
	dir   string
	class func(label int) string // folder of a label; "" for none
	made  map[string]bool
}

func (f *fileSink) add(s *sample) error {
	dir := filepath.Join(f.dir, f.class(s.label))
	if !f.made[dir] {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		f.made[dir] = true
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%08d%s", s.index, s.ext)), s.image, 0o644)
}

func (f *fileSink) close() error { return nil }
func (f *fileSink) abort()       {}

// numbered names class folders so that they sort by label.
func numbered(classes int) func(label int) string {
	width := max(4, len(fmt.Sprint(classes-1)))
	return func(label int) string { return fmt.Sprintf("class-%0*d", width, label) }
}

// shardSink writes WebDataset shards.
type shardSink struct{ w *loader.ShardWriter }

func (t *shardSink) add(s *sample) error {
	return t.w.Append(strings.TrimPrefix(s.ext, "."), s.image, int32(s.label))
}

func (t *shardSink) close() error { return t.w.Close() }
func (t *shardSink) abort()       { t.w.Abort() }

// recordSink writes a file of records. Images that do not fill the last one are left
// out.
type recordSink struct {
	w      *loader.RecordWriter
	record loader.Record
	batch  []byte
	labels []int32
}

func (r *recordSink) add(s *sample) error {
	data := s.tensor
	r.labels = append(r.labels, int32(s.label))
	if r.record.Images > 1 {
		r.batch = append(r.batch, s.tensor...)
		data = r.batch
	}
	if len(r.labels) < r.record.Images {
		return nil
	}
	err := r.w.Append(data, r.labels)
	r.batch, r.labels = r.batch[:0], r.labels[:0]
	return err
}

func (r *recordSink) close() error { return r.w.Close() }
func (r *recordSink) abort()       { r.w.Abort() }
