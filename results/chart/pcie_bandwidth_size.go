package chart

import (
	"cmp"
	"slices"

	"dlbench/results"
)

// sweeps are the bandwidths of copies of different sizes from host to device, warm source:
// a line for each device and kind of memory. Where machines are compared, each kind of
// memory has its chart, with the first device of each.
func sweeps(reports []*results.Report) (all []picture) {
	copied := pcieCopies(reports, "bandwidth", func(c copyCase) bool {
		return c.DType == cmp.Or(reports[c.report].Config.DType, "float32") && c.Dir == results.H2D // the run's own
	})
	var cases []lineCase
	for _, c := range copied {
		l := lineCase{c.measured, [2]string{c.Device, c.Mem}, deviceText(c.Result, c.Device) + ", " + c.Mem, int(c.Bytes)}
		if len(reports) > 1 {
			l.line, l.name = c.Mem, c.Mem+" memory"
		}
		cases = append(cases, l)
	}
	for _, d := range linesOf(reports, cases, "bandwidth", "bytes") {
		all = append(all, sweepChart(d, copied))
	}
	return all
}

// sweepChart completes d by the line rates of links and the size of a batch.
func sweepChart(d lines, copied []copyCase) lines {
	d.title = "Bandwidth of copies to the GPU by their size"
	d.subtitle += "Host to device, warm source; median, higher is better"
	sizes, _ := d.bounds()
	for _, c := range copied {
		if rate := valueOf(c.Result, "line-rate", "bandwidth"); rate > 0 {
			d.addLevel(level{linkTitle(c.Result, c.Device), bandwidth.value(rate), rate, lineRateStroke})
		}
	}
	_, rates := d.bounds()
	d.x = quantity{"size of a copy", results.Bytes}.logarithmic(sizes.Lo/1.25, sizes.Hi*1.25, 9)
	d.y = bandwidth.scale(rates.Hi, rates.Hi, 7)
	if len(d.Levels) > 0 {
		d.meanings = append(d.meanings, strokeEntry("line rate of the link", lineRateStroke))
	}
	var batches []int64
	for _, r := range d.reports {
		if b, ok := batchOf(r, "float32"); ok && float64(b.Bytes()) >= sizes.Lo && float64(b.Bytes()) <= sizes.Hi {
			batches = results.AppendNew(batches, b.Bytes())
		}
	}
	for _, n := range slices.Sorted(slices.Values(batches)) {
		d.Stops = append(d.Stops, mark{At: float64(n), Text: "batch " + results.FormatBytes(n)})
	}
	return d
}
