package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dlbench/results"
)

// Limits of a latency chart.
const (
	minQuantiles = 3 // of a line
	maxLatencies = 8
)

// diskLatencies are a chart of one machine, none without a case that worked, with the
// lines of the more informative states of the cache and usual orders; and of several
// machines one for each store, in the one state of the page cache that most of them have.
// All cases have one reader.
func diskLatencies(reports []*results.Report) (all []lines) {
	cases := slices.DeleteFunc(diskCases(reports, func(r *results.Result) bool {
		return len(quantilesOf(r, "read_latency")) >= minQuantiles
	}), func(c diskCase) bool { return c.Readers != 1 })
	sources := groups(cases, diskCase.source)
	if len(reports) < 2 {
		chosen := slices.Clone(cases)
		slices.SortStableFunc(chosen, func(a, b diskCase) int {
			return cmp.Or(compareBool(a.Order != "", b.Order != ""), compareBool(a.Disk != "", b.Disk != ""),
				compareIn(latencyOrder, a.Cache, b.Cache))
		})
		chosen = chosen[:min(len(chosen), maxLatencies)]
		shown := slices.DeleteFunc(slices.Clone(cases), func(c diskCase) bool { return !slices.Contains(chosen, c) })
		return latencyChart(reports, shown, len(cases), "", func(c diskCase) (string, int) {
			is := func(same []diskCase) bool { return same[0].source() == c.source() }
			return c.name(), slices.IndexFunc(sources, is)
		})
	}
	for _, same := range sources {
		shown := slices.MinFunc(groups(same, cacheOf), func(a, b []diskCase) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), compareIn(latencyOrder, a[0].Cache, b[0].Cache))
		})
		all = append(all, latencyChart(reports, shown, len(shown), shown[0].name(), func(c diskCase) (string, int) {
			return machines(reports)[c.report], c.report
		})...)
	}
	return all
}

// latencyOrder is the order in which states of the cache are worth a line.
var latencyOrder = []string{results.ColdData, results.Direct, results.Warm, paced}

// latencyChart has a line for each of cases, which are all of what, or each of its own
// for ""; name names a line and numbers its source.
func latencyChart(reports []*results.Report, cases []diskCase, of int, what string,
	name func(diskCase) (string, int)) []lines {
	if !slices.ContainsFunc(cases, func(c diskCase) bool { return !c.Failed() }) {
		return nil
	}
	d := lines{
		title: "Latency of single reads from disk",
		subtitle: "Share of the reads that took at most so long; one reader; " +
			"the size of a read differs by store; further left is better",
		captions: shared(captions(reports, diskText)),
		Levels:   []level{{At: 0.5, style: dottedStroke}},
		meanings: []entry{strokeEntry("marked: the medians", dottedStroke)},
		y:        scale{label: "share of reads (%)", max: 1, ticks: linearTicks(0.01, 10)},
	}
	if what != "" {
		d.title += ", by machine"
		d.subtitle = what + ". Share of the reads that took at most so long; one reader; further left is better"
	}
	if of > len(cases) {
		d.subtitle += fmt.Sprintf("; %d of %d cases", len(cases), of)
	}
	for _, c := range cases {
		title, source := name(c)
		d.Lines = append(d.Lines, latencyLine(c, title, source))
	}
	times, _ := d.bounds() // at least a decade
	least, most := times.Lo/1.2, times.Hi*1.2
	if widen := math.Sqrt(10 * least / most); widen > 1 {
		least, most = least/widen, most*widen
	}
	d.x = quantity{"time of a read", results.Seconds}.logarithmic(least, most, 12)
	return []lines{d}
}

// latencyLine is the distribution of one case, marked at its median.
func latencyLine(c diskCase, name string, source int) curve {
	l := diskCurve(c, name, source)
	if c.Failed() {
		l.Name += ": failed"
		return l
	}
	all, sep := quantilesOf(c.Result, "read_latency"), ": "
	for _, q := range []struct {
		p    float64
		name string
	}{{0.5, "median"}, {0.99, "99 %"}} {
		if v := quantileAt(all, q.p); v > 0 {
			l.Name += sep + q.name + " " + results.FormatValue(v, results.Seconds)
			sep = ", "
		}
	}
	median := results.Quantile{P: 0.5, Value: quantileAt(all, 0.5)}
	if i := slices.IndexFunc(all, func(q results.Quantile) bool { return q.P >= 0.5 }); i > 0 && all[i].P > 0.5 {
		all = slices.Insert(all, i, median)
	}
	for _, q := range all {
		l.Points = append(l.Points, curvePoint{X: q.Value, point: point{Median: q.P}, Assumed: c.Result.Assumed,
			Unproven: c.unproven(), bare: q.P != median.P})
	}
	return l
}

// quantileAt is the p-quantile, between two neighbours that there are; 0 outside of
// them.
func quantileAt(all []results.Quantile, p float64) float64 {
	for i, q := range all {
		switch {
		case q.P == p:
			return q.Value
		case q.P > p && i == 0:
			return 0
		case q.P > p:
			o := all[i-1]
			return o.Value + (q.Value-o.Value)*(p-o.P)/(q.P-o.P)
		}
	}
	return 0
}
