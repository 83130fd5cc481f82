package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/loader"
	"dlbench/loader/decode"
)

func newDatasetCheck() *cobra.Command {
	threads := countFlag{0, 0}
	var limit time.Duration
	var strict bool
	var format, decoder *choiceFlag
	c := &cobra.Command{
		Use:   "check PATH",
		Short: "Read and decode every image whole: what there is, what is damaged or bad, and why",
		Long: `Check reads every sample of a folder of images, of tar shards or of records whole,
decodes it, and counts formats, sizes, colour spaces and labels. It names what is bad,
which cannot be used, what is damaged, which the decoder warned of, and the images that
took longest.`,
		Example: `  dlbench dataset check imagenet/train
  dlbench dataset check shards --format json > census.json
  dlbench dataset check photos --strict && train`,
		Args: exactly("PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 0 {
				return &bench.UsageError{Flag: "--time-limit", Value: limit.String(), Want: "want a time above 0"}
			}
			set, err := loader.Open(args[0], loader.OpenOptions{})
			if errors.Is(err, fs.ErrNotExist) {
				return usage(fmt.Errorf("%s: no such file or folder", args[0]))
			}
			if err != nil && (set == nil || len(set.Skipped) == 0) {
				return err
			}
			if _, err := decode.Library(); err != nil && decoder.value == decode.Auto {
				fmt.Fprintln(c.ErrOrStderr(), "dlbench: Go's decoders are used: "+oneLine(err))
			}
			b := newBar(c.ErrOrStderr())
			census, _, err := set.Check(c.Context(), loader.CheckOptions{Decoder: decoder.value, Threads: threads.value, TimeLimit: limit,
				Progress: func(done, total int) {
					b.update(bench.Progress{Case: "checking " + args[0], Share: float64(done) / float64(max(1, total))})
				}})
			b.close()
			if census == nil {
				return err
			}
			if werr := writeCensus(c.OutOrStdout(), census, format.value); werr != nil {
				return werr
			}
			if err != nil {
				return fmt.Errorf("interrupted: %d images were checked%w", census.Images, quiet{context.Canceled})
			}
			if n := len(census.Bad); strict && n > 0 {
				return fmt.Errorf("%d of %d images are bad", n, census.Images)
			}
			return nil
		},
	}
	format = choice(c, "format", "of the output", "text", "json")
	decoder = choice(c, "decoder", "of JPEG", decode.Kinds...)
	c.Flags().Var(&threads, "threads", "that decode; 0: all CPUs that may be used")
	c.Flags().DurationVar(&limit, "time-limit", loader.DefaultTimeLimit, "for an image, above which it is bad")
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 when an image is bad")
	return c
}

func writeCensus(w io.Writer, c *loader.Census, format string) error {
	if format == "json" {
		return writeJSON(w, c)
	}
	return buffered(w, func(w io.Writer) error { return writeCensusText(w, c) })
}
