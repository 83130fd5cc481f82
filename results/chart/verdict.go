package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// allWhatIfs are the changes by each metric.
func allWhatIfs(reports []*results.Report) (all []bars) {
	for _, m := range predictedMetrics {
		all = append(all, whatIfs(reports, m))
	}
	return all
}

// predictedMetric is one of the metrics that predictions are of.
type predictedMetric struct {
	name, unit    string // of the prediction
	title, better string
	quantity
}

var predictedMetrics = []predictedMetric{
	{"throughput", results.PerSecond, "throughput of the loader", "longer is better", throughput},
	{"step_time", results.Seconds, "time of a training step", "shorter is better", timePerStep},
}

// of reports whether p is of m and can be drawn.
func (m predictedMetric) of(p results.Prediction) bool {
	return p.Metric == m.name && p.Unit == m.unit && drawable(p.Value)
}

// assumedOf is what a prediction rests on that a stand-in produced.
func assumedOf(p results.Prediction) (all []string) {
	for _, a := range p.Assumed {
		all = append(all, short(a))
	}
	return all
}

// costs are the costs of changes in the order in which they are shown.
var costs = []struct {
	cost, title string
	fill        color.Color
}{
	{results.Free, "free: a setting, or work to be done once", color.RGBA{0x00, 0x9E, 0x73, 255}},
	{results.Purchase, "purchases", color.RGBA{0x00, 0x72, 0xB2, 255}},
	{"", "no advice: what other circumstances would bring", color.Gray{120}},
}

// whatIfKey is what changes have in common that are shown together: of one machine
// their cost, of several the change.
type whatIfKey struct {
	cost            int
	change, assumed string
}

// whatIfs has a group for each cost of changes of one machine, and for each change of
// several machines. A prediction that was measured is a check, and not among them.
func whatIfs(reports []*results.Report, m predictedMetric) bars {
	v := bars{
		title:    "What changes would bring: " + m.title,
		subtitle: "Predicted, free changes before purchases; in brackets against the loader as it is; " + m.better,
		quantity: m.quantity,
		captions: captions(reports, gpuText),
		spread:   "interval of the prediction",
		whole:    "predicted from what was measured",
	}
	if len(reports) > 1 {
		v.machines = machines(reports)
	}
	for i, rep := range reports {
		for _, p := range rep.Predictions {
			if !m.of(p) || p.Measured != nil {
				continue
			}
			change := cmp.Or(clean(p.Change), "unnamed change")
			k := whatIfKey{cost: len(costs) - 1}
			for n, c := range costs {
				if c.cost == p.Cost {
					k.cost = n
				}
			}
			g := barGroup{Title: costs[k.cost].title, fill: costs[k.cost].fill}
			if v.machines != nil {
				k.change = change
				g.Title = change
				if p.Cost != "" {
					g.Title += " (" + short(p.Cost) + ")"
				}
			}
			g.Assumed = assumedOf(p)
			k.assumed = results.AssumedText(g.Assumed)
			g.key = k
			v.add(g, whatIfRow(i, p, change, m, v.machines != nil))
		}
		v.Demands = append(v.Demands, demandOf(rep, m)...)
	}
	v.pair()
	slices.SortStableFunc(v.Groups, func(a, b barGroup) int {
		return cmp.Compare(a.key.(whatIfKey).cost, b.key.(whatIfKey).cost)
	})
	slices.SortStableFunc(v.Demands, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	v.Demands = slices.CompactFunc(v.Demands, func(a, b mark) bool { return a.Text == b.Text })
	return v
}

func whatIfRow(machine int, p results.Prediction, change string, m predictedMetric, several bool) barRow {
	row := barRow{Machine: machine, point: point{Median: *p.Value}, Value: m.value(*p.Value)}
	if !several {
		row.Detail = change
	}
	row.Spread = spanAround(*p.Value, p.Lo, p.Hi)
	if drawable(p.Base) {
		row.Marks = markOf(*p.Base, "the loader as it is, measured", drawRate)
		row.Value += " (" + signed(*p.Value / *p.Base - 1) + ")"
	}
	if p.Extrapolated {
		row.Caveat = caveatExtrapolated
	}
	return row
}

// signed is a change as a share: +23 %, −4.1 %, ±0 %.
func signed(x float64) string {
	if math.Abs(x) < 0.0005 {
		return "±0 %"
	}
	s := strconv.FormatFloat(100*math.Abs(x), 'g', 3, 64)
	switch a := math.Abs(x); {
	case a < 0.1:
		s = strconv.FormatFloat(100*a, 'f', 1, 64)
	case a < 1e4:
		s = strconv.FormatFloat(100*a, 'f', 0, 64)
	}
	if x < 0 {
		return "−" + s + " %"
	}
	return "+" + s + " %"
}

// demandOf is what the GPU of a report's verdict takes in, in the metric.
func demandOf(rep *results.Report, m predictedMetric) []mark {
	if rep.Verdict == nil || !drawable(rep.Verdict.Needs) {
		return nil
	}
	rate := *rep.Verdict.Needs
	at := rate
	if m.unit == results.Seconds {
		at = float64(rep.Config.Batch) / rate
	}
	name := cmp.Or(short(rep.Verdict.NeedsFrom), "demand")
	return markOf(at, fmt.Sprintf("%s: %s", name, m.value(at)), nil)
}

// predictions are what a model said of cases, and what was then measured, in the base
// unit of the metric.
type predictions struct {
	metric  predictedMetric
	Names   []string // of machines, or of kinds of changes where there is one machine
	Points  []prediction
	reports []*results.Report
}

// prediction is one case; its X is what was measured, its Median what was predicted.
type prediction struct {
	Source int // index of Names
	Name   string
	curvePoint
}

// maxPredictions bounds what one chart shows.
const maxPredictions = 400

// accurate is the error within which the band around the diagonal lies.
const accurate = 0.10

// error is how far the prediction is off, as a share of what was measured.
func (p prediction) error() float64 { return p.Median/p.X - 1 }

func predictionLines(reports []*results.Report) (all []lines) {
	for _, d := range predictionsOf(reports) {
		all = append(all, d.lines())
	}
	return all
}

// predictionsOf extracts the charts' data: an element for each metric with a
// prediction that was measured.
func predictionsOf(reports []*results.Report) (all []predictions) {
	for _, m := range predictedMetrics {
		d := predictions{metric: m, reports: reports}
		if len(reports) > 1 {
			d.Names = machines(reports)
		}
		for i, rep := range reports {
			for _, p := range rep.Predictions {
				if m.of(p) && drawable(p.Measured) && len(d.Points) < maxPredictions {
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

// add adds a prediction of a report. Kinds of changes beyond the colours share the last.
func (d *predictions) add(report int, p results.Prediction) {
	x := prediction{Source: report, Name: cmp.Or(clean(p.Change), "unnamed")}
	x.X, x.Median, x.Spread, x.Assumed = *p.Measured, *p.Value, spanAround(*p.Value, p.Lo, p.Hi), assumedOf(p)
	if len(d.reports) < 2 {
		kind, last := cmp.Or(short(p.Kind), "unnamed kind"), len(seriesColor)-1
		if len(d.Names) >= last && !slices.Contains(d.Names, kind) {
			kind = "others"
		}
		d.Names = results.AppendNew(d.Names, kind)
		x.Source = slices.Index(d.Names, kind)
	}
	d.Points = append(d.Points, x)
}

// worst are the points outside of the band, at most n, from the one furthest off.
func (d predictions) worst(n int) []prediction {
	all := slices.DeleteFunc(slices.Clone(d.Points), func(p prediction) bool { return math.Abs(p.error()) <= accurate })
	slices.SortStableFunc(all, func(a, b prediction) int {
		return cmp.Compare(math.Abs(b.error()), math.Abs(a.error()))
	})
	return all[:min(n, len(all))]
}

// curve is the points of a source; its name says how many they are and how far off.
func (d predictions) curve(source int) curve {
	l := curve{series: series{Source: source}}
	var most float64
	for _, p := range d.Points {
		if p.Source == source {
			l.Points = append(l.Points, p.curvePoint)
			most = max(most, math.Abs(p.error()))
		}
	}
	upTo := ""
	if len(l.Points) > 1 {
		upTo = "up to "
	}
	checks := results.Plural(len(l.Points), "check")
	l.Name = fmt.Sprintf("%s: %s, off by %s%s", d.Names[source], checks, upTo, percent(most))
	return l
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
		under:   diagonal{},
		outside: worstList{d},
		strip:   worstStrip,
	}
	for i := range d.Names {
		if l := d.curve(i); l.Points != nil {
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
