package chart

import (
	"slices"

	"dlbench/results"
)

// minCounts is how many numbers of readers or threads make a line.
const minCounts = 3

// diskReaders has a line for each store and state of the page cache. Where machines are
// compared, each store and state has its chart, with a line for each machine.
func diskReaders(reports []*results.Report) (all []lines) {
	cases := diskCases(reports, func(r *results.Result) bool { return has(r, "bandwidth") })
	for _, page := range linesOf(reports, cases, diskCase.line, diskCase.name) {
		d := lines{
			title:    "Bandwidth of reading from disk by number of readers",
			subtitle: "Each reader reads batch after batch; median, higher is better",
			captions: captions(reports),
		}
		for _, same := range page {
			l := same.curve()
			for _, c := range same.Cases {
				l.add(c.measured, int64(c.Readers), "bandwidth")
			}
			if len(l.Points) >= minCounts {
				l.Name = l.named("readers")
				d.Lines = append(d.Lines, l)
			}
		}
		if len(d.Lines) == 0 {
			continue
		}
		d.compare(reports, page[0].what)
		_, rates := d.bounds()
		d.Levels = peakLevels(cases, rates)
		for _, l := range d.Levels {
			rates = span{min(rates.Lo, l.At), max(rates.Hi, l.At)}
		}
		d.x = counts("readers", d.counts(), true, 0.06)
		d.y = bandwidth.scale(rates.Lo, rates.Hi, 10)
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

// line is what one line of a chart is of: one store of one disk in one state of the cache.
func (c diskCase) line() any {
	c.Readers = 0
	return c.DiskParams
}

// ofOneReader are the cases with one reader.
func ofOneReader(cases []diskCase) []diskCase {
	return slices.DeleteFunc(slices.Clone(cases), func(c diskCase) bool { return c.Readers != 1 })
}
