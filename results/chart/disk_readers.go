package chart

import (
	"slices"

	"dlbench/results"
)

// minCounts is how many numbers of readers or threads make a line.
const minCounts = 2

// readersLine is the bandwidth of one source and state of the page cache with different
// numbers of readers.
type readersLine struct {
	curve
	first diskCase // that worked, if one did
}

// diskReaders has a line for each source and state of the page cache, in one chart, or
// more for too many lines. Where machines are compared, each source and state has its
// chart, with a line for each machine.
func diskReaders(reports []*results.Report) (all []lines) {
	cases := diskCases(reports, func(r *results.Result) bool { return has(r, "bandwidth") })
	var here []readersLine
	n := 0 // sources
	for _, same := range groups(cases, diskCase.source) {
		if len(reports) > 1 {
			all = append(all, readersOfMachines(reports, same)...)
			continue
		}
		more := readersLines(same, n)
		if n == maxDevices || len(here)+len(more) > maxLines {
			all = append(all, readersChart(reports, here, "")...)
			here, n = nil, 0
			more = readersLines(same, n)
		}
		if here = append(here, more...); len(more) > 0 {
			n++
		}
	}
	return append(all, readersChart(reports, here, "")...)
}

// readersOfMachines are the charts of one source.
func readersOfMachines(reports []*results.Report, cases []diskCase) (all []lines) {
	caches := groups(cases, cacheOf)
	slices.SortFunc(caches, func(a, b []diskCase) int { return compareIn(cacheOrder, a[0].Cache, b[0].Cache) })
	for _, same := range caches {
		var here []readersLine
		for _, own := range groups(same, func(c diskCase) int { return c.report }) {
			for _, l := range readersLines(own, own[0].report) {
				l.Name = machines(reports)[own[0].report]
				here = append(here, l)
			}
		}
		all = append(all, readersChart(reports, here, same[0].name())...)
	}
	return all
}

// readersLines makes lines of the cases of one source, which come by cache and readers.
func readersLines(cases []diskCase, source int) (all []readersLine) {
	for _, same := range groups(cases, cacheOf) {
		l := readersLine{curve: diskCurve(same[0], same[0].name(), source), first: same[0]}
		for _, c := range same {
			if l.first.Failed() {
				l.first = c
			}
			l.add(c.measured, int64(c.Readers), "bandwidth")
		}
		if len(l.Points)+len(l.failed) >= minCounts {
			all = append(all, l)
		}
	}
	return all
}

// readersChart makes a chart, or none where no line has enough points; what all lines
// are of is what, "" where each has its own.
func readersChart(reports []*results.Report, all []readersLine, what string) []lines {
	if !slices.ContainsFunc(all, func(l readersLine) bool { return len(l.Points) >= minCounts }) {
		return nil
	}
	d := lines{
		title:      "Bandwidth of reading from disk by number of readers",
		subtitle:   "Each reader reads batch after batch; median, higher is better",
		captions:   shared(captions(reports, diskText)),
		sideBySide: true,
	}
	if what != "" {
		d.title += ", by machine"
		d.subtitle = what + ". " + d.subtitle
	}
	for _, l := range all {
		l.Name = l.named("readers")
		d.Lines = append(d.Lines, l.curve)
	}
	_, rates := d.bounds()
	d.Levels = peakLevels(reports, all, rates)
	for _, l := range d.Levels {
		rates = span{min(rates.Lo, l.At), max(rates.Hi, l.At)}
	}
	d.x = counts("readers", d.counts(), true, 0.06)
	d.y = bandwidth.scale(rates.Lo, rates.Hi, 10)
	return []lines{d}
}

// peakLevels are the references not far from the data, each rate once.
func peakLevels(reports []*results.Report, lines []readersLine, rates span) []level {
	low := rates.Hi / 20
	if rates.Hi > logFrom*rates.Lo {
		low = rates.Lo / 2
	}
	var all []level
	for _, l := range lines {
		for i, p := range peaks {
			rate, title := valueOf(l.first.Result, p.name, "bandwidth"), p.title
			if i == 0 && len(reports) > 1 { // each machine's own
				title = "link of " + machines(reports)[l.first.report]
			}
			if rate >= low && rate <= 1.5*rates.Hi {
				value := results.FormatExact(rate, results.BytesPerSecond)
				all = addLevel(all, level{title, value, rate, demandStroke})
			}
		}
	}
	return all
}
