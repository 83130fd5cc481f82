package synth

import (
	"context"
	"fmt"

	"dlbench/bench/theory"
	"dlbench/loader"
)

// build makes one or more stores of the same samples at once.
type build struct {
	free     func(dir string) (int64, bool) // bytes on its file system, if they are known
	strict   bool                           // a sample that is skipped ends it
	progress Progress
	need     int64 // bytes of all targets
	targets  []*target
	skipped  []loader.Skipped
}

// target is one store.
type target struct {
	*stage
	sink
	record  *loader.Record // of raw and tensor stores
	info    Info
	print   Fingerprint
	packed  func() *Packed // nil for a set that is not packed
	waiting []digest       // of the samples that are not yet a whole record
}

// plan is what a target will hold.
type plan struct {
	images int
	bytes  int64 // of image files, estimated
	batch  theory.Batch
	layout string
	class  func(label int) string
}

// checkStore says what is wrong with a store of batches b.
func checkStore(store string, b theory.Batch, layout string) error {
	switch store {
	case loader.Files, loader.Tar:
		return nil
	case loader.Raw, loader.Tensor:
		if err := checkShape(b, layout); err != nil {
			return err
		}
		return recordOf(store, b, layout).Check()
	}
	return fmt.Errorf("unknown store %q: want %s, %s, %s or %s", store, loader.Files, loader.Tar, loader.Raw, loader.Tensor)
}

// recordOf is the shape of a store's records, nil for one that has none.
func recordOf(store string, b theory.Batch, layout string) *loader.Record {
	if store != loader.Raw && store != loader.Tensor {
		return nil
	}
	r := loader.Record{Images: 1, Height: b.Height, Width: b.Width, Channels: b.Channels, DType: b.DType, Layout: layout}
	if store == loader.Tensor {
		r.Images = b.Images
	}
	r.Stride = (r.Bytes() + loader.BlockSize - 1) / loader.BlockSize * loader.BlockSize
	return &r
}

// What a file costs beside its bytes: half a block and an inode in a folder; two
// headers, a label and padding in a shard.
const (
	fileExtra  = loader.BlockSize/2 + 512
	shardExtra = 2048
)

// target adds a store that will be made in dir.
func (b *build) target(dir string, info Info, p plan) error {
	t := &target{info: info, record: recordOf(info.Store, p.batch, p.layout)}
	need := p.bytes + int64(p.images)*fileExtra
	switch {
	case info.Store == loader.Tar:
		need = p.bytes + int64(p.images)*shardExtra
	case t.record != nil:
		records := p.images / t.record.Images
		if records == 0 {
			return fmt.Errorf("%s: %d images are no whole batch of %d", dir, p.images, t.record.Images)
		}
		need = int64(records)*t.record.Stride + 4*int64(p.images) + loader.BlockSize
	}
	b.need += need
	var err error
	if t.stage, err = newStage(dir, b.need, b.free); err != nil {
		return err
	}
	b.targets = append(b.targets, t)
	t.info.FormatVersion, t.info.Tensor = infoVersion, tensorOf(t.record)
	t.sink, err = newSink(t.temp, info.Store, t.record, p.bytes/int64(max(1, p.images)), p.class)
	return err
}

// run makes n samples and, when all are there, gives the targets their names.
func (b *build) run(ctx context.Context, n int, newWork func() (work, error)) ([]Info, error) {
	err := ordered(ctx, n, newWork, func(s *sample) error {
		if b.progress != nil {
			defer b.progress(s.index+1, n)
		}
		if s.skipped != nil {
			b.skipped = append(b.skipped, *s.skipped)
			if b.strict {
				return skippedError(*s.skipped)
			}
			return nil
		}
		for _, t := range b.targets {
			if err := t.take(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, t := range b.targets {
		if err := t.finish(); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var infos []Info
	for _, t := range b.targets {
		if err := t.commit(); err != nil {
			return nil, err
		}
		infos = append(infos, t.info)
	}
	return infos, nil
}
