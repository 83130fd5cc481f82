package chart

import (
	"cmp"
	"slices"

	"dlbench/bench/theory"
	"dlbench/results"
)

// batchTimes are the times of copying one float32 batch to devices, warm source.
type batchTimes struct {
	Batch   theory.Batch
	Groups  []batchGroup
	reports []*results.Report // those that Groups come from
}

// batchGroup is one device and its link, or main memory. Times are in seconds; a
// reference that there is none of is 0.
type batchGroup struct {
	Title    []string // lines
	Host     bool     // a copy within main memory
	LineRate float64
	Protocol span
	Theory   float64 // the article's
	Practice float64
	Bars     []batchBar
}

// batchBar is one kind of host memory.
type batchBar struct {
	Mem string
	point
	Failed    bool // no bar, but a row that says so
	Assumed   bool
	Published span
}

// maxGroups is how many devices one batch time chart shows; more go to another.
const maxGroups = 16

// batchTimesOf extracts the charts' data: one element for each batch size, more
// for more than maxGroups devices.
func batchTimesOf(reports []*results.Report) []batchTimes {
	var all []batchTimes
	for _, b := range batches(reports) {
		var those []*results.Report
		for _, r := range reports {
			if have, ok := batchOf(r, "float32"); ok && have == b {
				those = append(those, r)
			}
		}
		groups := batchGroups(those, b)
		if !slices.ContainsFunc(groups, func(g batchGroup) bool {
			return !g.Host && slices.ContainsFunc(g.Bars, func(b batchBar) bool { return !b.Failed })
		}) {
			continue
		}
		for part := range slices.Chunk(groups, maxGroups) {
			all = append(all, batchTimes{b, part, those})
		}
	}
	return all
}

// batches lists the different batches of reports.
func batches(reports []*results.Report) []theory.Batch {
	var all []theory.Batch
	for _, r := range reports {
		if b, ok := batchOf(r, "float32"); ok && !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

// batchCopies gathers the copies of a batch from host to device and within main
// memory, of the reports that have that batch.
func batchCopies(reports []*results.Report, batch theory.Batch) []copies {
	return pcieCopies(reports, func(rep *results.Report, r *results.Result) bool {
		want := "h2d"
		if r.Params.Text("device") == "host" {
			want = "h2h"
		}
		have, _ := batchOf(rep, "float32")
		_, ok := pointOf(r, "time")
		return have == batch && (ok || r.Status == results.Failed) && r.Params.Text("dir") == want &&
			r.Params.Int("bytes") == batch.Bytes() && cmp.Or(r.Params.Text("dtype"), "float32") == "float32"
	})
}

// batchGroups extracts the groups of a chart of one batch.
func batchGroups(reports []*results.Report, batch theory.Batch) []batchGroup {
	var groups []batchGroup
	for _, c := range batchCopies(reports, batch) {
		device, link := c.title(reports[c.report])
		g := batchGroup{Title: []string{device}, Host: c.Spec == "host"}
		if link != "" {
			g.Title = append(g.Title, link)
		}
		for _, r := range c.Results {
			mem := clean(r.Params.Text("mem"))
			if slices.ContainsFunc(g.Bars, func(b batchBar) bool { return b.Mem == mem }) {
				continue // the same copy with other parameters; the first is the plain one
			}
			p, _ := pointOf(r, "time")
			b := batchBar{mem, p, false, len(r.Assumed) > 0, spanOf(r, "published", "time")}
			if r.Status == results.Failed {
				b = batchBar{Mem: mem, Failed: true, Assumed: b.Assumed}
			}
			g.Bars = append(g.Bars, b)
			first(&g.LineRate, valueOf(r, "line-rate", "time"))
			first(&g.Protocol, spanOf(r, "protocol-band", "time"))
			first(&g.Theory, valueOf(r, "article-theory", "time"))
			first(&g.Practice, valueOf(r, "article-practice", "time"))
		}
		slices.SortStableFunc(g.Bars, func(a, b batchBar) int { return compareMem(a.Mem, b.Mem) })
		groups = append(groups, g)
	}
	return groups
}

// first sets p to v unless it is set.
func first[T comparable](p *T, v T) {
	var none T
	if *p == none {
		*p = v
	}
}
