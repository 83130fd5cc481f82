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
func shared(captions [][]string) [][]string {
	if len(captions) < 2 {
		return captions
	}
	var last []string
	all := slices.Clone(captions)
	for same := true; same; {
		for _, c := range all {
			same = same && len(c) > 1 && c[len(c)-1] == all[0][len(all[0])-1]
		}
		if same {
			last = append([]string{all[0][len(all[0])-1]}, last...)
			for i := range all {
				all[i] = all[i][:len(all[i])-1]
			}
		}
	}
	if last == nil {
		return captions
	}
	last[0] = "all: " + last[0]
	return append(all, last)
}

// gpuText names the GPUs of a host: "2 x NVIDIA H100", "no GPU".
func gpuText(h results.Host) string {
	if len(h.GPUs) == 0 {
		return "no GPU"
	}
	var names []string
	count := map[string]int{}
	for _, g := range h.GPUs {
		name := cmp.Or(clean(g.Name), "unknown GPU")
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if n := count[name]; n > 1 {
			names[i] = fmt.Sprintf("%d x %s", n, name)
		}
	}
	return results.Clip(strings.Join(names, ", "), maxGPUs)
}

// diskText says what holds the data: "nvme0n1 Samsung SSD 990 PRO, nvme, Gen4 x4,
// ext4".
func diskText(h results.Host) string {
	if len(h.Disks) == 0 {
		return "disk unknown"
	}
	d := h.Disks[0]
	kind := clean(d.Kind)
	switch kind {
	case results.DiskSpinning:
		kind = "hard disk"
	case results.DiskUnknown, "":
		kind = "kind unknown"
	}
	name := strings.TrimSpace("disk " + short(d.Name) + " " + results.Clip(clean(d.Model), maxModel))
	parts := []string{name, kind}
	if link := clean(d.Link); link != "" && link != "unknown" {
		parts = append(parts, results.Clip(link, maxDevice))
	}
	return strings.Join(append(parts, cmp.Or(short(d.FileSystem), "file system unknown")), ", ")
}

// cpuText says what there is of processors and how fast they run: "16 cores with
// 32 threads, 8 usable, 3.1 GHz, governor performance".
func cpuText(h results.Host) string {
	c := h.CPU
	var parts []string
	switch {
	case c.Cores > 0 && c.Threads > c.Cores:
		parts = append(parts, fmt.Sprintf("%s with %d threads", results.Plural(c.Cores, "core"), c.Threads))
	case c.Cores > 0:
		parts = append(parts, results.Plural(c.Cores, "core"))
	case c.Threads > 0:
		parts = append(parts, results.Plural(c.Threads, "thread"))
	default:
		parts = append(parts, "cores unknown")
	}
	if c.Usable > 0 && c.Usable < float64(max(c.Threads, c.Cores)) {
		parts = append(parts, strconv.FormatFloat(c.Usable, 'g', 3, 64)+" usable")
	}
	if positive(c.Hz) {
		parts = append(parts, strconv.FormatFloat(c.Hz/1e9, 'g', 3, 64)+" GHz")
	}
	if g := clean(c.Governor); g != "" && g != "unknown" {
		parts = append(parts, "governor "+results.Clip(g, maxDevice))
	}
	return strings.Join(parts, ", ")
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
