package chart

import (
	"math"
	"slices"

	"dlbench/results"
)

// diskTimes are the times of reading one batch with one reader.
type diskTimes struct {
	Groups  []diskGroup
	reports []*results.Report
}

// diskGroup is one store of one disk. Times are in seconds; a reference that there
// is none of is 0.
type diskGroup struct {
	Title   []string  // lines
	Bytes   int64     // of a batch as it is stored, 0 unknown
	Peaks   []float64 // as diskPeaks
	Article float64
	Bars    []diskBar
	rates   []float64 // of Peaks, bytes per second
}

// diskBar is one state of the page cache.
type diskBar struct {
	Cache string
	point
	Failed   bool // no bar, but a row that says so
	Assumed  bool
	Unproven bool
}

// diskTimeCases gathers the cases with one reader. The unusual order of a store is
// among them where there is no other.
func diskTimeCases(reports []*results.Report) []diskCase {
	cases := slices.DeleteFunc(diskCases(reports, func(r *results.Result) bool {
		_, ok := diskPoint(r, "time")
		return ok
	}), func(c diskCase) bool { return c.Readers != 1 })
	return slices.DeleteFunc(slices.Clone(cases), func(c diskCase) bool {
		usual := c.source
		usual.Order = ""
		return c.Order != "" && slices.ContainsFunc(cases, func(o diskCase) bool { return o.source == usual })
	})
}

// diskTimesOf extracts the charts' data: one element, more for more than maxGroups
// groups.
func diskTimesOf(reports []*results.Report) []diskTimes {
	cases := diskTimeCases(reports)
	if !slices.ContainsFunc(cases, func(c diskCase) bool { return !c.Failed() }) {
		return nil
	}
	var groups []diskGroup
	for len(cases) > 0 {
		n := slices.IndexFunc(cases, func(c diskCase) bool { return c.source != cases[0].source })
		if n < 0 {
			n = len(cases)
		}
		groups = append(groups, diskGroupOf(reports, cases[:n]))
		cases = cases[n:]
	}
	var all []diskTimes
	for part := range slices.Chunk(groups, maxGroups) {
		all = append(all, diskTimes{part, reports})
	}
	return all
}

// diskGroupOf makes a group of the cases of one source.
func diskGroupOf(reports []*results.Report, cases []diskCase) diskGroup {
	g := diskGroup{Peaks: make([]float64, len(diskPeaks)), rates: make([]float64, len(diskPeaks))}
	for _, c := range cases {
		b := diskBar{Cache: c.Cache, Failed: c.Failed(), Assumed: c.Disk != ""}
		if !b.Failed {
			b.point, _ = diskPoint(c.Result, "time")
			b.Unproven = c.Unproven
			first(&g.Bytes, batchBytes(reports[c.Report], c.Result))
			for i, p := range diskPeaks {
				first(&g.Peaks[i], valueOf(c.Result, p.name, "time"))
				first(&g.rates[i], valueOf(c.Result, p.name, "bandwidth"))
			}
			first(&g.Article, valueOf(c.Result, "article", "time"))
		}
		g.Bars = append(g.Bars, b)
	}
	s := cases[0].source
	g.Title = []string{s.title()}
	if g.Bytes > 0 {
		g.Title = append(g.Title, results.FormatBytes(g.Bytes)+" a batch")
	}
	if s.Disk != "" {
		g.Title = append(g.Title, s.disk())
	}
	return g
}

// batchBytes is what the case reads for a batch: the time of one times the
// bandwidth, to three digits, as medians of both are not of one sample. What comes
// out as the run's own batch is that.
func batchBytes(rep *results.Report, r *results.Result) int64 {
	t, ok := pointOf(r, "time")
	rate, both := pointOf(r, "bandwidth")
	n := t.Median * rate.Median
	if !ok || !both || n < 1 || n > 1e18 {
		return 0
	}
	if b, ok := batchOf(rep, rep.Config.DType); ok && math.Abs(n/float64(b.Bytes())-1) < 0.002 {
		return b.Bytes()
	}
	unit := math.Pow10(max(0, int(math.Floor(math.Log10(n)))-2))
	return int64(math.Round(n/unit) * unit)
}

// bounds are the least and the greatest time that is drawn.
func (d diskTimes) bounds() (least, most float64) {
	least = math.Inf(1)
	see := func(times ...float64) {
		for _, t := range times {
			if t >= tiny {
				least, most = min(least, t), max(most, t)
			}
		}
	}
	for _, g := range d.Groups {
		see(g.Peaks...)
		see(g.Article)
		for _, b := range g.Bars {
			see(b.Median, b.Spread.Lo, b.Spread.Hi)
		}
	}
	return least, most
}

func (d diskTimes) any(f func(diskBar) bool) bool {
	return slices.ContainsFunc(d.Groups, func(g diskGroup) bool { return slices.ContainsFunc(g.Bars, f) })
}
