package chart

import (
	"cmp"
	"fmt"
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
func batches(reports []*results.Report) (all []theory.Batch) {
	for _, r := range reports {
		if b, ok := batchOf(r, "float32"); ok {
			all = results.AppendNew(all, b)
		}
	}
	return all
}

// batchCopies gathers the copies of a batch from host to device and within main
// memory, of the reports that have that batch.
func batchCopies(reports []*results.Report, batch theory.Batch) []copies {
	return pcieCopies(reports, func(c copyCase) bool {
		want := results.H2D
		if c.Device == results.HostDevice {
			want = results.H2H
		}
		have, _ := batchOf(reports[c.report], "float32")
		return have == batch && c.Dir == want && c.Bytes == batch.Bytes() && c.DType == "float32" &&
			(has(c.Result, "time") || c.Failed())
	})
}

// copyKey is what copies have in common that are compared.
type copyKey struct {
	mem           string
	host, assumed bool
}

// batchTimes has a group for each kind of memory, measured and simulated apart, and copies
// within main memory last, with a row for each device of each machine; none where nothing
// is copied to a device.
func batchTimes(reports []*results.Report, batch theory.Batch) bars {
	v := bars{
		title: "Time to copy one batch to the GPU",
		subtitle: fmt.Sprintf("Host to device, %s (%s), warm source; median, shorter is better",
			batch, results.FormatBytes(batch.Bytes())),
		quantity: timePerBatch,
		captions: captions(reports),
	}
	all := batchCopies(reports, batch)
	worked := func(c copyCase) bool { return c.Device != results.HostDevice && !c.Failed() }
	if !slices.ContainsFunc(all, func(c copies) bool { return slices.ContainsFunc(c.Results, worked) }) {
		return v
	}
	v.compare(reports)
	for _, c := range all {
		for _, r := range c.byMem() {
			k := copyKey{r.Mem, c.Spec == results.HostDevice, len(r.Result.Assumed) > 0}
			g := barGroup{Title: r.Mem + " memory", key: k, fill: partColor[results.PartCopy]}
			row := rowOf(r.measured, "time", timePerBatch)
			row.Detail, row.Marks = c.detail(reports[c.report]), linkMarks(r.Result)
			if k.assumed {
				g.Assumed = []string{"link"}
			}
			if k.host {
				g.Title = "copy within main memory, " + r.Mem
			}
			v.add(g, row)
		}
	}
	slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
		k, o := a.key.(copyKey), b.key.(copyKey)
		return cmp.Or(compareBool(k.host, o.host), compareIn(memOrder, k.mem, o.mem), compareBool(k.assumed, o.assumed))
	})
	return v
}

// Meanings of what the article says of a link.
const (
	theoryMeaning   = "article's theory (1 GiB/s a lane: 9 % faster than the line)"
	practiceMeaning = "article's practice (its rule of thumb: twice the theory)"
)

// linkMarks are what the link of a copy allows.
func linkMarks(r *results.Result) []mark {
	return slices.Concat(markOf(valueOf(r, "line-rate", "time"), "line rate of the link", drawRate),
		markOf(valueOf(r, "article-theory", "time"), theoryMeaning, drawTheory),
		markOf(valueOf(r, "article-practice", "time"), practiceMeaning, drawPractice))
}
