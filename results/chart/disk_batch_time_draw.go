package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"dlbench/results"
)

// diskTimeCharts compares the time that one batch takes from each store.
func diskTimeCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range diskTimesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("disk-batch-time", figures)
}

// unprovenText follows the values of unproven cases.
const unprovenText = ", unproven"

func (d diskTimes) figure() *figure {
	f := &figure{
		title:    "Time to read one batch from disk",
		subtitle: "One reader, " + imagesText(d.reports) + "each store in its usual order; median, shorter is better",
		legend:   d.legend(),
		plot:     newPlot(),
		left:     titleWidth + memWidth,
		right:    8 * px,
		caption:  diskCaptions(d.reports),
	}
	f.title += assumedWhere(d.any(func(b diskBar) bool { return b.Assumed }), d.any(func(b diskBar) bool { return !b.Assumed }), "outlined")
	for i, g := range d.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += g.height()
	}
	f.data += groupGap / 2

	least, most := d.bounds()
	u := secondsFor(most)
	p := f.plot
	p.X.Max = 0
	if most > logFrom*least {
		p.X.Scale = plot.LogScale{}
		p.X.Min = least / 1.6
		d.ends(u, func(t float64, share float64) {
			p.X.Max = max(p.X.Max, p.X.Min*math.Pow(t/p.X.Min, 1/share))
		})
		p.X.Tick.Marker = logTicks(9, timeLabel)
		f.x = "time per batch (logarithmic: compare the ends of the bars, not their lengths)"
	} else {
		p.X.Min = 0
		d.ends(u, func(t float64, share float64) { p.X.Max = max(p.X.Max, t/share) })
		p.X.Tick.Marker = u.ticks(8)
		f.x = "time per batch (" + u.name + ")"
	}
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), diskBars{d, u})
	return f
}

// imagesText says how many images a batch has, unless the reports differ.
func imagesText(reports []*results.Report) string {
	n := reports[0].Config.Batch
	if n <= 0 || slices.ContainsFunc(reports, func(r *results.Report) bool { return r.Config.Batch != n }) {
		return ""
	}
	return fmt.Sprintf("batch of %d images, ", n)
}

// value is the text behind a bar.
func (b diskBar) value(u unit) string {
	switch {
	case b.Failed:
		return "failed"
	case b.Unproven:
		return u.text(b.Median) + unprovenText
	}
	return u.text(b.Median)
}

// ends calls f with each time that is drawn and the share of the axis that it may
// take, so that what stands right of it fits: the values of bars, the marks of
// references.
func (d diskTimes) ends(u unit, f func(t, share float64)) {
	const axis = layoutWidth*px - 2*margin - titleWidth - memWidth - 8*px
	for _, g := range d.Groups {
		for _, m := range g.marks() {
			f(m.time, float64((axis-10*px)/axis))
		}
		for _, b := range g.Bars {
			if t := max(b.Median, b.Spread.Hi); t > 0 {
				f(t, float64((axis-width(labelText, b.value(u))-12*px)/axis))
			}
		}
	}
}

// head is the title of g as it fits left of the bars.
func (g diskGroup) head() []titleLine { return batchGroup{Title: g.Title}.lines() }

// lane is the height of the lane of g, 0 without references.
func (g diskGroup) lane() vg.Length {
	if len(g.marks()) == 0 {
		return 0
	}
	return laneHeight + 4*px
}

func (g diskGroup) height() vg.Length {
	return g.lane() + max(vg.Length(len(g.Bars))*rowHeight, vg.Length(len(g.head()))*lineHeight(labelText)+4*px)
}
