package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// accurate is the error within which the band around the diagonal lies, as a share of what
// was measured.
const accurate = 0.10

// maxPredictions bounds what one chart shows.
const maxPredictions = 400

// allPredictions compare what a model said of throughput and of step times with what was
// then measured: of one machine by kind of change, of several by machine.
func allPredictions(reports []*results.Report) (all []picture) {
	for _, q := range []quantity{throughput, timePerStep} {
		if d := predictions(reports, q); len(d.points()) > 1 {
			all = append(all, d)
		}
	}
	return all
}

// predictions are those of one quantity.
func predictions(reports []*results.Report, q quantity) lines {
	d := lines{
		title:   "Predicted and then measured: " + q.text,
		reports: reports,
		spread:  "interval of the prediction",
		dots:    true,
		meanings: []entry{{"±10 % around equal", func(c draw.Canvas) {
			fillBox(c, shade, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			c.StrokeLine2(thinStroke, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		}}},
	}
	for i, rep := range reports {
		for _, p := range rep.Predictions {
			name := cmp.Or(short(p.Kind), "unnamed kind")
			if len(reports) > 1 {
				name = machines(reports)[i]
			}
			if checked(p, q) && len(d.points()) < maxPredictions {
				d.addCheck(name, p)
			}
		}
	}
	if len(d.Lines) > 0 {
		d.equalAxes(q)
	}
	return d
}

// checked reports whether p is of q and was measured, and not against what follows from the
// same formula: a simulated step or disk takes as long as it is said to.
func checked(p results.Prediction, q quantity) bool {
	name, unit := "step_time", results.Seconds
	if q == throughput {
		name, unit = "throughput", results.PerSecond
	}
	return p.Metric == name && p.Unit == unit && drawable(p.Value) && drawable(p.Measured) &&
		!slices.Contains(p.Assumed, "step") && !slices.Contains(p.Assumed, "disk")
}

// addCheck adds p to the points of that name.
func (d *lines) addCheck(name string, p results.Prediction) {
	i := slices.IndexFunc(d.Lines, func(l curve) bool { return l.Name == name })
	if i < 0 {
		i, d.Lines = len(d.Lines), append(d.Lines, curve{Name: name, Source: len(d.Lines)})
	}
	d.Lines[i].Points = append(d.Lines[i].Points, curvePoint{*p.Measured, point{Median: *p.Value,
		Spread: spanAround(*p.Value, p.Lo, p.Hi), Assumed: assumedParts(p.Assumed)}})
}

// equalAxes gives d two axes of one range, the band around equal between them, and says how far off each kind is.
func (d *lines) equalAxes(q quantity) {
	x, y := d.bounds()
	least, most := min(x.Lo, y.Lo), max(x.Hi, y.Hi)
	both := q.scale(least, most, 6)
	if most > 20*least {
		both = q.logarithmic(least/1.4, most*1.2, 6)
	}
	d.x, d.y, d.under = both, both, diagonal(both.min, both.max)
	d.x.label, d.y.label = "measured "+both.label, "predicted "+both.label
	within := 0
	for i, l := range d.Lines {
		var most float64
		for _, p := range l.Points {
			off := math.Abs(p.Median/p.X - 1)
			if most = max(most, off); off <= accurate {
				within++
			}
		}
		d.Lines[i].Name += fmt.Sprintf(": %s, off by at most %s", results.Plural(len(l.Points), "check"), percent(most))
	}
	d.subtitle = fmt.Sprintf("%d of %d checks within ±10 %%", within, len(d.points()))
}

// diagonal is the line of what is equal and the band around it, of two axes from lo to hi.
func diagonal(lo, hi float64) []plot.Plotter {
	band := &plotter.Polygon{Color: shade, XYs: []plotter.XYs{{{X: lo, Y: lo}, {X: lo, Y: lo * (1 + accurate)},
		{X: hi / (1 + accurate), Y: hi}, {X: hi, Y: hi}, {X: hi, Y: hi * (1 - accurate)},
		{X: lo / (1 - accurate), Y: lo}}}}
	equal := &plotter.Line{XYs: plotter.XYs{{X: lo, Y: lo}, {X: hi, Y: hi}}, LineStyle: thinStroke}
	return []plot.Plotter{band, equal}
}
