package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// stageCharts shows what an image costs.
func stageCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range stageTimesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("preprocess-stages", figures)
}

// Sizes of a row: the bar, and below it what its parts are.
const (
	stageRow    = rowHeight + 15*px
	stageSquare = 8 * px
	stageGap    = 14 * px // between the parts
)

func (d stageTimes) figure() *figure {
	f := &figure{
		title:    "Processor time for one image, by stage",
		subtitle: "All threads together, with the fewest and the most threads; median, shorter is better",
		legend:   d.legend(),
		plot:     newPlot(),
		left:     titleWidth + memWidth,
		right:    8 * px,
		caption:  preprocessCaptions(d.reports),
	}
	for i, g := range d.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += g.height()
	}
	f.data += groupGap / 2

	const axis = layoutWidth*px - 2*margin - titleWidth - memWidth - 8*px
	var most float64
	d.each(func(b stageBar) { most = max(most, b.total()) })
	u := secondsFor(most)
	p := f.plot
	d.each(func(b stageBar) {
		p.X.Max = max(p.X.Max, b.total()/float64((axis-width(labelText, b.value())-12*px)/axis))
	})
	p.X.Min = 0
	p.X.Tick.Marker = u.ticks(8)
	f.x = "processor time per image (" + u.name + ")"
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), stageBars{d})
	return f
}

// each calls f with the bars that there are.
func (d stageTimes) each(f func(stageBar)) {
	for _, g := range d.Groups {
		for _, b := range g.Bars {
			if !b.Failed {
				f(b)
			}
		}
	}
}

// value is the text behind a bar.
func (b stageBar) value() string {
	u := secondsFor(b.total())
	return u.text(b.total()) + ", " + images.text(b.Rate)
}

// head is the title of g as it fits left of the bars.
func (g stageGroup) head() []titleLine { return batchGroup{Title: g.Title}.lines() }

func (g stageGroup) height() vg.Length {
	return max(vg.Length(len(g.Bars))*stageRow, vg.Length(len(g.head()))*lineHeight(labelText)+4*px)
}

// stageBars draws the data area and the titles left of it.
type stageBars struct{ stageTimes }

// Plot implements plot.Plotter.
func (d stageBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	top := c.Max.Y
	for _, g := range d.Groups {
		y := top - rowHeight/2
		for _, l := range g.head() {
			write(c, l.Style, c.Min.X-titleWidth-memWidth, y-0.35*l.Font.Size, l.text)
			y -= lineHeight(labelText)
		}
		for i, b := range g.Bars {
			mid := top - vg.Length(i)*stageRow - rowHeight/2
			name := fit(labelText, threadsText(b.Threads), memWidth-10*px)
			write(c, aligned(labelText, draw.XRight), c.Min.X-6*px, mid-0.35*labelText.Font.Size, name)
			b.draw(c, x, mid)
		}
		top -= g.height() + groupGap
	}
}

// draw draws the parts of b around mid, and below them what they are.
func (b stageBar) draw(c draw.Canvas, x func(float64) vg.Length, mid vg.Length) {
	if b.Failed {
		write(c, captionText, c.Min.X+5*px, mid-0.35*captionText.Font.Size, "failed")
		return
	}
	var end float64
	list, y := c.Min.X+2*px, mid-rowHeight/2-9*px
	for i, t := range b.Times {
		if t == 0 {
			continue
		}
		fillBox(c, stages[i].color, x(end), mid-barHeight/2, x(end+t), mid+barHeight/2)
		if end > 0 {
			c.StrokeLine2(line(paper, 1), x(end), mid-barHeight/2, x(end), mid+barHeight/2)
		}
		end += t
		u := secondsFor(t)
		text := stages[i].name + " " + u.number(t) + " " + u.name
		next := list + stageSquare + 4*px + width(captionText, text)
		if next > c.Max.X {
			continue
		}
		fillBox(c, stages[i].color, list, y, list+stageSquare, y+stageSquare)
		writeValue(c, captionText, list+stageSquare+4*px, y, text)
		list = next + stageGap
	}
	writeValue(c, labelText, x(end)+6*px, mid-0.35*labelText.Font.Size, b.value())
}

// legend explains the stages that there are.
func (d stageTimes) legend() []entry {
	var all []entry
	for i, s := range stages {
		any := false
		d.each(func(b stageBar) { any = any || b.Times[i] > 0 })
		if any {
			all = append(all, entry{s.name + ": " + s.text, func(c draw.Canvas) {
				fillBox(c, s.color, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			}})
		}
	}
	return all
}
