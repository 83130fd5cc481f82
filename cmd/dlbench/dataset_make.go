package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dlbench/loader/synth"
)

func newDatasetMake() *cobra.Command {
	images, classes := countFlag{1000, 1}, countFlag{synth.DefaultClasses, 1}
	var seed uint64
	var store *storeFlags
	c := &cobra.Command{
		Use:   "make DIR",
		Short: "Make a set of images that cost what photographs cost",
		Long: `Make draws images like those of ImageNet in size, bytes and decoding time, and
writes them as files, as WebDataset shards, or as tensors. The same seed makes the
same set. DIR must not hold anything yet; it is there when it is whole.`,
		Example: `  dlbench dataset make photos --images 5000
  dlbench dataset make shards --store tar --images 50000 --seed 7
  dlbench dataset make crops --store raw --shape 256x256x3 --dtype uint8`,
		Args: exactly("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			s := synth.Spec{Form: store.form(), Images: images.value, Seed: seed, Classes: classes.value}
			if err := store.check(c, s.Check()); err != nil {
				return err
			}
			var info synth.Info
			took, err := making(c, args[0], func(ctx context.Context, p synth.Progress) (err error) {
				info, err = synth.Make(ctx, args[0], s, p)
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), describeSet(args[0], info, took))
			return nil
		},
	}
	store = addStore(c)
	c.Flags().Var(&images, "images", "images to make")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the images")
	c.Flags().Var(&classes, "classes", "classes, which take turns")
	return c
}
