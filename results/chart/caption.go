package chart

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// machines names each report, in at most 28 characters.
func machines(reports []*results.Report) []string { return results.MachineNames(reports, 28) }

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
// measured. What all of several have in common stands in a line of its own.
func captions(reports []*results.Report) (all [][]string) {
	for i, name := range machines(reports) {
		all = append(all, caption(reports[i], name, len(reports) > 1))
	}
	if len(all) < 2 {
		return all
	}
	common := results.Common(all)
	for i := range all {
		all[i] = results.Without(all[i], common...)
	}
	if len(common) > 0 {
		common[0] = "all: " + common[0]
	}
	return append(all, common)
}

// caption is that of one report.
func caption(r *results.Report, name string, several bool) []string {
	cpu := cmp.Or(clean(r.Host.CPU.Model), "unknown CPU")
	if clean(r.Label) != "" || several && name != cpu {
		cpu = name + ": " + cpu
	}
	parts := []string{cpu}
	if n := r.Host.CPU.Usable; positive(n) {
		parts = append(parts, strconv.FormatFloat(n, 'g', 3, 64)+" cores")
	}
	if parts = append(parts, clean(r.Host.GPUTitle())); len(r.Host.Disks) > 0 {
		parts = append(parts, clean("disk "+r.Host.Disks[0].Title()))
	}
	if !r.Started.IsZero() {
		parts = append(parts, r.Started.UTC().Format("2006-01-02")+" UTC")
	}
	if r.Verdict != nil && r.Verdict.Answer == results.AnswerBusy {
		parts = append(parts, "machine busy")
	}
	parts = append(parts, strings.TrimSpace("dlbench "+short(r.Tool.Version)))
	if b, ok := batchOf(r, cmp.Or(clean(r.Config.DType), "float32")); ok {
		parts = append(parts, fmt.Sprintf("batch %s, %s", b, results.FormatBytes(b.Bytes())))
	}
	if r.Status == results.Interrupted {
		parts = append(parts, "interrupted run")
	}
	return parts
}
