package chart

import (
	"math"
	"slices"

	"dlbench/results"
)

// minQuantiles is how many quantiles make a line.
const minQuantiles = 3

// diskLatencies are the distributions of the times of single reads with one reader: of one
// machine a line for each store and state of the page cache, of several a chart for each
// store in the coldest state that there is.
func diskLatencies(reports []*results.Report) (all []lines) {
	cases := ofOneReader(diskCases(reports, func(r *results.Result) bool {
		return len(quantilesOf(r, "read_latency")) >= minQuantiles
	}))
	if len(reports) > 1 {
		cases = ofColdest(cases)
	}
	for _, page := range linesOf(reports, cases, diskCase.line, diskCase.name) {
		d := lines{
			title: "Latency of single reads from disk",
			subtitle: "Share of the reads that took at most so long; one reader; " +
				"the size of a read differs by store; further left is better",
			captions: captions(reports),
			Levels:   []level{{At: 0.5, style: thinStroke}},
			meanings: []entry{strokeEntry("marked: the medians", thinStroke)},
			y:        scale{label: "share of reads (%)", max: 1, ticks: linearTicks(0.01, 10)},
		}
		for _, same := range page {
			if c := same.Cases[0]; !c.Failed() {
				d.Lines = append(d.Lines, latencyLine(same.curve(), c))
			}
		}
		if len(d.Lines) == 0 {
			continue
		}
		d.compare(reports, page[0].what)
		times, _ := d.bounds() // at least a decade
		least, most := times.Lo/1.2, times.Hi*1.2
		if widen := math.Sqrt(10 * least / most); widen > 1 {
			least, most = least/widen, most*widen
		}
		d.x = quantity{"time of a read", results.Seconds}.logarithmic(least, most, 10)
		all = append(all, d)
	}
	return all
}

// ofColdest are the cases of each store in the first of its states of the page cache.
func ofColdest(cases []diskCase) (all []diskCase) {
	for _, same := range groups(cases, diskCase.source) {
		coldest := slices.MinFunc(same, func(a, b diskCase) int { return compareIn(cacheOrder, a.Cache, b.Cache) })
		all = append(all, slices.DeleteFunc(same, func(c diskCase) bool { return c.Cache != coldest.Cache })...)
	}
	return all
}

// latencyLine is the distribution of one case, marked at its median.
func latencyLine(l curve, c diskCase) curve {
	all := quantilesOf(c.Result, "read_latency")
	median := results.Quantile{P: 0.5, Value: quantileAt(all, 0.5)}
	if median.Value > 0 {
		l.Name += ": median " + results.FormatValue(median.Value, results.Seconds)
	}
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
