package chart

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
)

// minSizes is how many sizes of copies make a line.
const minSizes = 3

// sweepCase is a copy of some size to a device.
type sweepCase struct {
	copyCase
	device string // in words
}

// sweeps are the bandwidths of copies of different sizes from host to device, warm source:
// a line for each device and kind of memory. Where machines are compared, each kind of
// memory has its chart.
func sweeps(reports []*results.Report) (all []lines) {
	devices := pcieCopies(reports, func(c copyCase) bool {
		swept := c.DType == cmp.Or(reports[c.report].Config.DType, "float32") // the run's own
		return swept && c.Dir == results.H2D && c.Bytes > 0 && !c.Failed() && has(c.Result, "bandwidth")
	})
	var cases []sweepCase
	for _, c := range devices {
		device, link := c.title(reports[c.report])
		for _, same := range groups(c.Results, func(r copyCase) string { return r.Mem }) {
			same = firsts(same, func(r copyCase) int64 { return r.Bytes })
			slices.SortFunc(same, func(a, b copyCase) int { return cmp.Compare(a.Bytes, b.Bytes) })
			for _, r := range same {
				if len(same) >= minSizes {
					cases = append(cases, sweepCase{r, strings.Trim(short(device)+", "+short(link), ", ")})
				}
			}
		}
	}
	line := func(c sweepCase) any {
		if len(reports) > 1 {
			return c.Mem
		}
		return [2]string{c.Device, c.Mem}
	}
	name := func(c sweepCase) string {
		if len(reports) > 1 {
			return results.Clip(c.Mem, maxDevice) + " memory"
		}
		return c.device + ", " + results.Clip(c.Mem, maxDevice)
	}
	for _, page := range linesOf(reports, cases, line, name) {
		all = append(all, sweepChart(reports, page, devices))
	}
	return all
}

// sweepChart is one chart; of several devices of a machine that is compared it has the first.
func sweepChart(reports []*results.Report, page []lineCases[sweepCase], devices []copies) lines {
	d := lines{
		title:    "Bandwidth of copies to the GPU by their size",
		subtitle: "Host to device, warm source; median, higher is better",
		captions: captions(reports),
	}
	d.compare(reports, page[0].what)
	for _, same := range page {
		l := same.curve()
		if len(reports) > 1 {
			l.Name += ", " + same.Cases[0].device
		}
		for _, c := range same.Cases {
			if c.Device == same.Cases[0].Device {
				l.add(c.measured, c.Bytes, "bandwidth")
			}
		}
		d.Lines = append(d.Lines, l)
	}
	sizes, rates := d.bounds()
	for _, c := range devices {
		if rate := valueOf(c.Results[0].Result, "line-rate", "bandwidth"); rate > 0 {
			rates.Hi = max(rates.Hi, rate)
			d.Levels = addLevel(d.Levels, level{c.Link, bandwidth.value(rate), rate, lineRateStroke})
		}
	}
	d.x = scale{label: "size of a copy (bytes)", min: sizes.Lo / 1.25, max: sizes.Hi * 1.25, log: true,
		ticks: sizeTicks(9)}
	d.y = bandwidth.scale(rates.Hi, rates.Hi, 7)
	if len(d.Levels) > 0 {
		d.meanings = append(d.meanings, strokeEntry("line rate of the link", lineRateStroke))
	}
	if b := batches(reports); len(b) == 1 {
		if n := b[0].Bytes(); float64(n) >= sizes.Lo && float64(n) <= sizes.Hi {
			d.Stops = []mark{{At: float64(n), Text: "batch " + results.FormatBytes(n)}}
		}
	}
	return d
}
