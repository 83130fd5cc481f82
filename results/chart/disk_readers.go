package chart

import (
	"dlbench/results"
)

// diskReaders are the rates of numbers of readers, a line for each store and state of the page cache.
func diskReaders(reports []*results.Report) (all []picture) {
	var cases []lineCase
	stored := diskCases(reports, func(r *results.Result) bool { return has(r, "bandwidth") })
	for _, c := range stored {
		line := c.DiskParams
		line.Readers = 0
		name := results.List(c.title(), c.Cache)
		if c.Disk != "" {
			name = c.title() + ", simulated disk " + c.Disk
		}
		cases = append(cases, lineCase{c.measured, line, name, c.Readers})
	}
	for _, d := range linesOf(reports, cases, "bandwidth", "readers") {
		d.title = "Bandwidth of reading from disk by number of readers"
		d.subtitle += "Each reader reads batch after batch; median, higher is better"
		_, rates := d.bounds()
		d.Levels = peakLevels(stored, rates)
		for _, l := range d.Levels {
			rates = span{min(rates.Lo, l.At), max(rates.Hi, l.At)}
		}
		d.x, d.y = counts("readers", d.counts(), true), bandwidth.scale(rates.Lo, rates.Hi, 10)
		all = append(all, d)
	}
	return all
}

// peakLevels are the references of cases that are not far from what was measured, each rate
// once.
func peakLevels(cases []diskCase, rates span) (all []level) {
	for _, c := range cases {
		for _, p := range peaks {
			rate := valueOf(c.Result, p.name, "bandwidth")
			if rate >= rates.Hi/20 && rate <= 1.5*rates.Hi {
				all = addLevel(all, level{p.title, results.FormatExact(rate, results.BytesPerSecond), rate, thinStroke})
			}
		}
	}
	return all[:min(len(all), maxNeeds)]
}
