package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"dlbench/loader"
	"dlbench/loader/synth"
	"dlbench/results"
)

func newDatasetPack() *cobra.Command {
	var strict bool
	var store *storeFlags
	c := &cobra.Command{
		Use:   "pack SRC DST",
		Short: "Convert a folder of images or WebDataset shards",
		Long: `Pack writes the images of SRC, a folder of class folders or WebDataset shards, to
DST in another form. Files and shards keep each image's bytes; raw and tensor stores
hold its middle, resized and, as floats, normalised by ImageNet's mean and deviation.
SRC is only read. DST must not hold anything yet; it is there when it is whole.`,
		Example: `  dlbench dataset pack imagenet/train shards --store tar
  dlbench dataset pack shards batches --store tensor --batch 64 --shape 224x224x3`,
		Args: exactly("SRC", "DST"),
		RunE: func(c *cobra.Command, args []string) error {
			o := synth.PackOptions{Form: store.form(), Strict: strict}
			if err := store.check(c, o.Check()); err != nil {
				return err
			}
			if !c.Flags().Changed("store") {
				return usage(fmt.Errorf("--store: say what to convert to: %s", c.Flag("store").Value.Type()))
			}
			var p synth.Packing
			took, err := making(c, args[1], func(ctx context.Context, progress synth.Progress) (err error) {
				o.Progress = progress
				p, err = synth.Pack(ctx, args[0], args[1], o)
				return err
			})
			if err != nil {
				return err
			}
			writeSkipped(c.ErrOrStderr(), p.Skipped)
			fmt.Fprintln(c.OutOrStdout(), describeSet(args[1], p.Info, took))
			return nil
		},
	}
	store = addStore(c)
	c.Flags().BoolVar(&strict, "strict", false, "fail where something would be skipped")
	return c
}

// mostNamed bounds how many skipped files are named.
const mostNamed = 10

func writeSkipped(w io.Writer, skipped []loader.Fault) {
	if len(skipped) == 0 {
		return
	}
	fmt.Fprintf(w, "skipped: %d\n", len(skipped))
	for _, s := range skipped[:min(len(skipped), mostNamed)] {
		fmt.Fprintf(w, "  %s: %s\n", results.Plain(s.At()), results.Plain(s.Reason))
	}
	if more := len(skipped) - mostNamed; more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}
