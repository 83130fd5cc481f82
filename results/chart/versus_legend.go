package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend explains parts, strokes and marks; the machines are named beside their
// markers.
func (v versus) legend() []entry {
	var all []entry
	for i, p := range v.parts {
		if v.any(func(_ versusGroup, r versusRow) bool { return i < len(r.Parts) && r.Parts[i] > 0 }) {
			all = append(all, entry{p.text, func(c draw.Canvas) { fillBox(c, p.fill, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }})
		}
	}
	assumed, measured := v.kinds()
	if measured && (assumed || v.parts == nil) {
		all = append(all, entry{cmp.Or(v.whole, "measured"), func(c draw.Canvas) { drawBar(c, muted, false, c.Min.X, c.Min.Y+1*px, c.Max.X, c.Max.Y-1*px) }})
	}
	if assumed {
		all = append(all, entry{"assumed " + v.assumed() + ": paced stand-ins, not a measurement", func(c draw.Canvas) {
			drawBar(c, muted, true, c.Min.X, c.Min.Y+1*px, c.Max.X, c.Max.Y-1*px)
		}})
	}
	for _, d := range doubts {
		if !v.any(func(_ versusGroup, r versusRow) bool { return r.Doubt == d.name }) {
			continue
		}
		all = append(all, entry{d.meaning, func(c draw.Canvas) { drawCaseBar(c, muted, false, true, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }})
	}
	intervals := v.any(func(_ versusGroup, r versusRow) bool { return r.Spread != span{} && !r.Range })
	text := spreadText(intervals, v.any(func(_ versusGroup, r versusRow) bool { return r.Range }))
	if intervals {
		text = cmp.Or(v.spread, text)
	}
	if text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawWhisker(c, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y) }})
	}
	for _, m := range v.marks() {
		all = append(all, entry{m.Text, func(c draw.Canvas) { m.draw(c, c.Center()) }})
	}
	if v.any(func(_ versusGroup, r versusRow) bool { return r.Band != span{} }) {
		all = append(all, entry{"protocol band: packets of 64 to 256 B", func(c draw.Canvas) { fillBox(c, shade, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }})
	}
	if v.any(func(_ versusGroup, r versusRow) bool { return r.Others != span{} }) {
		all = append(all, entry{"published by others for that link and memory", func(c draw.Canvas) { drawBracket(c, c.Min.X, c.Max.X, c.Center().Y) }})
	}
	if len(v.Demands) > 0 {
		all = append(all, entry{"demand of a model on a GPU", func(c draw.Canvas) {
			c.StrokeLine2(demandStroke, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		}})
	}
	return all
}

// doubts are what hatched rows are.
var doubts = []struct{ name, meaning string }{
	{doubtUnproven, unprovenMeaning},
	{doubtExtrapolated, "extrapolated: outside of what was checked"},
}

const doubtUnproven, doubtExtrapolated = "unproven", "extrapolated"

// marks are the references that rows and groups have, each meaning once.
func (v versus) marks() []versusMark {
	var all []versusMark
	see := func(marks []versusMark) {
		for _, m := range marks {
			if !slices.ContainsFunc(all, func(o versusMark) bool { return o.Text == m.Text }) {
				all = append(all, m)
			}
		}
	}
	for _, g := range v.Groups {
		see(g.Marks)
		for _, r := range g.Rows {
			see(r.Marks)
		}
	}
	return all
}

// assumed is what stand-ins produced in any group.
func (v versus) assumed() string {
	var parts []string
	for _, g := range v.Groups {
		for _, a := range g.Assumed {
			if !slices.Contains(parts, a) {
				parts = append(parts, a)
			}
		}
	}
	return inWords(parts)
}

// titled ends the title of a chart.
func (v versus) titled(title string) string {
	assumed, measured := v.kinds()
	switch {
	case assumed && measured:
		return title + ", assumed where outlined"
	case assumed:
		return title + ", assumed " + v.assumed()
	}
	return title
}

// drawRate draws the line rate of a link through a row.
func drawRate(c draw.Canvas, p vg.Point) {
	c.StrokeLine2(lineRateStroke, p.X, p.Y-9*px, p.X, p.Y+9*px)
}
