package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// memOrder is the order in which kinds of host memory are shown.
var memOrder = []string{"pinned", "registered", results.Staged, "pageable", results.Bounce}

// copyCase is one result of suite pcie.
type copyCase struct {
	results.PCIeParams
	measured
}

// pcieCopies gathers the results of copies from a warm source, with no others at the
// same time and from the device's own NUMA node, that keep accepts, failed ones among
// them, by kind of memory; those within main memory come last.
func pcieCopies(reports []*results.Report, metric string, keep func(copyCase) bool) []copyCase {
	all := casesOf(reports, "pcie", func(m measured) (c copyCase, key any, ok bool) {
		c = copyCase{results.As[results.PCIeParams](m.Result.Params), m}
		c.Mem, c.DType = short(c.Mem), cmp.Or(c.DType, "float32")
		ok = !c.Cold() && c.Undisturbed() && c.Bytes > 0 && m.has(metric) && keep(c)
		c.Source, c.Concurrent, c.NUMA = "", "", ""
		return c, c.PCIeParams, ok
	})
	slices.SortStableFunc(all, func(a, b copyCase) int {
		return cmp.Or(compareIn([]string{results.H2D, results.H2H}, a.Dir, b.Dir), compareIn(memOrder, a.Mem, b.Mem))
	})
	return all
}

// linkTitle names the link that r ran over to the device of that specification, "" when
// it is not known; a simulated one has it in its name.
func linkTitle(r *results.Result, device string) string {
	title := results.As[results.PCIeProof](r.Proof).LinkTitle()
	if d, _ := theory.ParseDevice(device); title == "" && d.Link != (theory.Link{}) {
		return d.Link.Title()
	}
	return title
}

// deviceText is a device and its link in words: "Gen3 x16" where it is simulated, "cuda:0 Gen5 x16", "" for main
// memory.
func deviceText(r *results.Result, spec string) string {
	d, err := theory.ParseDevice(spec)
	_, options, _ := strings.Cut(spec, d.Link.String()+":") // rates, as given
	options = strings.ReplaceAll(options, ":", ", ")
	switch {
	case spec == results.HostDevice:
		return ""
	case d.Sim():
		return results.List(d.Link.Title(), options)
	case err != nil || !d.CUDA:
		return short(spec)
	case d.Loaded():
		options = results.List("link time loaded", options)
	}
	return results.List(strings.TrimSpace(fmt.Sprintf("cuda:%d %s", d.Index, linkTitle(r, spec))), options)
}

// batchTimes are the times of the batch of each report: a group for each kind of memory and
// copies within main memory last, with a row for each device of each machine; none where
// nothing is copied to a device.
func batchTimes(reports []*results.Report) []picture {
	v := bars{
		title:    "Time to copy one batch to the GPU",
		subtitle: "Host to device, warm source; median, shorter is better",
		quantity: timePerBatch,
		reports:  reports,
	}
	cases := pcieCopies(reports, "time", func(c copyCase) bool {
		batch, ok := batchOf(reports[c.report], "float32")
		to := map[bool]string{true: results.H2H, false: results.H2D}[c.Device == results.HostDevice]
		return ok && c.Dir == to && c.Bytes == batch.Bytes() && c.DType == "float32"
	})
	copied := func(c copyCase) bool { return c.Device != results.HostDevice && !c.Failed() }
	if !slices.ContainsFunc(cases, copied) {
		return nil
	}
	for _, c := range cases {
		title := c.Mem + " memory"
		if c.Device == results.HostDevice {
			title = "copy within main memory, " + c.Mem
		}
		if len(reports) > 1 {
			title += ", " + results.FormatBytes(c.Bytes)
		}
		row := rowOf(c.measured, "time", v.quantity)
		row.fill, row.Marks = partColor[results.PartCopy], linkMarks(c.Result)
		v.add(title, "", deviceText(c.Result, c.Device), row)
	}
	return v.pictures()
}

// linkMarks are what the link of a copy allows, and what the article says of it.
func linkMarks(r *results.Result) []mark {
	return slices.Concat(markOf(valueOf(r, "line-rate", "time"), "line rate of the link", drawRate),
		markOf(valueOf(r, "article-theory", "time"), "article's theory (1 GiB/s a lane: 9 % faster than the line)",
			outline(funnel, nil)),
		markOf(valueOf(r, "article-practice", "time"), "article's practice (its rule of thumb: twice the theory)",
			outline(diamond, nil)))
}
