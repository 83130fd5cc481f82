package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"dlbench/bench/theory"
	"dlbench/results"
)

// allBatchTimes are the copies of each batch.
func allBatchTimes(reports []*results.Report) (all []bars) {
	for _, b := range batches(reports) {
		all = append(all, batchTimes(reports, b))
	}
	return all
}

// batches lists the different batches of reports.
func batches(reports []*results.Report) []theory.Batch {
	var all []theory.Batch
	for _, r := range reports {
		if b, ok := batchOf(r, "float32"); ok && !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

// batchCopies gathers the copies of a batch from host to device and within main
// memory, of the reports that have that batch.
func batchCopies(reports []*results.Report, batch theory.Batch) []copies {
	return pcieCopies(reports, func(rep *results.Report, c copyCase) bool {
		want := "h2d"
		if c.Device == "host" {
			want = "h2h"
		}
		have, _ := batchOf(rep, "float32")
		return have == batch && c.Dir == want && c.Bytes == batch.Bytes() && c.DType == "float32" &&
			(has(c.Result, "time") || c.Result.Status == results.Failed)
	})
}

// copyKey is what copies have in common that are compared: on one
// machine the device, of several the kind of memory.
type copyKey struct {
	spec, mem     string
	host, assumed bool
}

// batchTimes has a group for each device of one machine or each kind of memory of
// several, measured and assumed apart, and copies within main memory last; none where
// nothing is copied to a device.
func batchTimes(reports []*results.Report, batch theory.Batch) bars {
	v := bars{
		title: "Time to copy one batch to the GPU",
		subtitle: fmt.Sprintf("Host to device, %s (%s), warm source; median, shorter is better",
			batch, results.FormatBytes(batch.Bytes())),
		quantity: timePerBatch,
		captions: captions(reports, gpuText),
	}
	all := batchCopies(reports, batch)
	worked := func(c copyCase) bool { return c.Device != "host" && c.Result.Status == results.OK }
	if !slices.ContainsFunc(all, func(c copies) bool { return slices.ContainsFunc(c.Results, worked) }) {
		return v
	}
	v.compare(reports)
	for _, c := range all {
		for _, r := range c.byMem() {
			k := copyKey{host: c.Spec == "host", assumed: len(r.Result.Assumed) > 0}
			g, row := barGroup{}, copyRow(r.Result)
			if k.assumed {
				g.Assumed = []string{"link"}
			}
			if v.machines == nil {
				k.spec = c.Spec
				g.Title, g.Marks = c.named(reports[c.report]), linkMarks(r.Result)
				row.Detail, row.fill = r.Mem, colorOf(r.Mem)
			} else {
				k.mem = r.Mem
				g.Title = k.mem + " memory"
				if k.host {
					g.Title = "copy within main memory, " + k.mem
				}
				row.Machine, row.Detail, row.Marks = c.report, c.detail(reports, all), linkMarks(r.Result)
			}
			g.key = k
			v.add(g, row)
		}
	}
	slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
		k, o := a.key.(copyKey), b.key.(copyKey)
		byKind := cmp.Or(compareBool(k.host, o.host), compareIn(memOrder, k.mem, o.mem))
		if v.machines == nil {
			return byKind
		}
		return cmp.Or(byKind, compareBool(k.assumed, o.assumed))
	})
	return v
}

// colorOf is the colour of a kind of memory.
func colorOf(mem string) color.Color {
	if c, ok := memColor[mem]; ok {
		return c
	}
	return muted
}

// copyRow is the row of one copy.
func copyRow(r *results.Result) barRow {
	row := barRow{Failed: r.Status == results.Failed, Band: spanOf(r, "protocol-band", "time")}
	if !row.Failed {
		row.measure(r, "time", timePerBatch)
		row.Others = spanOf(r, "published", "time")
	}
	return row
}

// Meanings of what the article says of a link.
const (
	theoryMeaning   = "article's theory (1 GiB/s a lane: 9 % faster than the line)"
	practiceMeaning = "article's practice (its rule of thumb: twice the theory)"
)

// linkMarks are what the link of a copy allows.
func linkMarks(r *results.Result) []mark {
	rate := markOf(valueOf(r, "line-rate", "time"), "line rate of the link", drawRate)
	for i := range rate {
		rate[i].solid = true
	}
	return slices.Concat(rate,
		markOf(valueOf(r, "article-theory", "time"), theoryMeaning, drawTheory),
		markOf(valueOf(r, "article-practice", "time"), practiceMeaning, drawPractice))
}
