package synth

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/dustin/go-humanize"

	"dlbench/loader"
)

// build makes one or more stores of the same samples at once.
type build struct {
	free     int64 // bytes that there are for all targets; 0: not known
	progress Progress
	skip     func(index int, why error) error // takes in what is no sample, or refuses it
	need     float64                          // bytes of all targets, about
	targets  []*target
}

type sample struct {
	label   int
	image   []byte // a whole image file
	ext     string // of its format, with a dot
	tensor  []byte // one image of a raw or tensor store
	skipped error  // why it cannot be a sample
}

// maker makes one sample after the other, by their numbers or of what was read, for
// one goroutine. Its error says why something is no sample.
type maker func(s *sample, index int, data []byte) error

// run makes n samples on all usable CPUs and, when all are there, puts the targets in
// their places. Each thread has a maker of its own.
func (b *build) run(n int, feed func(loader.FeedOptions) (*loader.Feed, error), newMaker func() maker) error {
	makers := make([]maker, max(1, min(n, runtime.GOMAXPROCS(0))))
	samples := make([]sample, 4*len(makers))
	f, err := feed(loader.FeedOptions{Batches: n, Readers: len(makers), Depth: len(samples),
		Thread: func(thread int) func() {
			makers[thread] = newMaker()
			return nil
		},
		Work: func(thread int, at loader.Place, data []byte) error {
			s := &samples[at.Batch%len(samples)]
			s.skipped = makers[thread](s, at.Batch, data)
			return nil
		},
		Missing: func(_ int, at loader.Place, err error) bool {
			samples[at.Batch%len(samples)].skipped = err
			return true
		}})
	if err != nil {
		return err
	}
	defer f.Close()
	for i := range n {
		if _, err := f.Next(); err != nil {
			return err
		}
		if err := b.take(i, &samples[i%len(samples)]); err != nil {
			return err
		}
		f.Release()
		if b.progress != nil {
			b.progress(i+1, n)
		}
	}
	for _, t := range b.targets {
		if err := t.commit(); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) take(index int, s *sample) error {
	if s.skipped != nil {
		return b.skip(index, s.skipped)
	}
	for _, t := range b.targets {
		if err := t.take(index, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) discard() error {
	var errs []error
	for _, t := range b.targets {
		errs = append(errs, t.discard())
	}
	return errors.Join(errs...)
}

// target is a store that is being made, in a hidden folder in the one that is to be filled.
// What is in it becomes what that folder holds, or vanishes.
type target struct {
	dir, temp string
	made      []string // folders that were not there, dir or its parents, innermost first

	info    Info
	class   func(label int) string // folder of a label; "" for none
	print   fingerprint
	shards  *loader.ShardWriter
	records *loader.RecordWriter
	out     io.Closer // one of them
	batch   []byte    // images that are not yet a whole record
	labels  []int32
}

const staged = ".tmp-"

// shardBytes and shardImages bound a shard: the first that is reached.
const (
	shardBytes  = 64_000_000
	shardImages = 1000
)

// add starts a target in dir, of so many images whose files have mean bytes each, about. It refuses
// a folder that holds something, and more than there is room for.
func (b *build) add(t *target, dir string, images int, mean int64) (err error) {
	one, r := mean, t.info.Tensor
	if r != nil {
		one = r.Stride() / int64(r.Images)
	}
	b.need += float64(images) * float64(one+loader.BlockSize)
	if b.free > 0 && b.need > float64(b.free) {
		return fmt.Errorf("%s: not enough room: about %s needed, %s available",
			dir, humanize.SIWithDigits(b.need, 1, "B"), humanize.SIWithDigits(float64(b.free), 1, "B"))
	}
	b.targets = append(b.targets, t)
	if err := t.stage(dir); err != nil {
		return err
	}
	t.info.FormatVersion = infoVersion
	switch t.info.Store {
	case loader.Tar:
		t.shards = loader.CreateShards(t.temp, int(min(max(1, shardBytes/max(1, mean)), shardImages)))
		t.out = t.shards
	case loader.Raw, loader.Tensor:
		t.batch = make([]byte, 0, r.Bytes())
		t.records, err = loader.CreateRecords(filepath.Join(t.temp, "data."+t.info.Store), t.info.Store, *r)
		t.out = t.records
	}
	return err
}

// stage makes the hidden folder, and dir if it is not there.
func (t *target) stage(dir string) (err error) {
	t.dir = dir
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		t.made = append(t.made, at)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := t.empty(); err != nil {
		return err
	}
	t.temp, err = os.MkdirTemp(dir, staged)
	return err
}

// empty says whether the folder holds nothing, but for what is being made or was left
// by a process that was killed.
func (t *target) empty() error {
	entries, err := os.ReadDir(t.dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), staged) {
			return fmt.Errorf("%s: exists and is not empty: nothing is overwritten, name a new folder", t.dir)
		}
	}
	return err
}

// take adds a sample. An image that is not in a whole record is not counted.
func (t *target) take(index int, s *sample) error {
	if t.records == nil {
		t.count(s.image)
		if t.shards != nil {
			return t.shards.Append(s.ext[1:], s.image, int32(s.label))
		}
		dir := filepath.Join(t.temp, t.class(s.label))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%08d%s", index, s.ext)), s.image, 0o644)
	}
	t.batch, t.labels = append(t.batch, s.tensor...), append(t.labels, int32(s.label))
	if len(t.labels) < t.info.Tensor.Images {
		return nil
	}
	for i := range t.labels {
		t.count(t.batch[i*len(s.tensor):][:len(s.tensor)])
	}
	err := t.records.Append(t.batch, t.labels)
	t.batch, t.labels = t.batch[:0], t.labels[:0]
	return err
}

func (t *target) count(data []byte) {
	t.info.Images++
	t.info.Bytes += int64(len(data))
	t.print.add(data)
}

// commit puts what was made in its place.
func (t *target) commit() (err error) {
	switch {
	case t.info.Images == 0 && len(t.labels) > 0:
		return fmt.Errorf("%s: %d images are no whole batch of %d", t.dir, len(t.labels), t.info.Tensor.Images)
	case t.info.Images == 0:
		return fmt.Errorf("%s: %w to write", t.dir, loader.ErrNoSamples)
	}
	if t.out != nil {
		err = t.out.Close()
	}
	if err == nil {
		t.info.Files, t.info.DiskBytes, err = usage(t.temp)
	}
	if err != nil {
		return err
	}
	t.info.LeftOver, t.info.Fingerprint = len(t.labels), t.print.String()
	if err := errors.Join(t.info.write(t.temp), t.empty()); err != nil {
		return err // or somebody put something there in the meantime
	}
	entries, err := os.ReadDir(t.temp)
	for i, e := range entries {
		if err = os.Rename(filepath.Join(t.temp, e.Name()), filepath.Join(t.dir, e.Name())); err != nil {
			for _, moved := range entries[:i] { // a set is there as a whole or not at all
				os.RemoveAll(filepath.Join(t.dir, moved.Name()))
			}
			return err
		}
	}
	t.made = nil
	return err
}

func (t *target) discard() (err error) {
	if t.out != nil {
		t.out.Close() // whose error is not of interest
	}
	if t.temp != "" {
		err = os.RemoveAll(t.temp)
	}
	for _, dir := range t.made {
		os.Remove(dir) // only while nobody else has put something in it
	}
	return err
}

// numbered names class folders so that they sort by label.
func numbered(classes int) func(label int) string {
	width := max(4, len(fmt.Sprint(classes-1)))
	return func(label int) string { return fmt.Sprintf("class-%0*d", width, label) }
}
