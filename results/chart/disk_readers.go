package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// diskReaders is the bandwidth of reading with different numbers of readers, in
// bytes per second.
type diskReaders struct {
	What    string // all lines are of, "" where each has its own
	Lines   []readersLine
	Peaks   []diskPeak // within what the axis shows, from the lowest
	reports []*results.Report
}

// readersLine is one source and state of the page cache.
type readersLine struct {
	Name    string // as the legend has it
	machine string // "" where there is one alone
	diskStroke
	Points []readersPoint // by readers
	Failed []int64        // numbers of readers whose case failed
	peaks  []float64      // as diskPeaks
}

// readersPoint is one number of readers.
type readersPoint struct {
	Readers int64
	point
	Unproven bool
}

// diskPeak is a rate that lines are held against.
type diskPeak struct {
	Title string
	Rate  float64
}

// minCounts is how many numbers of readers make a line.
const minCounts = 2

// diskReadersOf extracts the charts' data: one element, more for too many lines.
func diskReadersOf(reports []*results.Report) []diskReaders {
	cases := diskCases(reports, func(r *results.Result) bool {
		_, ok := diskPoint(r, "bandwidth")
		return ok
	})
	var all []diskReaders
	var sources []source
	d := diskReaders{reports: reports}
	flush := func() {
		if slices.ContainsFunc(d.Lines, func(l readersLine) bool { return len(l.Points) >= minCounts }) {
			d.Peaks = d.peaks()
			all = append(all, d)
		}
		d.Lines, sources = nil, nil
	}
	for _, s := range sourcesOf(cases) {
		lines := readersLines(reports, slices.DeleteFunc(slices.Clone(cases), func(c diskCase) bool { return c.source != s }))
		if len(lines) == 0 {
			continue
		}
		if len(sources) == maxDevices || len(d.Lines)+len(lines) > maxLines {
			flush()
		}
		for i := range lines {
			lines[i].Source = len(sources)
		}
		sources = append(sources, s)
		d.Lines = append(d.Lines, lines...)
	}
	flush()
	return all
}

// readersLines makes the lines of the cases of one source, which come by cache and
// readers.
func readersLines(reports []*results.Report, cases []diskCase) []readersLine {
	var lines []readersLine
	for _, c := range cases {
		if n := len(lines); n == 0 || lines[n-1].Cache != c.Cache {
			l := readersLine{diskStroke: diskStroke{Cache: c.Cache, Assumed: c.Disk != ""}, peaks: make([]float64, len(diskPeaks))}
			l.Name = c.name()
			if len(reports) > 1 {
				l.machine = machines(reports)[c.Report]
			}
			lines = append(lines, l)
		}
		l := &lines[len(lines)-1]
		if c.Failed() {
			l.Failed = append(l.Failed, c.Readers)
			continue
		}
		p, _ := diskPoint(c.Result, "bandwidth")
		l.Points = append(l.Points, readersPoint{c.Readers, p, c.Unproven})
		for i, p := range diskPeaks {
			first(&l.peaks[i], valueOf(c.Result, p.name, "bandwidth"))
		}
	}
	return slices.DeleteFunc(lines, func(l readersLine) bool { return len(l.Points)+len(l.Failed) < minCounts })
}

// legendName is the name of l with the numbers of readers that failed.
func (l readersLine) legendName() string {
	switch {
	case len(l.Points) == 0:
		return l.Name + ": failed"
	case len(l.Failed) == 0:
		return l.Name
	}
	s := l.Name + ": failed with "
	for i, n := range l.Failed {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(n)
	}
	return s + " readers"
}

// bounds are the range of bandwidths and the numbers of readers of the lines.
func (d diskReaders) bounds() (least, most float64, counts []int64) {
	least = math.Inf(1)
	for _, l := range d.Lines {
		for _, p := range l.Points {
			least, most = min(least, p.Median), max(most, p.Median, p.Spread.Hi)
			if p.Spread != (span{}) {
				least = min(least, p.Spread.Lo)
			}
			counts = append(counts, p.Readers)
		}
	}
	slices.Sort(counts)
	return least, most, slices.Compact(counts)
}

// logarithmic says whether bandwidths are too different for a linear axis.
func (d diskReaders) logarithmic() bool {
	least, most, _ := d.bounds()
	return most > logFrom*least
}

// peaks are the references not far from the data, each rate once.
func (d diskReaders) peaks() []diskPeak {
	least, most, _ := d.bounds()
	low := most / 20
	if d.logarithmic() {
		low = least / 2
	}
	var all []diskPeak
	for _, l := range d.Lines {
		for i, rate := range l.peaks {
			title := diskPeaks[i].title
			if i == 0 && l.machine != "" { // each machine's own
				title = "link of " + l.machine
			}
			k := slices.IndexFunc(all, func(p diskPeak) bool { return math.Abs(p.Rate/rate-1) < 1e-3 })
			switch {
			case rate < low || rate > 1.5*most:
			case k < 0:
				all = append(all, diskPeak{title, rate})
			case !slices.Contains(strings.Split(all[k].Title, ", "), title):
				all[k].Title += ", " + title
			}
		}
	}
	slices.SortStableFunc(all, func(a, b diskPeak) int { return cmp.Compare(a.Rate, b.Rate) })
	return all
}
