package chart

import (
	"image/color"

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
	if d.ratios() {
		f.subtitle += "; ×: ratio to the slowest"
	}
	f.data = vg.Length(len(d.Bars))*rowHeight + groupGap/2

	const axis = layoutWidth*px - 2*margin - decoderWidth - 8*px
	p := f.plot
	p.X.Min, p.X.Max = 0, 0
	for _, b := range d.Bars {
		p.X.Max = max(p.X.Max, max(b.Median, b.Spread.Hi)/float64((axis-width(labelText, b.value(d.ratios()))-12*px)/axis))
	}
	p.X.Tick.Marker = images.ticks(6)
	p.Y.Min, p.Y.Max = 0, 1
	p.HideY()
	p.Y.LineStyle = line(muted, 1)
	p.Add(grid(true, false), decoderBars{d})
	return f
}

// decoderBars draws the data area and the names left of it.
type decoderBars struct{ decoderRates }

// Plot implements plot.Plotter.
func (d decoderBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for i, b := range d.Bars {
		mid := c.Max.Y - (vg.Length(i)+0.5)*rowHeight
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
		writeValue(c, sty, end+6*px, mid-0.35*sty.Font.Size, b.value(d.ratios()))
	}
}

// legend explains the strategies and intervals that there are.
func (d decoderRates) legend() []entry {
	var all []entry
	var intervals, ranges bool
	for _, strategy := range []string{online, offline} {
		any := false
		for _, b := range d.Bars {
			any = any || b.Strategy == strategy && !b.Failed
			intervals, ranges = intervals || b.Spread != span{} && !b.Range, ranges || b.Range
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
