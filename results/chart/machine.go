package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Longest names, in characters, where others stand beside them.
const (
	maxMachine = 28
	maxDevice  = 36
	maxModel   = 48
	maxGPUs    = 100
)

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
// come from. name is said where there are several.
func captions(reports []*results.Report, dtype string) [][]string {
	var all [][]string
	names := machines(reports)
	for i, r := range reports {
		var parts []string
		cpu := cmp.Or(results.Clip(clean(r.Host.CPU.Model), maxModel), "unknown CPU")
		if clean(r.Label) != "" || len(reports) > 1 && names[i] != cpu {
			cpu = names[i] + ": " + cpu
		}
		parts = append(parts, cpu, gpus(r.Host.GPUs))
		if !r.Started.IsZero() {
			parts = append(parts, r.Started.UTC().Format("2006-01-02")+" UTC")
		}
		parts = append(parts, strings.TrimSpace("dlbench "+results.Clip(clean(r.Tool.Version), maxModel)))
		if b, ok := batchOf(r, dtype); ok {
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

// gpus names the GPUs of a host: "2 x NVIDIA H100", "no GPU".
func gpus(all []results.GPU) string {
	if len(all) == 0 {
		return "no GPU"
	}
	var names []string
	count := map[string]int{}
	for _, g := range all {
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
