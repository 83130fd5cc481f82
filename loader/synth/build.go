package synth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"dlbench/loader"
)

// build makes one or more stores of the same samples at once.
type build struct {
	free     func(dir string) (int64, bool) // bytes on its file system, if they are known
	progress Progress
	skip     func(index int, why error) error // takes in what is no sample, or refuses it
	need     int64                            // bytes of all targets
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

type start func(loader.FeedOptions) (*loader.Feed, error)

// run makes n samples on all usable CPUs and, when all are there, puts the targets in
// their places. Each thread has a maker of its own.
func (b *build) run(ctx context.Context, n int, feed start, newMaker func() maker) error {
	makers := make([]maker, max(1, min(n, runtime.GOMAXPROCS(0))))
	samples := make([]sample, 4*len(makers))
	f, err := feed(loader.FeedOptions{Readers: len(makers), Depth: len(samples),
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
		if err := t.finish(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
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
		if t.out != nil {
			t.out.Close() // whose error is not of interest
		}
		errs = append(errs, t.stage.discard())
	}
	return errors.Join(errs...)
}

type target struct {
	*stage
	info    Info
	record  *loader.Record         // of raw and tensor stores
	class   func(label int) string // folder of a label; "" for none
	print   fingerprint
	shards  *loader.ShardWriter
	records *loader.RecordWriter
	out     io.Closer // one of them
	batch   []byte    // images that are not yet a whole record
	labels  []int32
}

// What a file costs besides its bytes: half a block and an inode in a folder; two
// headers, a label and padding in a shard.
const (
	fileExtra  = loader.BlockSize/2 + 512
	shardExtra = 2048
)

// shardBytes and shardImages bound a shard: the first that is reached.
const (
	shardBytes  = 64_000_000
	shardImages = 1000
)

// add starts a target in dir, of so many images with bytes in their files, about.
func (b *build) add(t *target, dir string, images int, bytes int64) (err error) {
	store := t.info.Store
	extra := int64(fileExtra)
	if store == loader.Tar {
		extra = shardExtra
	}
	need := bytes + int64(images)*extra
	if t.record != nil {
		records := images / t.record.Images
		if records == 0 {
			return fmt.Errorf("%s: %d images are no whole batch of %d", dir, images, t.record.Images)
		}
		need = int64(records)*t.record.Stride() + 4*int64(images) + loader.BlockSize
	}
	b.need += need
	if t.stage, err = newStage(dir, b.need, b.free); err != nil {
		return err
	}
	b.targets = append(b.targets, t)
	t.info.FormatVersion, t.info.Tensor = infoVersion, tensorOf(t.record)
	if t.record != nil {
		t.batch = make([]byte, 0, t.record.Stride()) // which appending would double
		t.records, err = loader.CreateRecords(filepath.Join(t.temp, "data."+store), store, *t.record)
		t.out = t.records
	} else if store == loader.Tar {
		mean := max(1, bytes/int64(max(1, images)))
		t.shards = loader.CreateShards(t.temp, int(min(max(1, shardBytes/mean), shardImages)))
		t.out = t.shards
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
	if len(t.labels) < t.record.Images {
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

func (t *target) finish() (err error) {
	if t.info.Images == 0 {
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
	return t.info.write(t.temp)
}

// numbered names class folders so that they sort by label.
func numbered(classes int) func(label int) string {
	width := max(4, len(fmt.Sprint(classes-1)))
	return func(label int) string { return fmt.Sprintf("class-%0*d", width, label) }
}
