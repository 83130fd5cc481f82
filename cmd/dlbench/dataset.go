package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/loader"
	"dlbench/loader/synth"
	"dlbench/results"
)

func newDataset() *cobra.Command {
	c := &cobra.Command{
		Use:   "dataset",
		Short: "Make a data set, check one, or convert one",
		Args: func(_ *cobra.Command, a []string) error {
			if len(a) == 0 {
				return nil
			}
			return fmt.Errorf("unknown command %q: want make, check or pack (dlbench dataset --help)", a[0])
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newDatasetMake(), newDatasetCheck(), newDatasetPack())
	return c
}

// exactly asks for arguments by name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, a []string) error {
		if len(a) == len(names) {
			return nil
		}
		return usage(fmt.Errorf("%d arguments: want %s", len(a), strings.Join(names, " ")))
	}
}

// storeFlags are --store, and what raw and tensor stores take beside it.
type storeFlags struct {
	store  *choiceFlag
	batch  *batchFlags
	layout *choiceFlag
}

func addStore(c *cobra.Command) *storeFlags {
	f := &storeFlags{}
	f.store = choice(c, "store", "form on disk: a folder of files, WebDataset shards, or tensors, one by one or in batches", loader.Stores...)
	f.batch = addBatch(c)
	f.layout = choice(c, "layout", "order of a tensor", synth.Layouts...)
	return f
}

// check refuses flags that would do nothing, and shapes that cannot be stored. err is
// what the library says of the store.
func (f *storeFlags) check(c *cobra.Command, err error) error {
	if store := f.store.value; store != loader.Tensor && c.Flags().Changed("batch") {
		return &bench.UsageError{Flag: "--batch", Value: f.batch.images.String(), Want: "only a tensor store has batches, not " + store}
	} else if store == loader.Files || store == loader.Tar {
		for _, name := range []string{"shape", "dtype", "layout"} {
			if c.Flags().Changed(name) {
				return &bench.UsageError{Flag: "--" + name, Value: c.Flag(name).Value.String(), Want: "only raw and tensor stores have one, not " + store}
			}
		}
	}
	if err != nil {
		return &bench.UsageError{Flag: "--store, --batch, --shape", Value: fmt.Sprintf("%s, %s", f.store.value, f.batch.batch()), Want: err.Error()}
	}
	return nil
}

func (f *storeFlags) form() synth.Form {
	return synth.Form{Store: f.store.value, Batch: f.batch.batch(), Layout: f.layout.value}
}

// making shows progress while do runs, says what an interrupt left, and times it.
func making(c *cobra.Command, dir string, do func(context.Context, synth.Progress) error) (time.Duration, error) {
	b := newBar(c.ErrOrStderr())
	start := time.Now()
	err := do(c.Context(), func(done, total int) {
		b.update(bench.Progress{Case: dir, Share: float64(done) / float64(total)})
	})
	b.close()
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted: nothing is left of %s: %w", dir, err)
	}
	return time.Since(start), err
}

// describeSet is the line about a set that was made.
func describeSet(dir string, i synth.Info, took time.Duration) string {
	seconds := took.Seconds()
	s := fmt.Sprintf("%s: %s, %d images, %s in %.1f s (%.0f images/s), fingerprint %s", dir, i.Store, i.Images,
		results.FormatBytes(i.Bytes), seconds, float64(i.Images)/seconds, i.Fingerprint)
	if i.LeftOver > 0 {
		s += fmt.Sprintf("; %d images left over that fill no batch of %d", i.LeftOver, i.Tensor.Batch)
	}
	return s
}
