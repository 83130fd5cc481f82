package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/results"
	"dlbench/results/encode"
)

// checkFlags are what `dlbench dataset check` takes.
type checkFlags struct {
	loader.CheckOptions
	strict   bool
	reader   string
	list     string
	null     bool
	maxBytes int64
}

func newDatasetCheck() *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{Use: "check PATH", Args: exactly("PATH"), RunE: f.run}
	addFormat(c, "text", "json")
	choice(c, &f.Decoder, "decoder", "decoder of JPEG files", decode.Kinds...)
	c.Flags().Var(count(&f.Threads, 0, 0), "threads", "decoding threads; 0: all CPUs that may be used")
	f.TimeLimit = loader.DefaultTimeLimit
	c.Flags().Var(duration(&f.TimeLimit, 0, 0), "time-limit", "time to decode an image, above which it is bad")
	addMaxBytes(c, &f.maxBytes, 0)
	c.Flags().BoolVar(&f.strict, "strict", false, "exit with 1 when an image is not good, or would stop --reader")
	choice(c, &f.reader, "reader", "reader whose failures --strict and --list report; pillow: torchvision's ImageFolder",
		append(slices.Clone(decode.ReaderNames), "any")...)
	c.Flags().StringVar(&f.list, "list", "", "write the names of files that would stop --reader to `FILE`")
	c.Flags().BoolVarP(&f.null, "null", "0", false, "end the names in --list with a zero byte, for xargs -0")
	return c
}

func (f *checkFlags) run(c *cobra.Command, args []string) error {
	path := args[0]
	set, err := openSet(c, path, f.maxBytes)
	lost := func(f loader.Fault) bool { return f.Lost }
	if err != nil && (set == nil || len(set.Samples) > 0 || !slices.ContainsFunc(set.Skipped, lost)) {
		return err // else every sample is bad
	}
	if _, err := decode.Library(); err != nil && f.Decoder == decode.Auto {
		fmt.Fprintln(c.ErrOrStderr(), "dlbench: Go's decoders are used: "+oneLine(err))
	}
	b := newBar(c.ErrOrStderr())
	f.Progress = func(done, total int) { b.update("checking "+path, float64(done)/float64(max(1, total))) }
	f.Memory = bench.MemoryFor(bench.PicturesAlone)
	list, err := f.openList()
	if err != nil {
		return err
	}
	census, _, err := set.Check(c.Context(), f.CheckOptions)
	b.Finish()
	sayNetwork(c.ErrOrStderr(), set)
	if census == nil {
		return err
	}
	reader := decode.ReaderOf(f.reader)
	stops := census.Stops.Count(reader)
	note, listed := f.writeList(list, set, census.Stops.Of(reader))
	text := func(w io.Writer) error {
		would := faults("would stop "+title(f.reader, set.Store), stops, census.Stops.Of(reader))
		if stops > 0 || list != nil {
			would.AddNote("", "", note)
		}
		tables := slices.Insert(censusTables(census), 1, would)
		return encode.WriteText(w, textWidth(c), tables...)
	}
	printed := forms{"text": text, "json": jsonOf(census)}.print(c)
	if werr := cmp.Or(listed, printed); werr != nil {
		return werr
	}
	if err != nil {
		return &exitError{fmt.Errorf("interrupted: %d images were checked", census.Images), exitInterrupted}
	}
	if census.Usable() == 0 {
		return fmt.Errorf("none of %d images can be used: %s", census.Images, census.Flawed())
	}
	return f.judge(census, stops, set.Store)
}

// judge is the error that --strict makes of a census.
func (f *checkFlags) judge(c *loader.Census, stops int, store string) error {
	var all []string
	if flawed := c.Flawed(); flawed != "" {
		all = append(all, fmt.Sprintf("%d of %d images are not good: %s", c.Images-c.Good, c.Images, flawed))
	}
	if stops > 0 {
		all = append(all, fmt.Sprintf("%d would stop %s", stops, title(f.reader, store)))
	}
	if !f.strict || len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}

// openList opens the file of --list before the check, which may take hours.
func (f *checkFlags) openList() (*os.File, error) {
	if f.list == "" && f.null {
		return nil, &bench.UsageError{Flag: "--null", Value: "true", Want: "it is about the names in --list FILE"}
	}
	if f.list == "" {
		return nil, nil
	}
	return os.Create(f.list)
}

// writeList writes the names of files, of shards once each, as they are found from here. A name with
// a line break would be two, one of which may be another file's: without --null it is left out,
// which is an error. The note says what was written, or how to.
func (f *checkFlags) writeList(to *os.File, set *loader.Set, stops iter.Seq[loader.Fault]) (note string, err error) {
	if to == nil {
		return "--list FILE writes these names to a file", nil
	}
	end := "\n"
	if f.null {
		end = "\x00"
	}
	out := bufio.NewWriter(to)
	last, names, broken := "", 0, error(nil)
	for s := range stops {
		name := filepath.Join(set.Root, filepath.FromSlash(s.Path))
		switch {
		case s.Path == last:
		case strings.Contains(name, end):
			const left = "--list %s: %q has a line break in its name and is left out: add --null"
			broken = fmt.Errorf(left, f.list, name)
		default:
			out.WriteString(name + end)
			names++
		}
		last = s.Path
	}
	return fmt.Sprintf("wrote %s: %s", f.list, results.Plural(names, "name")), errors.Join(broken, out.Flush(), to.Close())
}

// title is what people call a reader of files, or of shards.
func title(reader, store string) string {
	switch {
	case reader == "pillow" && store == loader.Files:
		return "torchvision's ImageFolder"
	case reader == "pillow":
		return "WebDataset (Pillow)"
	case reader == "any":
		return "one of these readers"
	}
	return cmp.Or(map[string]string{"opencv": "OpenCV", "dali": "DALI"}[reader], reader)
}

// mostListed bounds the lines of a kind in the text; the JSON names all.
const mostListed = 100

func censusTables(c *loader.Census) []encode.Table {
	var t encode.Table
	row := func(tells bool, name, format string, args ...any) {
		if tells {
			t.Row(name, fmt.Sprintf(format, args...))
		}
	}
	others := ""
	if n := len(c.Unsupported); n > 0 {
		others = fmt.Sprintf(", %d valid but not decoded here", n)
	}
	row(true, "images", "%d: %d good, %d damaged, %d bad%s", c.Images, c.Good, c.Damaged, len(c.Bad), others)
	row(true, "store", "%s, %s", c.Store, results.FormatBytes(c.Bytes))
	row(c.Shards > 0, "shards", "%d: with more DataLoader workers over all ranks than that, WebDataset stops", c.Shards)
	row(c.Seconds > 0 && c.Good+c.Damaged > 0, "read and decoded", "in %.2f s: %.0f images/s, %s/s%s", c.Seconds,
		float64(c.Images)/c.Seconds, results.FormatBytes(int64(float64(c.Bytes)/c.Seconds)), results.After(" by ", c.Decoder))
	row(c.Store == loader.Files || c.Store == loader.Tar, "would stop", "%s", stopped(c))
	decoded := len(c.Formats) > 0
	row(decoded, "formats", "%s", named(loader.Counts(c.Formats)))
	row(decoded && len(c.Spaces) > 0, "colour spaces", "%s", named(loader.Counts(c.Spaces)))
	row(decoded && len(c.Subsampling) > 0, "chroma", "%s", named(loader.Counts(c.Subsampling)))
	row(decoded, "progressive JPEG", "%d", c.Progressive)
	row(decoded, "EXIF orientation", "%d, which is ignored, as torchvision does", c.Oriented)
	row(decoded, "converted", "%s", cmp.Or(named(loader.Counts(c.Converted)), "none"))
	row(c.Pixels > 0, "width", "%s pixels", spread(c.Widths))
	row(c.Pixels > 0, "height", "%s pixels", spread(c.Heights))
	row(c.Pixels > 0, "sizes", "%s", named(c.Sizes))
	row(c.Bytes > 0, "bytes a sample", "%s", spread(c.FileBytes))
	labels := named(c.Labels[:min(len(c.Labels), mostListed)])
	if more := len(c.Labels) - mostListed; more > 0 {
		labels += fmt.Sprintf(", %d more", more)
	}
	row(len(c.Labels) > 0, "labels", "%d: %s", len(c.Labels), labels)
	var slow []string
	for _, s := range c.Slowest {
		slow = append(slow, results.Plain(loader.Fault{Path: s.Path, Offset: s.Offset}.At())+" "+
			results.FormatSeconds(s.Seconds))
	}
	row(len(slow) > 0, "slowest", "%s", strings.Join(slow, ", "))
	tables := []encode.Table{t}
	for _, s := range []struct {
		title string
		all   []loader.Fault
	}{{"bad", c.Bad}, {"valid, not decoded here", c.Unsupported}, {"damaged", c.Damage},
		{"content that does not fit the name", c.Misnamed}, {"no samples", c.Passed}} {
		tables = append(tables, faults(s.title, len(s.all), slices.Values(s.all)))
	}
	return tables
}

// faults is a section that names the first of so many.
func faults(title string, n int, all iter.Seq[loader.Fault]) encode.Table {
	var lines []string
	for f := range all {
		if len(lines) == mostListed {
			lines = append(lines, fmt.Sprintf("and %d more (--format json names all)", n-mostListed))
			break
		}
		lines = append(lines, f.At()+": "+f.Reason)
	}
	return encode.Section(fmt.Sprintf("%s (%d)", title, n), lines...)
}

// stopped says how many files would stop each reader.
func stopped(c *loader.Census) string {
	var parts []string
	for _, reader := range decode.ReaderNames {
		n := c.Stops.Count(decode.ReaderOf(reader))
		parts = append(parts, fmt.Sprintf("%s: %d of %d", title(reader, c.Store), n, c.Images))
	}
	return strings.Join(parts, ", ")
}

// named are names with how often they are, as they stand.
func named(all []loader.Count) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("%s %d", results.Plain(c.Name), c.Images))
	}
	return strings.Join(parts, ", ")
}

func spread(r loader.Range) string {
	if r.Min == r.Max {
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d to %d, median %d", r.Min, r.Max, r.Median)
}
