package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// decoderCharts compares what one thread does in different ways.
func decoderCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range decoderRatesOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("preprocess-decoders", figures)
}

// decoderWidth is the space left of the bars, for their names.
const decoderWidth = 235 * px

func (d decoderRates) figure() *figure {
	f := &figure{
		title:    "Preprocessing with one thread",
		subtitle: "Median, longer is better",
		legend:   d.legend(),
		plot:     newPlot(),
		x:        "throughput (images/s)",
		left:     decoderWidth,
		right:    8 * px,
		caption:  preprocessCaptions(d.reports),
	}
	if slices.ContainsFunc(d.Groups, decoderGroup.ratios) {
		f.subtitle += "; ×: ratio to the slowest of the machine"
	}
	for i, g := range d.Groups {
		if i > 0 {
			f.data += groupGap
		}
		f.data += g.height()
	}
	f.data += groupGap / 2

	const axis = layoutWidth*px - 2*margin - decoderWidth - 8*px
	p := f.plot
	p.X.Min, p.X.Max = 0, 0
	for _, g := range d.Groups {
		for _, b := range g.Bars {
			p.X.Max = max(p.X.Max, max(b.Median, b.Spread.Hi)/float64((axis-width(labelText, b.value(g.ratios()))-12*px)/axis))
		}
	}
	p.X.Tick.Marker = images.ticks(6)
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), decoderBars{d})
	return f
}

// lane is the height of the title of g.
func (g decoderGroup) lane() vg.Length {
	if g.Title == "" {
		return 0
	}
	return lineHeight(groupText) + 2*px
}

func (g decoderGroup) height() vg.Length { return g.lane() + vg.Length(len(g.Bars))*rowHeight }

// decoderBars draws the data area and the names left of it.
type decoderBars struct{ decoderRates }

// Plot implements plot.Plotter.
func (d decoderBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	top := c.Max.Y
	for _, g := range d.Groups {
		if g.Title != "" {
			write(c, groupText, c.Min.X-decoderWidth, top-groupText.FontExtents().Ascent, fit(groupText, g.Title, decoderWidth-8*px))
		}
		for i, b := range g.Bars {
			mid := top - g.lane() - (vg.Length(i)+0.5)*rowHeight
			name := fit(labelText, b.Name, decoderWidth-8*px)
			write(c, aligned(labelText, draw.XRight), c.Min.X-6*px, mid-0.35*labelText.Font.Size, name)
			end, sty := c.Min.X, captionText
			if !b.Failed {
				fill, ok := strategyColor[b.Strategy]
				if !ok {
					fill = muted
				}
				fillBox(c, fill, x(0), mid-barHeight/2, x(b.Median), mid+barHeight/2)
				end, sty = x(b.Median), labelText
			}
			if b.Spread != (span{}) {
				drawWhisker(c, x(b.Spread.Lo), x(b.Spread.Hi), mid)
				end = x(b.Spread.Hi)
			}
			writeValue(c, sty, end+6*px, mid-0.35*sty.Font.Size, b.value(g.ratios()))
		}
		top -= g.height() + groupGap
	}
}

// legend explains the strategies and intervals that there are.
func (d decoderRates) legend() []entry {
	var all []entry
	var intervals, ranges bool
	for _, strategy := range []string{online, offline} {
		any := false
		for _, g := range d.Groups {
			for _, b := range g.Bars {
				any = any || b.Strategy == strategy && !b.Failed
				intervals, ranges = intervals || b.Spread != span{} && !b.Range, ranges || b.Range
			}
		}
		if any {
			all = append(all, entry{strategy + ": " + strategyTexts[strategy], func(c draw.Canvas) {
				fillBox(c, strategyColor[strategy], c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			}})
		}
	}
	if text := spreadText(intervals, ranges); text != "" {
		all = append(all, entry{text, func(c draw.Canvas) { drawWhisker(c, c.Min.X+4*px, c.Max.X-4*px, c.Center().Y) }})
	}
	return all
}

// writeValue is write on paper, so that no line of a grid runs through.
func writeValue(c draw.Canvas, sty text.Style, x, y vg.Length, s string) {
	r := covers(sty, x, y, s)
	fillBox(c, color.NRGBA{255, 255, 255, 215}, r.Min.X-2*px, r.Min.Y+1*px, r.Max.X+2*px, r.Max.Y-1*px)
	write(c, sty, x, y, s)
}
