package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// predictions are what a model said of cases, and what was then measured, in the base
// unit of the metric.
type predictions struct {
	metric  predictedMetric
	Names   []string // of machines, or of kinds of changes where there is one machine
	Points  []prediction
	reports []*results.Report
}

// prediction is one case.
type prediction struct {
	Source    int // index of Names
	Name      string
	Predicted float64
	Spread    span // of the prediction
	Measured  float64
	Assumed   []string
}

// maxPredictions bounds what one chart shows.
const maxPredictions = 400

// accurate is the error within which the band around the diagonal lies.
const accurate = 0.10

// error is how far the prediction is off, as a share of what was measured.
func (p prediction) error() float64 { return p.Predicted/p.Measured - 1 }

func predictionLines(reports []*results.Report) (all []lines) {
	for _, d := range predictionsOf(reports) {
		all = append(all, d.lines())
	}
	return all
}

// predictionsOf extracts the charts' data: an element for each metric with a
// prediction that was measured.
func predictionsOf(reports []*results.Report) []predictions {
	var all []predictions
	for _, m := range predictedMetrics {
		d := predictions{metric: m, reports: reports}
		if len(reports) > 1 {
			d.Names = machines(reports)
		}
		for i, rep := range reports {
			for _, p := range rep.Predictions {
				if p.Metric == m.name && p.Unit == m.unit && drawable(p.Measured) && drawable(p.Value) &&
					len(d.Points) < maxPredictions {
					d.add(i, p)
				}
			}
		}
		if len(d.Points) > 0 {
			all = append(all, d)
		}
	}
	return all
}

func (d *predictions) add(report int, p results.Prediction) {
	x := prediction{Source: report, Name: cmp.Or(clean(p.Change), "unnamed"), Predicted: *p.Value,
		Measured: *p.Measured}
	if len(d.reports) < 2 {
		x.Source = d.kind(cmp.Or(short(p.Kind), "unnamed kind"))
	}
	x.Spread = spanAround(*p.Value, p.Lo, p.Hi)
	for _, a := range p.Assumed {
		x.Assumed = append(x.Assumed, short(a))
	}
	d.Points = append(d.Points, x)
}

// kind is the index of a kind of changes; those beyond the colours share the last.
func (d *predictions) kind(name string) int {
	last := len(seriesColor) - 1
	switch i := slices.Index(d.Names, name); {
	case i >= 0:
		return i
	case len(d.Names) > last:
		return last
	case len(d.Names) == last:
		name = "others"
	}
	d.Names = append(d.Names, name)
	return len(d.Names) - 1
}

// worst are the points outside of the band, at most n, from the one furthest off.
func (d predictions) worst(n int) []prediction {
	all := slices.DeleteFunc(slices.Clone(d.Points), func(p prediction) bool { return math.Abs(p.error()) <= accurate })
	slices.SortStableFunc(all, func(a, b prediction) int {
		return cmp.Compare(math.Abs(b.error()), math.Abs(a.error()))
	})
	return all[:min(n, len(all))]
}

// summary says of a source how many points it has and how far they are off.
func (d predictions) summary(source int) string {
	var n int
	var most float64
	for _, p := range d.Points {
		if p.Source == source {
			n++
			most = max(most, math.Abs(p.error()))
		}
	}
	upTo := ""
	if n > 1 {
		upTo = "up to "
	}
	return fmt.Sprintf("%s: %s, off by %s%s", d.Names[source], results.Plural(n, "check"), upTo, percent(most))
}

// Sizes of a chart of predictions: about as wide as it is high, and right of it the
// list of what is far off.
const (
	worstStrip = 250 * px
	maxWorst   = 9
)

func (d predictions) lines() lines {
	within := len(d.Points) - len(d.worst(len(d.Points)))
	c := lines{
		title:    "Predicted and measured: " + d.metric.title,
		subtitle: fmt.Sprintf("%d of %d checks within ±10 %%", within, len(d.Points)),
		captions: shared(captions(d.reports, gpuText)),
		spread:   "interval of the prediction",
		meanings: []entry{{"±10 % around equal", func(c draw.Canvas) {
			fillBox(c, shade, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			c.StrokeLine2(line(muted, 1), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		}}},
		under:  diagonal{},
		beside: worstList{d},
		strip:  worstStrip,
	}
	for i := range d.Names {
		l := curve{Name: d.summary(i), series: series{Source: i}}
		for _, p := range d.Points {
			if p.Source == i {
				l.Points = append(l.Points,
					curvePoint{X: p.Measured, point: point{Median: p.Predicted, Spread: p.Spread}, Assumed: p.Assumed})
			}
		}
		if l.Points != nil {
			c.Lines = append(c.Lines, l)
		}
	}
	x, y := c.bounds()
	least, most := min(x.Lo, y.Lo), max(x.Hi, y.Hi)
	both := d.metric.scale(least, most, 7)
	if most > 20*least {
		both = d.metric.logarithmic(least/1.4, most*1.2, 7)
	}
	c.x, c.y = both, both
	c.x.label, c.y.label = "measured "+both.label, "predicted "+both.label
	return c
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
	for _, q := range [][2]float64{{lo, lo * (1 + accurate)}, {hi / (1 + accurate), hi}, {hi, hi},
		{hi, hi * (1 - accurate)}, {lo / (1 - accurate), lo}} {
		path.Line(vg.Point{X: x(q[0]), Y: y(q[1])})
	}
	path.Close()
	c.SetColor(shade)
	c.Fill(path)
	c.StrokeLine2(line(muted, 1), x(lo), y(lo), x(hi), y(hi))
}

// worstList lists what is far off right of the points.
type worstList struct{ predictions }

// Plot implements plot.Plotter.
func (d worstList) Plot(c draw.Canvas, _ *plot.Plot) {
	worst := d.worst(maxWorst)
	if len(worst) == 0 {
		return
	}
	left, at := c.Max.X+14*px, c.Max.Y-tickText.FontExtents().Ascent
	write(c, bold(tickText), left, at, "off by more than 10 %")
	for _, q := range worst {
		at -= lineHeight(tickText) + 5*px
		series{q.Source, len(q.Assumed) > 0}.mark(c, vg.Point{X: left + 5*px, Y: at + 0.35*tickText.Font.Size}, false)
		for i, s := range q.lines() {
			if i > 0 {
				at -= lineHeight(tickText)
			}
			write(c, tickText, left+14*px, at, s)
		}
	}
}

// lines are the error and the name of p as they fit next to the chart.
func (p prediction) lines() []string {
	const most = worstStrip - 30*px
	s := signed(p.error()) + ": " + p.Name
	all := wrap(tickText, strings.Fields(s), " ", most)
	if len(all) > 2 {
		all = []string{all[0], fit(tickText, all[1]+" "+all[2], most)}
	}
	return all
}
