package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Longest names, in characters, where others stand next to them.
const (
	maxMachine = 28
	maxDevice  = 36
	maxModel   = 48
	maxGPUs    = 100
)

// short makes a name from a report fit to stand next to others.
func short(s string) string { return results.Clip(clean(s), maxDevice) }

// machines names each report.
func machines(reports []*results.Report) []string { return results.MachineNames(reports, maxMachine) }

// batchOf is the batch that a report's run was asked for, in elements of dtype;
// ok is false when the report does not say.
func batchOf(r *results.Report, dtype string) (b theory.Batch, ok bool) {
	s := r.Config.Shape
	if len(s) != 3 {
		return b, false
	}
	b = theory.Batch{Images: r.Config.Batch, Height: s[0], Width: s[1], Channels: s[2], DType: dtype}
	return b, b.Bytes() > 0
}

// captions are the parts of the lines that say where and when the data of reports
// come from; about says what matters of a host. name is said where there are several.
func captions(reports []*results.Report, about func(results.Host) string) [][]string {
	var all [][]string
	names := machines(reports)
	for i, r := range reports {
		var parts []string
		cpu := cmp.Or(results.Clip(clean(r.Host.CPU.Model), maxModel), "unknown CPU")
		if clean(r.Label) != "" || len(reports) > 1 && names[i] != cpu {
			cpu = names[i] + ": " + cpu
		}
		parts = append(parts, cpu, about(r.Host))
		if !r.Started.IsZero() {
			parts = append(parts, r.Started.UTC().Format("2006-01-02")+" UTC")
		}
		parts = append(parts, strings.TrimSpace("dlbench "+results.Clip(clean(r.Tool.Version), maxModel)))
		if b, ok := batchOf(r, cmp.Or(clean(r.Config.DType), "float32")); ok {
			parts = append(parts, fmt.Sprintf("batch %s, %s", b, results.FormatBytes(b.Bytes())))
		}
		if r.Status == results.Interrupted {
			parts = append(parts, "interrupted run")
		}
		all = append(all, parts)
	}
	return all
}

// shared moves what all of several captions end with to a line for all.
func shared(captions [][]string) (all [][]string) {
	ends := func(n int) bool { // alike, before the last n parts
		return !slices.ContainsFunc(captions, func(c []string) bool {
			first := captions[0]
			return min(len(c), len(first)) < n+2 || c[len(c)-1-n] != first[len(first)-1-n]
		})
	}
	n := 0
	for len(captions) > 1 && ends(n) {
		n++
	}
	if n == 0 {
		return captions
	}
	for _, c := range captions {
		all = append(all, c[:len(c)-n])
	}
	last := slices.Clone(captions[0][len(captions[0])-n:])
	last[0] = "all: " + last[0]
	return append(all, last)
}

// gpuText names the GPUs of a host: "2 x NVIDIA H100", "no GPU".
func gpuText(h results.Host) string {
	var names []string
	for _, same := range groups(h.GPUs, func(g results.GPU) string { return cmp.Or(clean(g.Name), "unknown GPU") }) {
		name := cmp.Or(clean(same[0].Name), "unknown GPU")
		if n := len(same); n > 1 {
			name = fmt.Sprintf("%d x %s", n, name)
		}
		names = append(names, name)
	}
	return results.Clip(cmp.Or(results.List(names...), "no GPU"), maxGPUs)
}

// diskText says what holds the data: "disk nvme0n1 Samsung SSD 990 PRO, nvme, Gen4 x4, ext4".
func diskText(h results.Host) string {
	if len(h.Disks) == 0 {
		return "disk unknown"
	}
	return clean("disk " + h.Disks[0].Title())
}

// cpuText says what there is of processors and how fast they run: "16 cores with
// 32 threads, 8 usable, 3.1 GHz, governor performance".
func cpuText(h results.Host) string {
	c := h.CPU
	cores, usable, clock, governor := "cores unknown", "", "", ""
	switch {
	case c.Cores > 0 && c.Threads > c.Cores:
		cores = fmt.Sprintf("%s with %d threads", results.Plural(c.Cores, "core"), c.Threads)
	case c.Cores > 0:
		cores = results.Plural(c.Cores, "core")
	case c.Threads > 0:
		cores = results.Plural(c.Threads, "thread")
	}
	if c.Usable > 0 && c.Usable < float64(max(c.Threads, c.Cores)) {
		usable = strconv.FormatFloat(c.Usable, 'g', 3, 64) + " usable"
	}
	if positive(c.Hz) {
		clock = strconv.FormatFloat(c.Hz/1e9, 'g', 3, 64) + " GHz"
	}
	if c.Governor != results.Unknown {
		governor = results.After("governor ", short(c.Governor))
	}
	return results.List(cores, usable, clock, governor)
}

// imagesText says how many images a batch has, unless the reports differ.
func imagesText(reports []*results.Report) string {
	n := reports[0].Config.Batch
	if n <= 0 || slices.ContainsFunc(reports, func(r *results.Report) bool { return r.Config.Batch != n }) {
		return ""
	}
	return fmt.Sprintf("batch of %d images, ", n)
}

// upper makes the first letter of s, an ASCII one, upper case.
func upper(s string) string { return string(s[0]-'a'+'A') + s[1:] }
