package chart

import (
	"cmp"
	"fmt"
	"image/color"
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
		d, n := rep.Verdict, rep.Config.Batch
		if d == nil || len(d.Parts) == 0 || n <= 0 {
			continue
		}
		title := "A batch of " + results.Plural(n, "image")
		if len(reports) > 1 {
			title += ", " + machines(reports)[i]
		}
		for _, p := range d.Parts {
			if positive(p.Time) {
				v.add(title, short(p.Title()), "", partRow(d, p))
			}
		}
		if drawable(d.Feeds) {
			all := batchRow(float64(n)/(*d.Feeds), fmt.Sprintf(", %.0f images/s", *d.Feeds), nil)
			if drawable(d.FeedsLo) && drawable(d.FeedsHi) {
				all.Spread = spanAround(all.Median, new(float64(n)/(*d.FeedsHi)), new(float64(n)/(*d.FeedsLo)))
			}
			v.add(title, "all together", "", all)
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

// batchRow is a time of a batch in s, with what there is to say of it.
func batchRow(s float64, words string, fill color.Color) barRow {
	return barRow{point: point{Median: s}, Value: batchTime(s) + words, fill: fill}
}

// partRow is a part of a loader; the bottleneck is marked.
func partRow(d *results.Verdict, p results.PartTime) barRow {
	name := clean(p.Name)
	r := batchRow(p.Time, "", cmp.Or(partColor[name], partColor[results.PartPreprocess]))
	if p.Name == d.Bottleneck {
		r.Value += ", bottleneck"
	}
	part := map[string]string{results.PartCopy: "link", results.PartRead: "disk"}[name]
	if slices.Contains(d.Assumed, part) {
		r.Assumed = []string{part}
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
			v.add("Decoding and cropping a batch, by threads", results.Plural(c.Threads, "thread"), "",
				batchRow(float64(rep.Config.Batch)/p.Median, "", partColor[results.PartPreprocess]))
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
		d := rep.Verdict
		if drawable(d.Feeds) {
			v.add("", "as it is", "", barRow{Machine: i, Value: fmt.Sprintf("%.0f", *d.Feeds),
				point: point{Median: *d.Feeds, Spread: spanAround(*d.Feeds, d.FeedsLo, d.FeedsHi)}})
		}
		for _, c := range d.Changes {
			if positive(c.Value) {
				v.add("", cmp.Or(clean(c.Name), "unnamed change"), "", changeRow(i, c, d.Needs != nil))
			}
		}
		v.addNeed(rep, 0)
		if none := d.NoEffect; len(none) > 0 && !v.several() {
			v.subtitle += ". No effect: " + clean(strings.Join(none, ", "))
		}
	}
	return v.pictures()
}

// changeRow is what a change to the loader of a machine would bring.
func changeRow(machine int, c results.Change, needed bool) barRow {
	r := barRow{Machine: machine, Value: fmt.Sprintf("%.0f", c.Value),
		point: point{Median: c.Value, Spread: spanAround(c.Value, &c.Lo, &c.Hi)}}
	if r.Spread != (span{}) {
		r.Value = fmt.Sprintf("%.0f to %.0f", c.Lo, c.Hi)
	}
	if needed {
		r.Value += results.After(", ", map[string]string{"yes": "enough", "perhaps": "perhaps enough"}[c.Enough])
	}
	if strings.HasPrefix(c.Evidence, "extrapolated") {
		r.Marks = markOf(c.Value, "extrapolated: outside of what was checked", outline(circle, paper))
	}
	return r
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
	}
	text := "needed: " + results.List(words, cmp.Or(short(d.NeedsFrom), "by the GPU"))
	if !slices.ContainsFunc(v.Needs, func(m mark) bool { return m.Text == text }) {
		v.Needs = append(v.Needs, mark{At: at, Text: text})
	}
}
