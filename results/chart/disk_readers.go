package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

// minCounts is how many numbers of readers or threads make a line.
const minCounts = 2

// readersLine is the bandwidth of one source and state of the page cache with different
// numbers of readers.
type readersLine struct {
	curve
	first  diskCase // that worked, if one did
	failed []int64  // numbers of readers whose case failed
}

// diskReaders has a line for each source and state of the page cache, in one chart, or
// more for too many lines. Where machines are compared, each source and state has its
// chart, with a line for each machine.
func diskReaders(reports []*results.Report) []lines {
	cases := diskCases(reports, func(r *results.Result) bool { return has(r, "bandwidth") })
	var all []lines
	if len(reports) > 1 {
		names := machines(reports)
		for _, same := range alikeCases(cases) {
			for _, cache := range cachesOf(same) {
				here := readersLines(same, func(c diskCase) bool { return c.Cache == cache })
				for i, l := range here {
					here[i].Name, here[i].curve.Source = names[l.first.Report], l.first.Report
				}
				all = append(all, readersChart(reports, here, same[0].what(cache))...)
			}
		}
		return all
	}
	var here []readersLine
	n := 0 // sources
	for _, s := range sourcesOf(cases) {
		more := readersLines(cases, func(c diskCase) bool { return c.source == s })
		if len(more) == 0 {
			continue
		}
		if n == maxDevices || len(here)+len(more) > maxLines {
			all = append(all, readersChart(reports, here, "")...)
			here, n = nil, 0
		}
		for i, l := range more {
			more[i].curve = diskCurve(l.first, l.Name, n)
			more[i].Points = l.Points
		}
		here, n = append(here, more...), n+1
	}
	return append(all, readersChart(reports, here, "")...)
}

// readersLines makes lines of the cases that are wanted, which come by source, cache
// and readers.
func readersLines(cases []diskCase, wanted func(diskCase) bool) []readersLine {
	var all []readersLine
	for _, c := range cases {
		if !wanted(c) {
			continue
		}
		if n := len(all); n == 0 || all[n-1].first.Cache != c.Cache || all[n-1].first.source != c.source {
			all = append(all, readersLine{curve: diskCurve(c, c.name(), c.Report), first: c})
		}
		l := &all[len(all)-1]
		if c.Failed() {
			l.failed = append(l.failed, c.Readers)
			continue
		}
		if len(l.Points) == 0 {
			l.first = c
		}
		p, _ := pointOf(c.Result, "bandwidth")
		l.Points = append(l.Points, curvePoint{X: float64(c.Readers), point: p, Assumed: c.Result.Assumed,
			Unproven: c.Unproven})
	}
	return slices.DeleteFunc(all, func(l readersLine) bool { return len(l.Points)+len(l.failed) < minCounts })
}

// named is the name of l with the numbers of readers that failed.
func (l readersLine) named() string {
	switch {
	case len(l.Points) == 0:
		return l.Name + ": failed"
	case len(l.failed) == 0:
		return l.Name
	}
	return l.Name + ": failed with " + listed(l.failed) + " readers"
}

// listed lists numbers.
func listed(all []int64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", ", ")
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
		l.curve.Name = l.named()
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
				title = "link of " + machines(reports)[l.first.Report]
			}
			k := slices.IndexFunc(all, func(o level) bool { return near(o.At, rate) })
			switch {
			case rate < low || rate > 1.5*rates.Hi:
			case k < 0:
				all = append(all, level{title, results.FormatExact(rate, results.BytesPerSecond), rate, demandStroke})
			case !slices.Contains(strings.Split(all[k].Name, ", "), title):
				all[k].Name += ", " + title
			}
		}
	}
	slices.SortStableFunc(all, func(a, b level) int { return cmp.Compare(a.At, b.At) })
	return all
}
