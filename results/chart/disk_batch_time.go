package chart

import (
	"cmp"
	"math"
	"slices"

	"dlbench/results"
)

// cacheTexts say what was measured in each state of the page cache.
var cacheTexts = map[string]string{
	results.ColdData: "evicted from the page cache",
	results.ColdAll:  "all caches dropped",
	results.Direct:   "past the page cache",
	results.Warm:     "from the page cache, in memory",
}

// diskTimeCases gathers the cases with one reader. The unusual order of a store is
// among them where there is no other.
func diskTimeCases(reports []*results.Report) []diskCase {
	cases := ofOneReader(diskCases(reports, func(r *results.Result) bool { return has(r, "time") }))
	return slices.DeleteFunc(slices.Clone(cases), func(c diskCase) bool {
		return c.Order != "" && slices.ContainsFunc(cases, func(o diskCase) bool {
			usual := o.source()
			usual.Order = c.Order
			return o.Order == "" && o.report == c.report && usual == c.source()
		})
	})
}

// diskTimes has a group for each store, and of several machines for each state of the
// page cache too.
func diskTimes(reports []*results.Report) bars {
	v := bars{
		title:    "Time to read one batch from disk",
		subtitle: "One reader, each store in its usual order; median, shorter is better",
		quantity: timePerBatch,
		captions: captions(reports),
	}
	v.compare(reports)
	for _, c := range diskTimeCases(reports) {
		row := rowOf(c.measured, "time", timePerBatch)
		if c.unproven() && !row.Failed {
			row.Caveat = caveatUnproven
		}
		g := barGroup{}
		if c.Disk != "" {
			g.Assumed = []string{"disk " + results.Clip(c.Disk, maxDevice)}
		}
		key := c.source()
		if v.machines == nil {
			g.Title = results.List(c.title(), batchText(reports[c.report], c.Result))
			row.Detail, row.fill = cacheText(c.Cache), partColor[results.PartRead]
		} else {
			g.Title, key.Cache = results.List(c.title(), cacheText(c.Cache)), c.Cache
			row.Detail = batchText(reports[c.report], c.Result) // which may not be alike
		}
		g.key, row.Marks = key, diskMarks(c, v.machines != nil)
		v.add(g, row)
	}
	stores := []string{"files", "tar", "raw", "tensor"}
	slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
		k, o := a.key.(results.DiskParams), b.key.(results.DiskParams)
		return cmp.Or(compareBool(k.Disk != "", o.Disk != ""), compareIn(stores, k.Store, o.Store),
			compareIn(cacheOrder, k.Cache, o.Cache))
	})
	return v
}

// cacheText names a state of the page cache and says what that is.
func cacheText(cache string) string {
	name := results.Clip(cmp.Or(cache, "unknown cache"), maxDevice)
	if text := cacheTexts[cache]; text != "" {
		return name + " (" + text + ")"
	}
	return name
}

// batchText is how large the batch is that the case reads: the time of one times the
// bandwidth, to three digits, as medians of both are not of one sample.
func batchText(rep *results.Report, r *results.Result) string {
	t, ok := pointOf(r, "time")
	rate, both := pointOf(r, "bandwidth")
	n := t.Median * rate.Median
	if !ok || !both || n < 1 || n > 1e18 {
		return ""
	}
	if b, ok := batchOf(rep, rep.Config.DType); ok && math.Abs(n/float64(b.Bytes())-1) < 0.002 {
		n = float64(b.Bytes())
	} else {
		unit := math.Pow10(max(0, int(math.Floor(math.Log10(n)))-2))
		n = math.Round(n/unit) * unit
	}
	return results.FormatBytes(int64(n)) + " a batch"
}

// diskMarks are the references of a case that worked. Of several machines each has its
// own link.
func diskMarks(c diskCase, several bool) (all []mark) {
	if c.Failed() {
		return nil
	}
	for i, p := range peaks {
		text := p.title
		if rate := valueOf(c.Result, p.name, "bandwidth"); rate > 0 && !(several && i == 0) {
			text += ", " + results.FormatExact(rate, results.BytesPerSecond)
		}
		all = append(all, markOf(valueOf(c.Result, p.name, "time"), text, p.glyph)...)
	}
	t := valueOf(c.Result, "article", "time")
	text := "article's hard disk: " + results.FormatExact(t, results.Seconds) + " (100 MiB/s)"
	return append(all, markOf(t, text, drawTheory)...)
}
