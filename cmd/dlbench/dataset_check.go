package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/results"
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
	lost := func(f loader.Fault) bool { return f.Lost }
	if err != nil && (set == nil || len(set.Samples) > 0 || !slices.ContainsFunc(set.Skipped, lost)) {
		return err // else every sample is bad
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

// mostListed bounds the lines of a kind in the text; the JSON names all.
const mostListed = 100

func writeCensus(w io.Writer, c *loader.Census) error {
	lines := newColumns(w, 0)
	lines.row("images\t%d: %d good, %d damaged, %d bad", c.Images, c.Good, c.Damaged, len(c.Bad))
	lines.row("store\t%s, %s", c.Store, results.FormatBytes(c.Bytes))
	if c.Seconds > 0 && c.Images > 0 {
		by := ""
		if c.Decoder != "" {
			by = " by " + c.Decoder
		}
		lines.row("read and decoded\tin %.2f s: %.0f images/s, %s/s%s", c.Seconds, float64(c.Images)/c.Seconds,
			results.FormatBytes(int64(float64(c.Bytes)/c.Seconds)), by)
	}
	if len(c.Formats) > 0 {
		lines.pictures(c)
	}
	lines.row("bytes a sample\t%s", spread(c.FileBytes))
	var labels []string
	for _, l := range c.Labels[:min(len(c.Labels), mostListed)] {
		labels = append(labels, fmt.Sprintf("%s %d", results.Plain(l.Name), l.Images))
	}
	if more := len(c.Labels) - mostListed; more > 0 {
		labels = append(labels, fmt.Sprintf("%d more", more))
	}
	lines.row("labels\t%d: %s", len(c.Labels), strings.Join(labels, ", "))
	var slow []string
	for _, s := range c.Slowest {
		at := loader.Fault{Path: s.Path, Offset: s.Offset}.At()
		slow = append(slow, results.Plain(at)+" "+results.FormatSeconds(s.Seconds))
	}
	lines.row("slowest\t%s", strings.Join(slow, ", "))
	if err := lines.Flush(); err != nil {
		return err
	}
	for _, list := range []struct {
		title  string
		faults []loader.Fault
	}{{"bad", c.Bad}, {"damaged", c.Damage}, {"named otherwise than they are", c.Misnamed}, {"no samples", c.Passed}} {
		if len(list.faults) > 0 {
			fmt.Fprintf(w, "\n%s (%d)\n", list.title, len(list.faults))
			listFaults(w, list.faults, mostListed, " (--format json names all)")
		}
	}
	return nil
}

// pictures adds the lines about what images are.
func (l columns) pictures(c *loader.Census) {
	l.row("formats\t%s", counts(c.Formats))
	l.row("colour spaces\t%s", counts(c.Spaces))
	if len(c.Subsampling) > 0 {
		l.row("chroma\t%s", counts(c.Subsampling))
	}
	l.row("progressive JPEG\t%d", c.Progressive)
	l.row("EXIF orientation\t%d, which is ignored, as torchvision does", c.Oriented)
	l.row("converted\t%s", cmp.Or(counts(c.Converted), "none"))
	l.row("width\t%s pixels", spread(c.Widths))
	l.row("height\t%s pixels", spread(c.Heights))
	var sizes []string
	for _, s := range c.Sizes {
		sizes = append(sizes, fmt.Sprintf("%s %d", s.Name, s.Images))
	}
	l.row("sizes\t%s", strings.Join(sizes, ", "))
}

// counts are names with how often they are, most often first.
func counts(m map[string]int) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(m[b]-m[a], strings.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, m[n])
	}
	return strings.Join(names, ", ")
}

func spread(r loader.Range) string {
	if r.Min == r.Max {
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d to %d, median %d", r.Min, r.Max, r.Median)
}
