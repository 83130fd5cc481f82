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
		all = append(all, sweepPages(reports, here, linksOf(part))...)
	}
	return all
}

// sweptCopies gathers the devices to which enough sizes are copied.
func sweptCopies(reports []*results.Report) []copies {
	all := pcieCopies(reports, func(rep *results.Report, c copyCase) bool {
		swept := c.DType == cmp.Or(rep.Config.DType, "float32") // the run's own
		return swept && c.Dir == "h2d" && c.Bytes > 0 && c.Result.Status == results.OK && has(c.Result, "bandwidth")
	})
	return slices.DeleteFunc(all, func(c copies) bool { return len(sweepLines(c, "", 0, 0)) == 0 })
}

// sweepLines returns a line for each kind of memory with enough sizes, with dashes of
// that number, or of its kind of memory where dash is negative.
func sweepLines(c copies, name string, source, dash int) []sweepLine {
	var all []sweepLine
	for _, r := range c.Results {
		one := sweepLine{curve{Name: name, series: series{Source: source}}, r.Mem}
		if one.style = one.styled(memDashes[r.Mem]); dash >= 0 {
			one.style = one.styled(dashes[dash%len(dashes)])
		}
		l := findOrAdd(&all, one, func(o sweepLine) bool { return o.mem == r.Mem })
		bytes := float64(r.Bytes)
		if slices.ContainsFunc(l.Points, func(p curvePoint) bool { return p.X == bytes }) {
			continue // the same copy with other parameters; the first is the plain one
		}
		p, _ := pointOf(r.Result, "bandwidth")
		l.Points = append(l.Points, curvePoint{X: bytes, point: p, Assumed: r.Result.Assumed})
	}
	all = slices.DeleteFunc(all, func(l sweepLine) bool { return len(l.Points) < minSizes })
	for _, l := range all {
		slices.SortFunc(l.Points, func(a, b curvePoint) int { return cmp.Compare(a.X, b.X) })
	}
	slices.SortStableFunc(all, func(a, b sweepLine) int { return compareIn(memOrder, a.mem, b.mem) })
	return all
}

// sweepPages makes a chart of all, or one for each kind of memory when there are too
// many lines or several machines.
func sweepPages(reports []*results.Report, all []sweepLine, links []sweepLink) []lines {
	if len(reports) < 2 && len(all) <= maxLines {
		var d []curve
		for _, l := range all {
			l.Name += ", " + results.Clip(l.mem, maxDevice)
			d = append(d, l.curve)
		}
		return []lines{sweepChart(reports, d, links, "")}
	}
	var mems []string
	for _, l := range all {
		mems = results.AppendNew(mems, l.mem)
	}
	slices.SortFunc(mems, func(a, b string) int { return compareIn(memOrder, a, b) })
	var charts []lines
	for _, mem := range mems {
		var d []curve
		for _, l := range all {
			if l.mem == mem {
				d = append(d, l.curve)
			}
		}
		charts = append(charts, sweepChart(reports, d, links, mem))
	}
	return charts
}

// sweepChart is a chart of one kind of memory, or of all for "".
func sweepChart(reports []*results.Report, all []curve, links []sweepLink, mem string) lines {
	d := lines{
		title:    "Bandwidth of copies to the GPU by their size",
		subtitle: "Host to device, warm source; median, higher is better",
		captions: shared(captions(reports, gpuText)),
		Lines:    all,
	}
	if len(reports) > 1 {
		d.title += " and machine"
	}
	if mem != "" {
		d.title += ", " + mem + " memory"
	}
	sizes, rates := d.bounds()
	for _, l := range links {
		rates.Hi = max(rates.Hi, l.LineRate, l.Protocol.Hi)
		d.Levels = append(d.Levels, level{strings.Join(l.Titles, ", "), bandwidth.value(l.LineRate), l.LineRate,
			lineRateStroke})
		if l.Protocol != (span{}) {
			d.Shades = append(d.Shades, shaded{y: l.Protocol, fill: shade})
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

// sweepLink is what links of one line rate allow.
type sweepLink struct {
	Titles   []string // Gen3 x8, Gen4 x4
	LineRate float64
	Protocol span
}

// linksOf lists the links of devices by line rate; links of one rate, such as
// Gen3 x8 and Gen4 x4, share an entry.
func linksOf(devices []copies) []sweepLink {
	var links []sweepLink
	for _, c := range devices {
		var l sweepLink
		for _, r := range c.Results {
			first(&l.LineRate, valueOf(r.Result, "line-rate", "bandwidth"))
			first(&l.Protocol, spanOf(r.Result, "protocol-band", "bandwidth"))
		}
		if l.LineRate == 0 {
			continue
		}
		same := findOrAdd(&links, l, func(o sweepLink) bool { return near(o.LineRate, l.LineRate) })
		if c.Link != "" {
			same.Titles = results.AppendNew(same.Titles, c.Link)
		}
	}
	slices.SortStableFunc(links, func(a, b sweepLink) int { return cmp.Compare(a.LineRate, b.LineRate) })
	return links
}
