package bench

import (
	"context"
	"fmt"

	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/results"
)

// Source is the set that a strategy reads, nil where the data has none.
func (d *Data) Source(strategy string) *loader.Set {
	switch strategy {
	case results.Offline:
		return d.Sets[loader.Raw]
	case results.StrategyTensor:
		return d.Sets[loader.Tensor]
	}
	return d.Images
}

// UsualStrategy is how the data is loaded unless the user says otherwise.
func (d *Data) UsualStrategy() string {
	for _, s := range []string{results.Online, results.Offline, results.StrategyTensor} {
		if d.Source(s) != nil {
			return s
		}
	}
	return results.Online
}

// Unable says why a strategy cannot make batches b of samples as p has them, "" if it can.
func (d *Data) Unable(strategy string, b theory.Batch, p loader.PreprocessOptions) string {
	set := d.Source(strategy)
	switch {
	case set == nil && strategy == results.Online:
		return "the data given holds no image files to decode"
	case set == nil:
		store := map[string]string{results.Offline: loader.Raw, results.StrategyTensor: loader.Tensor}[strategy]
		return "the data given has no " + store + " store: dlbench dataset pack makes one of images"
	case set.Plan(loader.Order{}, b.Images).Len() < 1:
		return fmt.Sprintf("%d good samples are less than one batch of %d", len(set.Samples), b.Images)
	case strategy == results.StrategyTensor:
		if rec := set.Record; rec.Bytes() != b.Bytes() || rec.Images != b.Images {
			return fmt.Sprintf("the store holds batches of %d, %d bytes each, not %s", rec.Images, rec.Bytes(), b)
		}
		return ""
	case b.Channels != 3:
		return fmt.Sprintf("images have 3 channels, not %d", b.Channels)
	case strategy == results.Offline:
		return loader.CanPrepare(set.Record, p.Sample)
	case p.Decoder == decode.Turbo:
		if _, err := decode.Library(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// LoadSamples reads the samples of a part of a plan over a set into memory. They are
// indexed by their numbers; nil where a batch could not be read, and err says why the last one could
// not.
func LoadSamples(ctx context.Context, set *loader.Set, part *loader.Plan) (data [][]byte, err error) {
	reader, err := loader.NewReader(set, loader.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	data = make([][]byte, len(set.Samples))
	for i := range part.Len() {
		if _, failed := reader.Read(part.Batch(i), func(sample int32, b []byte) error {
			data[sample] = append([]byte(nil), b...)
			return ctx.Err()
		}); failed != nil {
			err = failed
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return data, err
}
