package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"dlbench/loader"
	"dlbench/results"
)

// mostListed bounds the lines of a kind in the text; the JSON names all.
const mostListed = 100

func writeCensusText(w io.Writer, c *loader.Census) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(tw, name+"\t"+format+"\n", args...) }
	row("images", "%d: %d good, %d damaged, %d bad", c.Images, c.Good, c.Damaged, len(c.Bad))
	row("store", "%s, %s", c.Store, results.FormatBytes(c.Bytes))
	if c.Seconds > 0 && c.Images > 0 {
		row("read and decoded", "in %.2f s: %.0f images/s, %s/s%s", c.Seconds, float64(c.Images)/c.Seconds,
			results.FormatBytes(int64(float64(c.Bytes)/c.Seconds)), prefixed(" by ", c.Decoder))
	}
	if len(c.Formats) > 0 {
		row("formats", "%s", counts(c.Formats))
		row("colour spaces", "%s", counts(c.Spaces))
		if len(c.Subsampling) > 0 {
			row("chroma", "%s", counts(c.Subsampling))
		}
		row("progressive JPEG", "%d", c.Progressive)
		row("EXIF orientation", "%d, which is ignored, as torchvision does", c.Oriented)
		row("converted", "%s", cmp.Or(counts(c.Converted), "none"))
		row("width", "%s pixels", spread(c.Widths))
		row("height", "%s pixels", spread(c.Heights))
		var sizes []string
		for _, s := range c.Sizes {
			sizes = append(sizes, fmt.Sprintf("%s %d", s.Name, s.Images))
		}
		row("sizes", "%s", strings.Join(sizes, ", "))
	}
	row("bytes a sample", "%s", spread(c.FileBytes))
	var labels []string
	for i, l := range c.Labels {
		if i == mostListed {
			labels = append(labels, fmt.Sprintf("%d more", len(c.Labels)-i))
			break
		}
		labels = append(labels, fmt.Sprintf("%s %d", results.Plain(l.Name), l.Images))
	}
	row("labels", "%d: %s", len(c.Labels), strings.Join(labels, ", "))
	var slow []string
	for _, s := range c.Slowest {
		slow = append(slow, fmt.Sprintf("%s %s", results.Plain(loader.Fault{Path: s.Path, Offset: s.Offset}.At()), results.FormatValue(s.Seconds, results.Seconds)))
	}
	row("slowest", "%s", strings.Join(slow, ", "))
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, list := range []struct {
		title  string
		faults []loader.Fault
	}{{"bad", c.Bad}, {"damaged", c.Damage}, {"named otherwise than they are", c.Misnamed}, {"no samples", c.Passed}} {
		writeFaults(w, list.title, list.faults)
	}
	return nil
}

func writeFaults(w io.Writer, title string, faults []loader.Fault) {
	if len(faults) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s (%d)\n", title, len(faults))
	for _, f := range faults[:min(len(faults), mostListed)] {
		fmt.Fprintf(w, "  %s: %s\n", results.Plain(f.At()), results.Plain(f.Reason))
	}
	if more := len(faults) - mostListed; more > 0 {
		fmt.Fprintf(w, "  and %d more (--format json names all)\n", more)
	}
}

// counts are names with how often they are, most often first.
func counts(m map[string]int) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := m[b] - m[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
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

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
