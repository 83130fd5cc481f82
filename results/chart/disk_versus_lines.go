package chart

import (
	"cmp"
	"slices"

	"dlbench/results"
)

// diskReadersVersusCharts shows what more readers bring to each machine.
func diskReadersVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range diskReadersVersus(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("disk-readers", figures)
}

// diskReadersVersus has an element for each store and state of the page cache, with
// a line for each machine.
func diskReadersVersus(reports []*results.Report) []diskReaders {
	cases := diskCases(reports, func(r *results.Result) bool {
		_, ok := diskPoint(r, "bandwidth")
		return ok
	})
	var all []diskReaders
	for _, same := range alikeCases(cases) {
		for _, cache := range cachesOf(same) {
			d := diskReaders{What: same[0].what(cache), reports: reports}
			for i := range reports {
				lines := readersLines(reports, slices.DeleteFunc(slices.Clone(same), func(c diskCase) bool { return c.Report != i || c.Cache != cache }))
				for _, l := range lines {
					l.Name, l.Source = l.machine, i
					d.Lines = append(d.Lines, l)
				}
			}
			if slices.ContainsFunc(d.Lines, func(l readersLine) bool { return len(l.Points) >= minCounts }) {
				d.Peaks = d.peaks()
				all = append(all, d)
			}
		}
	}
	return all
}

// diskLatencyVersusCharts shows how the times of single reads are distributed on each
// machine.
func diskLatencyVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range diskLatenciesVersus(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("disk-latency", figures)
}

// diskLatenciesVersus has an element for each store, with a line for each machine, in
// the one state of the page cache that most of them have.
func diskLatenciesVersus(reports []*results.Report) []diskLatencies {
	names := machines(reports)
	var all []diskLatencies
	for _, same := range alikeCases(diskLatencyCases(reports)) {
		cache := slices.MinFunc(cachesOf(same), func(a, b string) int {
			return cmp.Or(cmp.Compare(having(same, b), having(same, a)), cmp.Compare(latencyRank(a), latencyRank(b)))
		})
		d := diskLatencies{What: same[0].what(cache), reports: reports}
		for _, c := range same {
			if c.Cache == cache {
				d.Lines = append(d.Lines, latencyLineOf(c, names[c.Report], c.Report))
			}
		}
		if slices.ContainsFunc(d.Lines, func(l latencyLine) bool { return !l.Failed }) {
			all = append(all, d)
		}
	}
	return all
}

// having counts the cases in that state of the page cache.
func having(cases []diskCase, cache string) (n int) {
	for _, c := range cases {
		if c.Cache == cache {
			n++
		}
	}
	return n
}

// alikeCases sorts cases by their source, whatever their machine.
func alikeCases(cases []diskCase) [][]diskCase {
	var sources []source
	var all [][]diskCase
	for _, c := range cases {
		s := c.source
		s.Report = 0
		i := slices.Index(sources, s)
		if i < 0 {
			i = len(sources)
			sources, all = append(sources, s), append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// what names the source of c and the state of the page cache.
func (c diskCase) what(cache string) string {
	c.Cache = cache
	return c.name()
}

// cachesOf lists the states of the page cache of cases.
func cachesOf(cases []diskCase) []string {
	var all []string
	for _, c := range cases {
		if !slices.Contains(all, c.Cache) {
			all = append(all, c.Cache)
		}
	}
	slices.SortFunc(all, compareCache)
	return all
}
