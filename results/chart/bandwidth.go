package chart

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
)

// Limits of one chart; what goes beyond them goes to further charts.
const (
	minSizes   = 3 // of a line
	maxDevices = 8
	maxLines   = 12 // above, each kind of memory has its own chart
)

// sweepLine is the bandwidth of copies of different sizes from host to device, warm
// source, of one device and kind of memory.
type sweepLine struct {
	curve
	mem string
}

// sweeps has a line for each device and kind of memory. Where machines are compared,
// each kind of memory has its chart, colours tell machines apart and dashes the devices
// of one machine.
func sweeps(reports []*results.Report) []lines {
	devices := sweptCopies(reports)
	var all []lines
	for part := range slices.Chunk(devices, maxDevices) {
		var here []sweepLine
		for i, c := range part {
			name, source, dash := "", i, -1
			if device, link := c.title(reports[c.report]); len(reports) < 2 {
				name = strings.Trim(short(device)+", "+short(link), ", ")
			} else {
				nth := func(o copies) bool { return o.report == c.report }
				source, dash = c.report, i-slices.IndexFunc(part, nth)
				name = machines(reports)[c.report] + ", " + c.detail(reports, devices)
			}
			here = append(here, sweepLines(c, name, source, dash)...)
		}
		all = append(all, sweepPages(reports, here, part)...)
	}
	return all
}

// sweptCopies gathers the devices to which enough sizes are copied.
func sweptCopies(reports []*results.Report) []copies {
	all := pcieCopies(reports, func(c copyCase) bool {
		swept := c.DType == cmp.Or(reports[c.report].Config.DType, "float32") // the run's own
		return swept && c.Dir == results.H2D && c.Bytes > 0 && !c.Failed() && has(c.Result, "bandwidth")
	})
	return slices.DeleteFunc(all, func(c copies) bool { return len(sweepLines(c, "", 0, 0)) == 0 })
}

// sweepLines returns a line for each kind of memory with enough sizes, with dashes of
// that number, or of its kind of memory where dash is negative.
func sweepLines(c copies, name string, source, dash int) (all []sweepLine) {
	for _, same := range groups(c.Results, memOf) {
		l := sweepLine{curve{Name: name, series: series{Source: source}}, same[0].Mem}
		if l.style = l.styled(memDashes[l.mem]); dash >= 0 {
			l.style = l.styled(dashes[dash%len(dashes)])
		}
		for _, r := range firsts(same, func(r copyCase) int64 { return r.Bytes }) {
			l.add(r.measured, r.Bytes, "bandwidth")
		}
		slices.SortFunc(l.Points, func(a, b curvePoint) int { return cmp.Compare(a.X, b.X) })
		if len(l.Points) >= minSizes {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b sweepLine) int { return compareIn(memOrder, a.mem, b.mem) })
	return all
}

// sweepPages makes a chart of all, or one for each kind of memory when there are too
// many lines or several machines.
func sweepPages(reports []*results.Report, all []sweepLine, devices []copies) (charts []lines) {
	alone := len(reports) < 2 && len(all) <= maxLines
	pages := groups(all, func(l sweepLine) string {
		if alone {
			return ""
		}
		return l.mem
	})
	slices.SortFunc(pages, func(a, b []sweepLine) int { return compareIn(memOrder, a[0].mem, b[0].mem) })
	for _, page := range pages {
		title := ", " + page[0].mem + " memory"
		var d []curve
		for _, l := range page {
			if alone {
				title = ""
				l.Name += ", " + results.Clip(l.mem, maxDevice)
			}
			d = append(d, l.curve)
		}
		charts = append(charts, sweepChart(reports, d, devices, title))
	}
	return charts
}

// sweepChart is a chart of what the end of its title says.
func sweepChart(reports []*results.Report, all []curve, devices []copies, title string) lines {
	d := lines{
		title:    "Bandwidth of copies to the GPU by their size",
		subtitle: "Host to device, warm source; median, higher is better",
		captions: shared(captions(reports, gpuText)),
		Lines:    all,
	}
	if len(reports) > 1 {
		d.title += " and machine"
	}
	d.title += title
	sizes, rates := d.bounds()
	for _, c := range devices {
		var rate float64
		var protocol span
		for _, r := range c.Results {
			rate = cmp.Or(rate, valueOf(r.Result, "line-rate", "bandwidth"))
			protocol = cmp.Or(protocol, spanOf(r.Result, "protocol-band", "bandwidth"))
		}
		if rate == 0 {
			continue
		}
		rates.Hi = max(rates.Hi, rate, protocol.Hi)
		d.Levels = addLevel(d.Levels, level{c.Link, bandwidth.value(rate), rate, lineRateStroke})
		if protocol != (span{}) {
			d.Shades = results.AppendNew(d.Shades, shaded{y: protocol, fill: shade})
		}
	}
	d.x = scale{label: "size of a copy (bytes)", min: sizes.Lo / 1.25, max: sizes.Hi * 1.25, log: true,
		ticks: sizeTicks(9)}
	d.y = bandwidth.scale(rates.Hi, rates.Hi, 7)
	if len(d.Levels) > 0 {
		d.meanings = append(d.meanings, strokeEntry("line rate of the link", lineRateStroke))
	}
	if len(d.Shades) > 0 {
		d.meanings = append(d.meanings, boxEntry(bandMeaning, shade))
	}
	if b := batches(reports); len(b) == 1 {
		if n := b[0].Bytes(); float64(n) >= sizes.Lo && float64(n) <= sizes.Hi {
			d.Stops = []mark{{At: float64(n), Text: "batch " + results.FormatBytes(n)}}
		}
	}
	return d
}
