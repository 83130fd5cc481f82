package chart

import (
	"cmp"
	"fmt"
	"slices"

	"dlbench/results"
)

// partTitles are the parts of a loader in words.
var partTitles = map[string]string{results.PartPreprocess: "decode+crop",
	results.PartRead + "+" + results.PartPreprocess: "read, decode"}

// batchParts is where the time of a batch goes, from the verdict of each report, against
// what the GPU needs; a group for each machine.
func batchParts(reports []*results.Report) bars {
	v := bars{
		title:    "Where a batch's time goes",
		subtitle: "Time of each part by itself; the parts overlap, and the slowest sets the pace",
		quantity: timePerBatch,
		captions: captions(reports),
		linear:   true,
	}
	names := machines(reports)
	for i, rep := range reports {
		n := rep.Config.Batch
		if rep.Verdict == nil || len(rep.Verdict.Parts) == 0 || n <= 0 {
			continue
		}
		g := barGroup{Title: fmt.Sprintf("A batch of %d images", n), key: i}
		if len(reports) > 1 {
			g.Title = names[i] + ", a batch of " + results.Plural(n, "image")
		}
		for _, r := range slices.Concat(partRows(rep.Verdict), []barRow{batchRow(rep)}) {
			if r.Value != "" {
				v.add(g, r)
			}
		}
		if len(reports) < 2 {
			v.addThreads(rep)
		}
		if rate := needOf(rep); rate > 0 {
			v.title = "Where a batch's time goes, and what the GPU needs"
			v.addNeed(rep, float64(n)/rate, batchTime(float64(n)/rate)+" a batch")
		}
	}
	return v
}

// batchTime is a time with as many digits as the first screen gives it.
func batchTime(s float64) string { return fmt.Sprintf("%.1f ms", 1e3*s) }

// partRows are the parts of a loader, of which the bottleneck is marked.
func partRows(d *results.Verdict) (all []barRow) {
	for _, p := range d.Parts {
		if !positive(p.Time) {
			continue
		}
		name := clean(p.Name)
		r := barRow{Detail: cmp.Or(partTitles[name], short(name)), point: point{Median: p.Time},
			Value: batchTime(p.Time), fill: cmp.Or(partColor[name], partColor[results.PartPreprocess])}
		if p.Name == d.Bottleneck {
			r.Value += ", bottleneck"
		}
		if r.Simulated = name == results.PartCopy && slices.Contains(d.Assumed, "link") ||
			name == results.PartRead && slices.Contains(d.Assumed, "disk"); r.Simulated {
			r.Value += ", simulated"
		}
		all = append(all, r)
	}
	return all
}

// batchRow is the time in which the loader feeds a batch, without a value where that is not
// known.
func batchRow(rep *results.Report) barRow {
	d, n := rep.Verdict, float64(rep.Config.Batch)
	if !drawable(d.Feeds) {
		return barRow{}
	}
	r := barRow{Detail: "all together", point: point{Median: n / *d.Feeds}, fill: seriesColor[0]}
	r.Value = fmt.Sprintf("%s, %.0f images/s", batchTime(r.Median), *d.Feeds)
	if drawable(d.FeedsLo) && drawable(d.FeedsHi) {
		lo, hi := n / *d.FeedsHi, n / *d.FeedsLo
		r.Spread = spanAround(r.Median, &lo, &hi)
	}
	return r
}

// addThreads adds how preprocessing of a batch gets faster with threads, of a report with
// too few counts of them for a chart of lines.
func (v *bars) addThreads(rep *results.Report) {
	all := preprocessMethods([]*results.Report{rep})
	if len(all) == 0 || len(all[0]) < 2 || len(all[0]) >= minCounts {
		return
	}
	g := barGroup{Title: "Decoding and cropping a batch, by threads", key: "threads"}
	for _, c := range all[0] {
		if p, ok := pointOf(c.Result, "throughput"); ok {
			t := float64(rep.Config.Batch) / p.Median
			v.add(g, barRow{Detail: results.Plural(c.Threads, "thread"), point: point{Median: t},
				Value: batchTime(t), fill: partColor[results.PartPreprocess]})
		}
	}
}
