package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

// batchParts is where the time of a batch goes, from the verdict of each report, against
// what the GPU needs; a group for each machine.
func batchParts(reports []*results.Report) []picture {
	v := bars{
		title:    "Where a batch's time goes",
		subtitle: "Time of each part by itself; the parts overlap, and the slowest sets the pace",
		quantity: timePerBatch,
		reports:  reports,
		linear:   true,
		apart:    true,
	}
	for i, rep := range reports {
		n := rep.Config.Batch
		if rep.Verdict == nil || len(rep.Verdict.Parts) == 0 || n <= 0 {
			continue
		}
		title := "A batch of " + results.Plural(n, "image")
		if len(reports) > 1 {
			title = machines(reports)[i] + ", a batch of " + results.Plural(n, "image")
		}
		for _, r := range partRows(rep.Verdict) {
			v.add(title, r.Detail, "", r)
		}
		if drawable(rep.Verdict.Feeds) {
			v.add(title, "all together", "", batchRow(rep.Verdict, float64(n)))
		}
		if len(reports) < 2 {
			v.addThreads(rep)
		}
		v.addNeed(rep, n)
	}
	if v.Needs != nil {
		v.title += ", and what the GPU needs"
	}
	return v.pictures()
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
		r := barRow{Detail: short(p.Title()), point: point{Median: p.Time},
			Value: batchTime(p.Time), fill: cmp.Or(partColor[name], partColor[results.PartPreprocess])}
		if p.Name == d.Bottleneck {
			r.Value += ", bottleneck"
		}
		part := map[string]string{results.PartCopy: "link", results.PartRead: "disk"}[name]
		if slices.Contains(d.Assumed, part) {
			r.Assumed = []string{part}
		}
		all = append(all, r)
	}
	return all
}

// batchRow is the time in which the loader feeds a batch of n images.
func batchRow(d *results.Verdict, n float64) barRow {
	r := barRow{point: point{Median: n / *d.Feeds}}
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
	if len(all) == 0 || len(all[0]) < 2 || len(all[0]) >= minPoints {
		return
	}
	for _, c := range all[0] {
		if p, ok := pointOf(c.Result, "throughput"); ok {
			t := float64(rep.Config.Batch) / p.Median
			v.add("Decoding and cropping a batch, by threads", results.Plural(c.Threads, "thread"), "",
				barRow{point: point{Median: t}, Value: batchTime(t), fill: partColor[results.PartPreprocess]})
		}
	}
}

// whatIfs are what changes would bring, from the verdict of each report.
func whatIfs(reports []*results.Report) []picture {
	v := bars{
		title:    "What would help",
		subtitle: "Images/s that the loader would feed",
		quantity: throughput,
		reports:  reports,
		spread:   "from the least to the most to expect",
	}
	for i, rep := range reports {
		if rep.Verdict == nil || len(rep.Verdict.Changes) == 0 || rep.Verdict.Answer == results.AnswerBusy {
			continue
		}
		for _, r := range changeRows(rep.Verdict) {
			r.Machine = i
			v.add("", r.Detail, "", r)
		}
		v.addNeed(rep, 0)
		if none := rep.Verdict.NoEffect; len(none) > 0 && !v.several() {
			v.subtitle += ". No effect: " + clean(strings.Join(none, ", "))
		}
	}
	return v.pictures()
}

// changeRows are the loader as it is, and what changes to it would bring.
func changeRows(d *results.Verdict) (all []barRow) {
	if drawable(d.Feeds) {
		r := barRow{Detail: "as it is", point: point{Median: *d.Feeds}, Value: fmt.Sprintf("%.0f", *d.Feeds)}
		r.Spread = spanAround(r.Median, d.FeedsLo, d.FeedsHi)
		all = append(all, r)
	}
	for _, c := range d.Changes {
		if !positive(c.Value) {
			continue
		}
		r := barRow{Detail: cmp.Or(clean(c.Name), "unnamed change"), point: point{Median: c.Value}}
		r.Value = fmt.Sprintf("%.0f", c.Value)
		if r.Spread = spanAround(c.Value, &c.Lo, &c.Hi); r.Spread != (span{}) {
			r.Value = fmt.Sprintf("%.0f to %.0f", c.Lo, c.Hi)
		}
		if d.Needs != nil {
			r.Value += results.After(", ", map[string]string{"yes": "enough", "perhaps": "perhaps enough"}[c.Enough])
		}
		if strings.HasPrefix(c.Evidence, "extrapolated") {
			r.Marks = markOf(c.Value, "extrapolated: outside of what was checked", drawOpen)
		}
		all = append(all, r)
	}
	return all
}

// addNeed adds a line for what the GPU of a report needs, each once: images/s, or the time of a
// batch of so many images.
func (v *bars) addNeed(rep *results.Report, batch int) {
	d := rep.Verdict
	if d == nil || !drawable(d.Needs) {
		return
	}
	at, words := *d.Needs, throughput.value(*d.Needs)
	if batch > 0 {
		at = float64(batch) / at
		words = batchTime(at) + " a batch"
	} else if strings.Contains(d.NeedsFrom, imagesUnit) {
		words = ""
	}
	text := "needed: " + results.List(words, cmp.Or(short(d.NeedsFrom), "by the GPU"))
	if !slices.ContainsFunc(v.Needs, func(m mark) bool { return m.Text == text }) {
		v.Needs = append(v.Needs, mark{At: at, Text: text})
	}
	slices.SortStableFunc(v.Needs, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	v.Needs = v.Needs[:min(len(v.Needs), maxNeeds)]
}
