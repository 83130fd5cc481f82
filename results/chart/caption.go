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

// captions are the parts of the lines that say on what and when the data of reports was
// measured.
func captions(reports []*results.Report) [][]string {
	var all [][]string
	names := machines(reports)
	for i, r := range reports {
		cpu := cmp.Or(results.Clip(clean(r.Host.CPU.Model), maxModel), "unknown CPU")
		if clean(r.Label) != "" || len(reports) > 1 && names[i] != cpu {
			cpu = names[i] + ": " + cpu
		}
		parts := []string{cpu}
		if n := r.Host.CPU.Usable; positive(n) {
			parts = append(parts, strconv.FormatFloat(n, 'g', 3, 64)+" cores")
		}
		if parts = append(parts, gpuText(r.Host)); len(r.Host.Disks) > 0 {
			parts = append(parts, clean("disk "+r.Host.Disks[0].Title()))
		}
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
	return shared(all)
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
