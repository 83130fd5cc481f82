package chart

import (
	"cmp"
	"math"
	"slices"

	"dlbench/results"
)

// diskLatencies are distributions of the times of single reads, with one reader.
type diskLatencies struct {
	What    string // all lines are of, "" where each has its own
	Lines   []latencyLine
	LeftOut int // cases that did not fit
	reports []*results.Report
}

// latencyLine is one source and state of the page cache.
type latencyLine struct {
	Name string
	diskStroke
	Failed   bool
	Unproven bool
	Points   []results.Quantile // by P; P and Value ascend
}

// Limits of a latency chart.
const (
	minQuantiles = 3 // of a line
	maxLatencies = 8
)

// diskLatencyCases gathers the cases with one reader.
func diskLatencyCases(reports []*results.Report) []diskCase {
	return slices.DeleteFunc(diskCases(reports, func(r *results.Result) bool {
		return len(quantilesOf(r, "read_latency")) >= minQuantiles
	}), func(c diskCase) bool { return c.Readers != 1 })
}

// diskLatenciesOf extracts the chart's data: one element, none without a case that
// worked. Lines that do not fit are those of the less informative states of the cache
// and of unusual orders.
func diskLatenciesOf(reports []*results.Report) []diskLatencies {
	cases := diskLatencyCases(reports)
	if !slices.ContainsFunc(cases, func(c diskCase) bool { return !c.Failed() }) {
		return nil
	}
	chosen := slices.Clone(cases)
	slices.SortStableFunc(chosen, func(a, b diskCase) int {
		return cmp.Or(compareBool(a.Order != "", b.Order != ""), compareBool(a.Disk != "", b.Disk != ""),
			cmp.Compare(latencyRank(a.Cache), latencyRank(b.Cache)))
	})
	chosen = chosen[:min(len(chosen), maxLatencies)]
	d := diskLatencies{LeftOut: len(cases) - len(chosen), reports: reports}
	sources := sourcesOf(cases)
	for _, c := range cases {
		if slices.Contains(chosen, c) {
			d.Lines = append(d.Lines, latencyLineOf(c, c.name(), slices.Index(sources, c.source)))
		}
	}
	return []diskLatencies{d}
}

func latencyLineOf(c diskCase, name string, source int) latencyLine {
	l := latencyLine{Name: name, Failed: c.Failed(), Unproven: c.Unproven, diskStroke: diskStroke{source, c.Cache, c.Disk != ""}}
	if !l.Failed {
		l.Points = quantilesOf(c.Result, "read_latency")
	}
	return l
}

// latencyRank is the order in which states of the cache are worth a line.
func latencyRank(cache string) int {
	i := slices.Index([]string{"cold-data", "direct", "warm", paced}, cache)
	if i < 0 {
		return len(cacheOrder) + 1
	}
	return i
}

// quantilesOf reads the quantiles of a metric in ascending order, without those
// that cannot be drawn or do not ascend.
func quantilesOf(r *results.Result, metric string) []results.Quantile {
	m := r.Metric(metric)
	if m == nil {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(m.Quantiles), func(q results.Quantile) bool {
		return !(q.P > 0 && q.P < 1) || !positive(q.Value) || q.Value < tiny
	})
	slices.SortStableFunc(all, func(a, b results.Quantile) int { return cmp.Compare(a.P, b.P) })
	var ascending []results.Quantile
	for _, q := range all {
		if n := len(ascending); n == 0 || q.P > ascending[n-1].P && q.Value >= ascending[n-1].Value {
			ascending = append(ascending, q)
		}
	}
	return ascending
}

// at is the p-quantile of l, between two neighbours that it has; 0 outside of them.
func (l latencyLine) at(p float64) float64 {
	for i, q := range l.Points {
		switch {
		case q.P == p:
			return q.Value
		case q.P > p && i == 0:
			return 0
		case q.P > p:
			o := l.Points[i-1]
			return o.Value + (q.Value-o.Value)*(p-o.P)/(q.P-o.P)
		}
	}
	return 0
}

// bounds are the range of times that is drawn, at least a decade.
func (d diskLatencies) bounds() (least, most float64) {
	least = math.Inf(1)
	for _, l := range d.Lines {
		for _, q := range l.Points {
			least, most = min(least, q.Value), max(most, q.Value)
		}
	}
	least, most = least/1.2, most*1.2
	if widen := math.Sqrt(10 * least / most); widen > 1 {
		least, most = least/widen, most*widen
	}
	return least, most
}
