package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// predictionCharts holds predictions against what was measured.
func predictionCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range predictionsOf(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("verdict-predictions", figures)
}

// Sizes of a chart of predictions: about as wide as it is high, and beside it the list
// of what is far off.
const (
	worstStrip = 250 * px
	maxWorst   = 9
)

func (d predictions) figure() *figure {
	within := 0
	for _, p := range d.Points {
		if e := p.error(); e >= -accurate && e <= accurate {
			within++
		}
	}
	f := &figure{
		title:    "Predicted and measured: " + d.metric.text,
		subtitle: fmt.Sprintf("%d of %d checks within ±10 %%", within, len(d.Points)),
		legend:   d.legend(),
		plot:     newPlot(),
		data:     430 * px,
		left:     lineHeight(labelText) + 4*px,
		right:    worstStrip,
		top:      8 * px,
		caption:  shared(pipeCaptions(d.reports)),
	}
	assumed := slices.ContainsFunc(d.Points, func(p prediction) bool { return len(p.Assumed) > 0 })
	switch real := slices.ContainsFunc(d.Points, func(p prediction) bool { return len(p.Assumed) == 0 }); {
	case assumed && real:
		f.title += ", assumed parts where hollow"
	case assumed:
		f.title += ", assumed " + inWords(d.assumed())
	}
	least, most := d.bounds()
	u := d.metric.axis.unit(most)
	p := f.plot
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		if most > versusLogFrom*least {
			a.Scale = plot.LogScale{}
			a.Min, a.Max = least/1.3, most*1.3
			a.Tick.Marker = clearOfCorner(logTicks(7, d.metric.axis.label))
		} else {
			a.Min, a.Max = 0, most*1.06
			a.Tick.Marker = u.ticks(6)
		}
	}
	f.x = "measured " + d.metric.axis.text + " (" + u.name + ")"
	p.Add(diagonal{}, grid(true, true), upright{"predicted " + d.metric.axis.text + " (" + u.name + ")"}, predictionPlot{d})
	return f
}

// assumed is what stand-ins produced in any of the checks.
func (d predictions) assumed() []string {
	var all []string
	for _, p := range d.Points {
		for _, a := range p.Assumed {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// diagonal draws the band around the diagonal, below the grid. Both axes have the same
// ends.
type diagonal struct{}

// Plot implements plot.Plotter.
func (diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	lo, hi := p.X.Min, p.X.Max
	var path vg.Path
	path.Move(vg.Point{X: x(lo), Y: y(lo)})
	for _, q := range [][2]float64{{lo, lo * (1 + accurate)}, {hi / (1 + accurate), hi}, {hi, hi}, {hi, hi * (1 - accurate)}, {lo / (1 - accurate), lo}} {
		path.Line(vg.Point{X: x(q[0]), Y: y(q[1])})
	}
	path.Close()
	c.SetColor(shade)
	c.Fill(path)
	c.StrokeLine2(line(muted, 1), x(lo), y(lo), x(hi), y(hi))
}

// predictionPlot draws the points and lists the worst right of them.
type predictionPlot struct{ predictions }

// Plot implements plot.Plotter.
func (d predictionPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, q := range d.Points {
		s := diskStroke{Source: q.Source, Assumed: len(q.Assumed) > 0}
		if q.Spread != (span{}) {
			s.interval(c, x(q.Measured), y(q.Spread.Lo), y(q.Spread.Hi))
		}
		s.mark(c, vg.Point{X: x(q.Measured), Y: y(q.Predicted)}, false)
	}
	worst := d.worst(maxWorst)
	if len(worst) == 0 {
		return
	}
	left, at := c.Max.X+14*px, c.Max.Y-tickText.FontExtents().Ascent
	write(c, bold(tickText), left, at, "off by more than 10 %")
	for _, q := range worst {
		at -= lineHeight(tickText) + 5*px
		machineMark(c, q.Source, vg.Point{X: left + 5*px, Y: at + 0.35*tickText.Font.Size}, len(q.Assumed) > 0)
		for i, s := range q.lines() {
			if i > 0 {
				at -= lineHeight(tickText)
			}
			write(c, tickText, left+14*px, at, s)
		}
	}
}

// lines are the error and the name of p as they fit beside the chart.
func (p prediction) lines() []string {
	const most = worstStrip - 30*px
	s := signed(p.error()) + ": " + p.Name
	all := wrap(tickText, strings.Fields(s), " ", most)
	if len(all) > 2 {
		all = []string{all[0], fit(tickText, all[1]+" "+all[2], most)}
	}
	return all
}

// legend names the sources and says what else is drawn.
func (d predictions) legend() []entry {
	var all []entry
	for i := range d.Names {
		if slices.ContainsFunc(d.Points, func(p prediction) bool { return p.Source == i }) {
			all = append(all, entry{d.summary(i), func(c draw.Canvas) { machineMark(c, i, c.Center(), false) }})
		}
	}
	if assumed := d.assumed(); assumed != nil {
		all = append(all, entry{"hollow: with assumed " + inWords(assumed) + ", paced stand-ins", hollowEntry.sample})
	}
	if slices.ContainsFunc(d.Points, func(p prediction) bool { return p.Spread != span{} }) {
		all = append(all, entry{"interval of the prediction", func(c draw.Canvas) { drawInterval(c, c.Center().X, c.Min.Y, c.Max.Y) }})
	}
	return append(all, entry{"±10 % around equal", func(c draw.Canvas) {
		fillBox(c, shade, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		c.StrokeLine2(line(muted, 1), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	}})
}
