package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"dlbench/results"
)

// batchTimeCharts compares the time that one batch takes over each link.
func batchTimeCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range batchTimesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("pcie-batch-time", figures)
}

// Sizes of the parts of a group: a lane with the references of the link, then a
// row for each bar.
const (
	laneHeight   = 15 * px
	barHeight    = 14 * px
	rowHeight    = 20 * px
	bracketSpace = 7 * px // below a bar, for what others published
	groupGap     = 14 * px
	titleWidth   = 175 * px
	memWidth     = 72 * px
	valueSpace   = 66 * px // right of the longest bar, for its value
)

func (d batchTimes) figure() *figure {
	f := &figure{
		title: "Time to copy one batch to the GPU",
		subtitle: fmt.Sprintf("Host to device, %s (%s), warm source; median, shorter is better",
			d.Batch, results.FormatBytes(d.Batch.Bytes())),
		legend:  d.legend(),
		plot:    newPlot(),
		left:    titleWidth + memWidth,
		right:   8 * px,
		caption: captions(d.reports, "float32"),
	}
	assumed, measured := d.kinds()
	switch {
	case assumed && measured:
		f.title += ", links assumed where outlined"
	case assumed:
		f.title += " over an assumed link"
	}
	for i, g := range d.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += d.groupHeight(g)
	}
	f.data += groupGap / 2

	max := d.max()
	u := secondsFor(max)
	room := float64(layoutWidth*px - 2*margin - f.left - f.right)
	f.x = "time per batch (" + u.name + ")"
	p := f.plot
	p.X.Min, p.X.Max = 0, max*room/(room-float64(valueSpace))
	p.X.Tick.Marker = u.ticks(8)
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), batchBars{d, u})
	return f
}

// kinds says whether bars of devices are assumed and measured.
func (d batchTimes) kinds() (assumed, measured bool) {
	for _, g := range d.Groups {
		for _, b := range g.Bars {
			assumed = assumed || b.Assumed
			measured = measured || !b.Assumed && !g.Host
		}
	}
	return assumed, measured
}

// max is the longest time that is drawn.
func (d batchTimes) max() float64 {
	var t float64
	for _, g := range d.Groups {
		t = max(t, g.LineRate, g.Protocol.Hi, g.Theory, g.Practice)
		for _, b := range g.Bars {
			t = max(t, b.Median, b.Spread.Hi, b.Published.Hi)
		}
	}
	return t
}

// row is the height of a bar with what belongs to it.
func (d batchTimes) row() vg.Length {
	if d.any(func(_ batchGroup, b batchBar) bool { return b.Published != span{} }) {
		return rowHeight + bracketSpace
	}
	return rowHeight
}

// lane is the height of the lane of g, 0 without references.
func (g batchGroup) lane() vg.Length {
	if g.LineRate == 0 && g.Protocol == (span{}) && g.Theory == 0 && g.Practice == 0 {
		return 0
	}
	return laneHeight
}

// groupHeight leaves room for the bars and for the title beside them.
func (d batchTimes) groupHeight(g batchGroup) vg.Length {
	return g.lane() + max(vg.Length(len(g.Bars))*d.row(), vg.Length(len(g.lines()))*lineHeight(labelText)+4*px)
}

// lines is the title of g as it fits left of the bars.
func (g batchGroup) lines() []titleLine {
	var all []titleLine
	for i, s := range g.Title {
		sty := labelText
		if i == 0 {
			sty = groupText
		}
		fits := wrap(sty, strings.Fields(s), " ", titleWidth-8*px)
		if len(fits) > 2 {
			fits = []string{fits[0], fit(sty, strings.Join(fits[1:], " "), titleWidth-8*px)}
		}
		for _, f := range fits {
			all = append(all, titleLine{sty, f})
		}
	}
	return all
}

type titleLine struct {
	text.Style
	text string
}

func (d batchTimes) any(f func(batchGroup, batchBar) bool) bool {
	return slices.ContainsFunc(d.Groups, func(g batchGroup) bool {
		return slices.ContainsFunc(g.Bars, func(b batchBar) bool { return f(g, b) })
	})
}
