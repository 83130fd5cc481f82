//go:build linux

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"dlbench/results"
)

// table writes the report as Markdown.
func (r *report) table(out io.Writer) error {
	w := bufio.NewWriter(out)
	r.about(w)
	base := "dlbench"
	for _, c := range r.cases {
		if strings.HasPrefix(c.name, own) && len(c.passes) > 0 && baseline(r.cases, c) == nil {
			base = c.name
		}
	}
	fmt.Fprintf(w, "| peer | cores | images/s | images per CPU second | %[1]s / peer | %[1]s / peer, CPU time | by CPU time %[1]s is |\n", base)
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- |")
	for i, c := range r.cases {
		if res := &r.Results[i]; c.whole() && res.Status == results.OK {
			fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s | %s |\n", c.name, c.cores, number(res.Metric(throughput), 0),
				number(inverse(res.Metric(cpu)), 0), number(res.Metric(throughputRatio), 3), number(res.Metric(cpuRatio), 3), verdict(res.Metric(cpuRatio)))
		}
	}
	r.decoding(w)
	r.notes(w)
	return w.Flush()
}

func (r *report) about(w io.Writer) {
	h := r.Host
	model := cmp.Or(h.CPU.Model, "unknown CPU")
	if v := h.Virtualization; v != "" && v != "none" && v != "unknown" {
		model += ", a virtual machine"
	}
	fmt.Fprint(w, "## Preprocessing beside torchvision and OpenCV\n\n")
	fmt.Fprintf(w, "- Date: %s\n", r.Started.UTC().Format("2006-01-02"))
	fmt.Fprintf(w, "- Machine: %g CPUs, %s, %s\n", h.CPU.Usable, model, humanize.IBytes(uint64(h.Memory.Total)))
	fmt.Fprintf(w, "- Software: Linux %s, %s\n", h.Kernel, r.software())
	fmt.Fprintf(w, "- Load average when it began: %s (a busy machine makes intervals wide)\n", cmp.Or(r.load, "unknown"))
	fmt.Fprintf(w, "- Images: %d files of %s; a pass is %d images, each read from its file, which is in the page cache\n",
		r.Dataset.Images, humanize.Bytes(uint64(r.Dataset.Bytes)), r.images)
	fmt.Fprintf(w, "- Sample: decode, random resized crop (scale 0.08-1, ratio 3/4-4/3) to %dx%d, flip, normalise, float32, in batches of %d\n", width, height, batch)
	fmt.Fprintln(w, "- Python peers have glibc keep freed memory, as it does in any process that has freed a batch: without, OpenCV and Pillow fault pages in anew for each image")
	fmt.Fprintf(w, "- %d rounds of a pass each, in turn and each round beginning with another, after a pass that does not count\n", r.rounds)
	fmt.Fprintf(w, "- Medians and their 95 %% intervals; below %d rounds, and where rounds follow each other closely, minimum and maximum in parentheses. Ratios are of the same round.\n\n", results.MinSamples)
}

// decoding is the table of peers that only decode.
func (r *report) decoding(w io.Writer) {
	head := "\nDecoding alone, to RGB:\n\n| peer | cores | images/s | images per CPU second |\n| --- | --- | --- | --- |\n"
	for i, c := range r.cases {
		if res := &r.Results[i]; !c.whole() && res.Status == results.OK {
			fmt.Fprintf(w, "%s| %s | %d | %s | %s |\n", head, c.name, c.cores, number(res.Metric(throughput), 0), number(inverse(res.Metric(cpu)), 0))
			head = ""
		}
	}
}

// notes says what each peer does, and what is to be heeded.
func (r *report) notes(w io.Writer) {
	fmt.Fprint(w, "\nWhat each does:\n\n")
	for i, c := range r.cases {
		if r.Results[i].Status != results.OK {
			fmt.Fprintf(w, "- %s on %d: %s: %s\n", c.name, c.cores, r.Results[i].Status, r.Results[i].Reason)
			continue
		}
		fmt.Fprintf(w, "- %s on %d: %s", c.name, c.cores, c.hello.Does)
		if v := c.hello.Software["libjpeg-turbo"]; v != "" {
			fmt.Fprintf(w, "; libjpeg-turbo %s", v)
		}
		fmt.Fprintln(w)
	}
	for _, s := range r.Warnings {
		fmt.Fprintf(w, "\nWarning: %s\n", s)
	}
	if r.Status != results.Complete {
		fmt.Fprintf(w, "\nThe comparison was interrupted: these are the rounds that were finished.\n")
	}
}

// software names the versions of all peers; the libjpeg-turbo of each is its own.
func (r *report) software() string {
	versions := map[string]bool{}
	for _, c := range r.cases {
		for name, v := range c.hello.Software {
			if name != "libjpeg-turbo" {
				versions[name+" "+v] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(versions)), ", ")
}

// number is a metric's median and interval, or its range in parentheses.
func number(m *results.Metric, decimals int) string {
	switch {
	case m == nil:
		return "-"
	case m.Lo == nil:
		return fmt.Sprintf("%.[4]*[1]f (%.[4]*[2]f, %.[4]*[3]f)", m.Median, m.Min, m.Max, decimals)
	}
	return fmt.Sprintf("%.[4]*[1]f [%.[4]*[2]f, %.[4]*[3]f]", m.Median, *m.Lo, *m.Hi, decimals)
}

// inverse is a metric's reciprocal: images per second of seconds per image.
func inverse(m *results.Metric) *results.Metric {
	n := &results.Metric{Median: 1 / m.Median, Min: 1 / m.Max, Max: 1 / m.Min}
	if m.Lo != nil {
		lo, hi := 1 / *m.Hi, 1 / *m.Lo
		n.Lo, n.Hi = &lo, &hi
	}
	return n
}

// verdict says which is faster only where the whole interval does.
func verdict(ratio *results.Metric) string {
	switch {
	case ratio == nil:
		return "-"
	case ratio.Lo == nil:
	case *ratio.Lo > 1:
		return "ahead"
	case *ratio.Hi < 1:
		return "behind"
	}
	return "inconclusive"
}
