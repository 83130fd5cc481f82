package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/loader"
	"dlbench/loader/synth"
	"dlbench/results"
)

func newDataset() *cobra.Command {
	c := &cobra.Command{Use: "dataset"}
	addCommands(c, newDatasetMake(), newDatasetCheck(), newDatasetPack(), newDatasetClean())
	return c
}

// exactly asks for arguments by name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return fmt.Errorf("%s: want %s", results.Plural(len(args), "argument"), strings.Join(names, " "))
	}
}

// addForm adds --store, and what raw and tensor stores take besides.
func addForm(c *cobra.Command, f *synth.Form) {
	const doc = "form on disk: a folder of files, WebDataset shards, or tensors, one by one or in batches"
	choice(c, &f.Store, "store", doc, loader.Stores...)
	addBatch(c, &f.Batch)
	choice(c, &f.Layout, "layout", "order of height, width and channels", synth.Layouts...)
}

// checkForm refuses flags that would do nothing, and shapes that cannot be stored. err
// is what the library says of the form.
func checkForm(c *cobra.Command, f synth.Form, err error) error {
	refused, why := []string{}, "only raw and tensor stores have one, not "
	switch f.Store {
	case loader.Files, loader.Tar:
		refused = []string{"shape", "dtype", "layout"}
	}
	if f.Store != loader.Tensor && c.Flags().Changed("batch") {
		refused, why = []string{"batch"}, "only a tensor store has batches, not "
	}
	if i := slices.IndexFunc(refused, c.Flags().Changed); i >= 0 {
		return &bench.UsageError{Flag: "--" + refused[i], Value: c.Flag(refused[i]).Value.String(), Want: why + f.Store}
	}
	if err != nil {
		value := fmt.Sprintf("%s, %s", f.Store, f.Batch)
		return &bench.UsageError{Flag: "--store, --batch, --shape", Value: value, Want: err.Error()}
	}
	half := bench.MemoryFor(1 - bench.PicturesBeside - osShare).Bytes()
	return fits(f, half, runtime.GOMAXPROCS(0))
}

// osShare is the share of the memory that is available that is left to others.
const osShare = 0.1

// fits refuses a batch that takes, with the images that threads are at, more than room, in bytes; 0
// is not known. Pictures take the rest of the memory.
func fits(f synth.Form, room int64, threads int) error {
	if f.Store == loader.Files || f.Store == loader.Tar || room <= 0 {
		return nil
	}
	one := f.Batch
	one.Images = 1
	images := 4 * int64(threads) // each at one while one waits, and as many that are garbage
	if f.Store == loader.Tensor {
		images += int64(f.Batch.Images)
	}
	need := float64(one.Bytes()) * float64(images)
	if need <= float64(room) {
		return nil
	}
	const want = "writing takes %s, and there is memory for %s: want less"
	return &bench.UsageError{Flag: "--batch, --shape", Value: f.Batch.String(),
		Want: fmt.Sprintf(want, results.FormatBytes(int64(need)), results.FormatBytes(room))}
}

func newDatasetMake() *cobra.Command {
	s := synth.Spec{Images: 1000, Classes: synth.DefaultClasses}
	c := &cobra.Command{Use: "make DIR", Args: exactly("DIR")}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkForm(c, s.Form, s.Check()); err != nil {
			return err
		}
		return making(c, args[0], func(dir string, p synth.Progress) (synth.Info, error) {
			s.Free = bench.FreeSpace(dir)
			return synth.Make(c.Context(), dir, s, p)
		})
	}
	addForm(c, &s.Form)
	c.Flags().Var(count(&s.Images, 1, 0), "images", "images to make")
	c.Flags().Uint64Var(&s.Seed, "seed", 1, "seed of the images")
	c.Flags().Var(count(&s.Classes, 1, 0), "classes", "classes, which take turns")
	return c
}

func newDatasetPack() *cobra.Command {
	var o synth.PackOptions
	var most int64
	c := &cobra.Command{Use: "pack SRC DST", Args: exactly("SRC", "DST")}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkForm(c, o.Form, o.Check()); err != nil {
			return err
		}
		if !c.Flags().Changed("store") {
			return usagef("--store: say what to convert to: %s", c.Flag("store").Value.Type())
		}
		return making(c, args[1], func(dir string, progress synth.Progress) (synth.Info, error) {
			o.Progress, o.Free = progress, bench.FreeSpace(dir)
			share := bench.PicturesAlone
			if o.Store == loader.Raw || o.Store == loader.Tensor {
				share = bench.PicturesBeside
			}
			o.Memory = bench.MemoryFor(share)
			p, err := packFrom(c, args[0], dir, most, o)
			if err == nil {
				writeSkipped(c.ErrOrStderr(), p.Skipped)
			}
			return p.Info, err
		})
	}
	addForm(c, &o.Form)
	c.Flags().BoolVar(&o.Strict, "strict", false, "fail instead of leaving files out")
	addMaxBytes(c, &most, 0)
	return c
}

// newDatasetClean removes the sets that runs made for themselves.
func newDatasetClean() *cobra.Command {
	dry := false
	c := &cobra.Command{Use: "clean"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		sizes, err := synth.Clean(cache, dry)
		said, all := "freed", int64(0)
		if dry {
			said = "would free"
		}
		for _, dir := range slices.Sorted(maps.Keys(sizes)) {
			fmt.Fprintf(c.OutOrStdout(), "%s %s: %s\n", said, results.FormatBytes(sizes[dir]), dir)
			all += sizes[dir]
		}
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "%s %s in all\n", said, results.FormatBytes(all))
		}
		return err
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return c
}

// making shows progress while do makes a set in dir, a folder or a place of a bucket, and describes the
// set, or says what an interrupt left.
func making(c *cobra.Command, dir string, do func(string, synth.Progress) (synth.Info, error)) error {
	b := newBar(c.ErrOrStderr())
	start := time.Now()
	show := func(what string) synth.Progress {
		return func(done, total int) { b.update(what, float64(done)/float64(max(1, total))) }
	}
	set, err := intoBucket(c.Context(), dir, show("sending "+dir), func(dir string) (synth.Info, error) {
		return do(dir, show(dir))
	})
	b.Finish()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: nothing is left of %s: %w", dir, err)
	}
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), describeSet(dir, set, time.Since(start).Seconds()))
	}
	return err
}

// describeSet is the line about a set that was made.
func describeSet(dir string, i synth.Info, seconds float64) string {
	s := fmt.Sprintf("%s: %s, %d images, %s in %.1f s (%.0f images/s), fingerprint %s", dir, i.Store, i.Images,
		results.FormatBytes(i.Bytes), seconds, float64(i.Images)/seconds, i.Fingerprint)
	if i.LeftOver > 0 {
		s += fmt.Sprintf("; %d images left over that fill no batch of %d", i.LeftOver, i.Tensor.Images)
	}
	return s
}

// mostSkipped bounds how many skipped files are named.
const mostSkipped = 10

func writeSkipped(w io.Writer, skipped []loader.Fault) {
	if len(skipped) > 0 {
		fmt.Fprintf(w, "skipped: %d\n", len(skipped))
		for _, line := range loader.ListFaults(skipped, mostSkipped, "  %s: %s", "  and %d more") {
			fmt.Fprintln(w, results.Plain(line))
		}
	}
}
