package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/loader"
	"dlbench/loader/s3"
	"dlbench/loader/synth"
	"dlbench/results"
)

// defaultMaxBytes bounds what a run reads of an object store: providers charge for it.
const defaultMaxBytes = 10e9

// addMaxBytes adds --max-bytes, which without a default is any number.
func addMaxBytes(c *cobra.Command, most *int64, usual int64) {
	parse := func(text string) (int64, error) {
		n, err := humanize.ParseBytes(text)
		if err != nil || n == 0 || n > 1<<60 {
			return 0, errors.New("want a size above 0, such as 10GB")
		}
		return int64(n), nil
	}
	format := func(n int64) string {
		if n == 0 {
			return ""
		}
		return results.FormatBytes(n)
	}
	*most = usual
	c.Flags().Var(&value[int64]{most, "SIZE", parse, format}, "max-bytes",
		"bytes of s3://BUCKET/PREFIX that are read in all, at most")
}

// openSet opens the data set at path, all of it, and says what is read over a network.
func openSet(c *cobra.Command, path string, most int64) (*loader.Set, error) {
	return bench.OpenSet(c.Context(), path, bench.RemoteOptions{MaxBytes: most, Announce: func(text string) {
		fmt.Fprintln(c.ErrOrStderr(), text)
	}})
}

// sayNetwork says what was read of a set over a network.
func sayNetwork(w io.Writer, set *loader.Set) {
	if set.Remote != nil {
		fmt.Fprintf(w, "read over the network: %s\n", bench.NetworkOf(set.Remote, 0))
	}
}

// packFrom packs the set at path, a folder, a file or a place of a bucket, into the folder dir.
func packFrom(c *cobra.Command, path, dir string, most int64, o synth.PackOptions) (p synth.Packing, err error) {
	if !strings.HasPrefix(path, s3.Prefix) {
		return synth.Pack(c.Context(), path, dir, o)
	}
	set, err := openSet(c, path, most)
	if err != nil {
		return p, err
	}
	defer sayNetwork(c.ErrOrStderr(), set)
	return synth.PackSet(c.Context(), set, dir, o)
}

// intoBucket has do make a set in the folder dir. Where that is s3://BUCKET/PREFIX, do makes it in a
// temporary folder, whose files become objects: all of them, or none is left.
func intoBucket(ctx context.Context, dir string, progress synth.Progress,
	do func(dir string) (synth.Info, error)) (info synth.Info, err error) {
	if !strings.HasPrefix(dir, s3.Prefix) {
		return do(dir)
	}
	bucket, err := s3.Open(dir, 0)
	if err != nil {
		return info, err
	}
	if err := bucket.Empty(ctx); err != nil {
		return info, err
	}
	temp, err := os.MkdirTemp("", "dlbench-")
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	made := filepath.Join(temp, "set")
	if info, err = do(made); err != nil {
		return info, err
	}
	return info, bucket.Upload(ctx, made, progress)
}
