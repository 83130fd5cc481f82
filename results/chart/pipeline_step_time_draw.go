package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// stepTimeCharts shows how long each step takes, and how much of that the device
// works.
func stepTimeCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range stepTimesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("pipeline-step-time", figures)
}

// Colours of the parts of a step.
var (
	computeColor = color.RGBA{0x00, 0x72, 0xB2, 255}
	waitColor    = color.RGBA{0xD5, 0x5E, 0x00, 255}
	restColor    = color.RGBA{0xE6, 0x9F, 0x00, 255}
)

// Sizes of a row: the name of the case above its bar.
const (
	stepNameHeight = 17 * px
	stepRowHeight  = stepNameHeight + rowHeight + 4*px
)

func (d stepTimes) figure() *figure {
	f := &figure{
		title:    "Time of a training step and what the device waits for" + assumedTitle(d.cases, "outlined"),
		subtitle: upper(imagesText(d.reports) + "from the end of one step to the end of the next; % is the utilisation: the share that the device works; median, shorter is better"),
		legend:   d.legend(),
		plot:     newPlot(),
		left:     titleWidth,
		right:    8 * px,
		caption:  pipeCaptions(d.reports),
	}
	for i, g := range d.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += g.height()
	}
	f.data += groupGap / 2
	const axis = layoutWidth*px - 2*margin - titleWidth - 8*px
	u := secondsFor(d.longest())
	p := f.plot
	p.X.Min, p.X.Max = 0, 0
	for _, g := range d.Groups {
		for _, b := range g.Bars {
			share := (axis - width(labelText, b.value(u)) - 12*px) / axis
			p.X.Max = max(p.X.Max, max(b.Median, b.Spread.Hi)/float64(share))
		}
	}
	p.X.Tick.Marker = u.ticks(8)
	f.x = "time per step (" + u.name + ")"
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), stepBars{d, u})
	return f
}

// value is the text behind a bar.
func (b stepBar) value(u unit) string {
	switch {
	case b.Failed:
		return "failed"
	case b.Utilisation > 0:
		return u.text(b.Median) + ", " + shares.digits(b.Utilisation, 3) + " %"
	}
	return u.text(b.Median)
}

func (g stepGroup) head() []titleLine { return batchGroup{Title: g.Title}.lines() }

// height leaves room for the bars and for the title beside them.
func (g stepGroup) height() vg.Length {
	return max(vg.Length(len(g.Bars))*stepRowHeight, vg.Length(len(g.head()))*lineHeight(labelText)+4*px)
}

// stepBars draws the data area and the titles left of it.
type stepBars struct {
	stepTimes
	unit unit
}

// Plot implements plot.Plotter.
func (d stepBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	top := c.Max.Y
	for _, g := range d.Groups {
		y := top - stepNameHeight/2
		for _, l := range g.head() {
			write(c, l.Style, c.Min.X-titleWidth, y-0.35*l.Font.Size, l.text)
			y -= lineHeight(labelText)
		}
		for i, b := range g.Bars {
			b.draw(c, x, top-vg.Length(i)*stepRowHeight, d.unit)
		}
		top -= g.height() + groupGap
	}
}

// draw draws one bar and its name below top.
func (b stepBar) draw(c draw.Canvas, x func(float64) vg.Length, top vg.Length, u unit) {
	onPaper(c, c.Min.X+5*px, top-stepNameHeight/2-0.35*labelText.Font.Size-1*px, fit(labelText, b.Title, c.Max.X-c.Min.X-8*px))
	mid := top - stepNameHeight - rowHeight/2
	end := c.Min.X
	if !b.Failed {
		from := 0.0
		for _, part := range b.parts() {
			drawPart(c, part.fill, b.Assumed, x(from), mid-barHeight/2, x(from+part.time), mid+barHeight/2)
			from += part.time
		}
		end = x(b.Median)
	}
	if b.Spread != (span{}) {
		drawWhisker(c, x(b.Spread.Lo), x(b.Spread.Hi), mid)
		end = x(b.Spread.Hi)
	}
	onPaper(c, end+6*px, mid-0.35*labelText.Font.Size, b.value(u))
}

// onPaper writes s over what pales behind it.
func onPaper(c draw.Canvas, x, y vg.Length, s string) {
	r := covers(labelText, x, y, s)
	fillBox(c, color.NRGBA{255, 255, 255, 215}, r.Min.X-2*px, r.Min.Y+1*px, r.Max.X+2*px, r.Max.Y-1*px)
	write(c, labelText, x, y, s)
}

// stepPart is one part of a step.
type stepPart struct {
	time float64
	fill color.Color
	text string
}

// parts are the parts of b, from the axis on.
func (b stepBar) parts() []stepPart {
	return []stepPart{
		{b.Compute, computeColor, "the device works (the step)"},
		{b.Wait, waitColor, "stall while the loop waited for a batch"},
		{b.Rest, restColor, "other stall: copy, launch"},
	}
}

// drawPart is drawBar for what may be too narrow for an outline.
func drawPart(c draw.Canvas, fill color.Color, assumed bool, x0, y0, x1, y1 vg.Length) {
	drawBar(c, fill, assumed && x1-x0 >= 4*px, x0, y0, x1, y1)
}

// legend explains what is drawn, and nothing else.
func (d stepTimes) legend() []entry {
	var all []entry
	for i, part := range (stepBar{}).parts() {
		if d.any(func(b stepBar) bool { return b.parts()[i].time > 0 }) {
			all = append(all, entry{part.text, func(c draw.Canvas) { fillBox(c, part.fill, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }})
		}
	}
	if d.any(func(b stepBar) bool { return b.Assumed }) {
		all = append(all, entry{assumedText(d.cases), func(c draw.Canvas) { drawBar(c, computeColor, true, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }})
	}
	intervals := d.any(func(b stepBar) bool { return b.Spread != span{} && !b.Range })
	if text := spreadText(intervals, d.any(func(b stepBar) bool { return b.Range })); text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawWhisker(c, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y) }})
	}
	return all
}
