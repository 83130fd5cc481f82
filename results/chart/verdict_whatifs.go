package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlbench/results"
)

// whatIfs are what changes would bring, from the verdict of each report: of one machine a
// row for each change after the loader as it is, of several a group for each change.
func whatIfs(reports []*results.Report) bars {
	v := bars{
		title:    "What would help",
		subtitle: "Images/s that the loader would feed",
		quantity: throughput,
		captions: captions(reports),
		spread:   "from the least to the most to expect",
	}
	v.compare(reports)
	for i, rep := range reports {
		if rep.Verdict == nil || len(rep.Verdict.Changes) == 0 || rep.Verdict.Answer == results.AnswerBusy {
			continue
		}
		for _, r := range changeRows(rep.Verdict) {
			g := barGroup{}
			if r.Machine = i; v.machines != nil {
				g.Title, g.key, r.Detail = r.Detail, r.Detail, ""
			}
			v.add(g, r)
		}
		v.addRate(rep)
		if none := rep.Verdict.NoEffect; len(none) > 0 && v.machines == nil {
			v.subtitle += ". No effect: " + clean(strings.Join(none, ", "))
		}
	}
	return v
}

// changeRows are the loader as it is, and what changes to it would bring.
func changeRows(d *results.Verdict) (all []barRow) {
	if drawable(d.Feeds) {
		r := barRow{Detail: "as it is", point: point{Median: *d.Feeds}}
		r.Spread = spanAround(r.Median, d.FeedsLo, d.FeedsHi)
		r.Value = fmt.Sprintf("%.0f", r.Median)
		all = append(all, r)
	}
	for _, c := range d.Changes {
		if !positive(c.Value) {
			continue
		}
		r := barRow{Detail: cmp.Or(clean(c.Name), "unnamed change"), point: point{Median: c.Value}}
		if r.Spread = spanAround(c.Value, &c.Lo, &c.Hi); r.Spread != (span{}) {
			r.Value = fmt.Sprintf("%.0f to %.0f", c.Lo, c.Hi)
		} else {
			r.Value = fmt.Sprintf("%.0f", c.Value)
		}
		if d.Needs != nil {
			r.Value += results.After(", ", map[string]string{"yes": "enough", "perhaps": "perhaps enough"}[c.Enough])
		}
		if strings.HasPrefix(c.Evidence, caveatExtrapolated) {
			r.Caveat = caveatExtrapolated
		}
		all = append(all, r)
	}
	return all
}

// needOf is what the GPU of a report needs, in images/s; 0 where that is not known.
func needOf(rep *results.Report) float64 {
	if rep.Verdict == nil || !drawable(rep.Verdict.Needs) {
		return 0
	}
	return *rep.Verdict.Needs
}

// addNeed adds a line for what the GPU of a report needs, as a value of the axis and in
// words, each once.
func (v *bars) addNeed(rep *results.Report, at float64, words string) {
	if !positive(at) {
		return
	}
	text := "needed: " + results.List(words, cmp.Or(short(rep.Verdict.NeedsFrom), "by the GPU"))
	if !slices.ContainsFunc(v.Needs, func(m mark) bool { return m.Text == text }) {
		v.Needs = append(v.Needs, mark{At: at, Text: text})
	}
	slices.SortStableFunc(v.Needs, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	v.Needs = v.Needs[:min(len(v.Needs), maxNeeds)]
}

// addRate adds a line for the images/s that the GPU of a report needs.
func (v *bars) addRate(rep *results.Report) {
	words := throughput.value(needOf(rep))
	if rep.Verdict != nil && strings.Contains(rep.Verdict.NeedsFrom, imagesUnit) {
		words = ""
	}
	v.addNeed(rep, needOf(rep), words)
}
