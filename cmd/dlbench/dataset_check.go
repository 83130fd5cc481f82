package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"dlbench/loader"
	"dlbench/loader/decode"
)

// checkFlags are what `dlbench dataset check` takes.
type checkFlags struct {
	loader.CheckOptions
	strict bool
}

func newDatasetCheck() *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{Use: "check PATH", Args: exactly("PATH"), RunE: f.run}
	choice(c, new(string), "format", "of the output", "text", "json")
	choice(c, &f.Decoder, "decoder", "of JPEG", decode.Kinds...)
	c.Flags().Var(count(&f.Threads, 0), "threads", "that decode; 0: all CPUs that may be used")
	c.Flags().DurationVar(&f.TimeLimit, "time-limit", loader.DefaultTimeLimit, "for an image, above which it is bad")
	bound(c, "time-limit", "want a time above 0", func() bool { return f.TimeLimit >= 0 })
	c.Flags().BoolVar(&f.strict, "strict", false, "exit with 1 when an image is bad")
	return c
}

func (f *checkFlags) run(c *cobra.Command, args []string) error {
	path := args[0]
	set, err := loader.Open(path, loader.OpenOptions{})
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: no such file or folder", path)
	}
	if err != nil && (set == nil || len(set.Skipped) == 0) {
		return err
	}
	if _, err := decode.Library(); err != nil && f.Decoder == decode.Auto {
		fmt.Fprintln(c.ErrOrStderr(), "dlbench: Go's decoders are used: "+oneLine(err))
	}
	b := newBar(c.ErrOrStderr())
	f.Progress = func(done, total int) { b.update("checking "+path, float64(done)/float64(max(1, total))) }
	census, _, err := set.Check(c.Context(), f.CheckOptions)
	b.Finish()
	if census == nil {
		return err
	}
	text := func(w io.Writer) error { return writeCensus(w, census) }
	if werr := (forms{"text": text, "json": jsonOf(census)}).print(c); werr != nil {
		return werr
	}
	if err != nil {
		return &exitError{fmt.Errorf("interrupted: %d images were checked", census.Images), exitInterrupted}
	}
	if n := len(census.Bad); f.strict && n > 0 {
		return fmt.Errorf("%d of %d images are bad", n, census.Images)
	}
	return nil
}
