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

// predictionLines compare what a model said of throughput and of step times with what was
// then measured: of one machine by kind of change, of several by machine.
func predictionLines(reports []*results.Report) (all []lines) {
	for _, q := range []quantity{throughput, timePerStep} {
		d := lines{
			title:    "Predicted and then measured: " + q.text,
			captions: captions(reports),
			spread:   "interval of the prediction",
			meanings: []entry{{"±10 % around equal", func(c draw.Canvas) {
				fillBox(c, shade, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
				c.StrokeLine2(thinStroke, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			}}},
		}
		within, checks := 0, 0
		for i, rep := range reports {
			for _, p := range rep.Predictions {
				if !checked(p, q) || checks == maxPredictions {
					continue
				}
				name := cmp.Or(short(p.Kind), "unnamed kind")
				if len(reports) > 1 {
					name = machines(reports)[i]
				}
				d.addCheck(name, p)
				if checks++; math.Abs(*p.Value / *p.Measured - 1) <= accurate {
					within++
				}
			}
		}
		if checks > 1 {
			d.subtitle = fmt.Sprintf("%d of %d checks within ±10 %%", within, checks)
			d.equalAxes(q)
			all = append(all, d)
		}
	}
	return all
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

// addCheck adds p to the points of that name. Names beyond the colours share the last.
func (d *lines) addCheck(name string, p results.Prediction) {
	last := len(seriesColor) - 1
	i := slices.IndexFunc(d.Lines, func(l curve) bool { return l.Name == name })
	if i < 0 && len(d.Lines) > last {
		i, d.Lines[last].Name = last, "others"
	}
	if i < 0 {
		i, d.Lines = len(d.Lines), append(d.Lines, curve{Name: name, series: series{Source: len(d.Lines)}})
	}
	d.Lines[i].Points = append(d.Lines[i].Points, curvePoint{X: *p.Measured, Assumed: assumedOf(p),
		point: point{Median: *p.Value, Spread: spanAround(*p.Value, p.Lo, p.Hi)}})
}

// assumedOf is what a prediction rests on that was simulated.
func assumedOf(p results.Prediction) (all []string) {
	for _, a := range p.Assumed {
		all = append(all, short(a))
	}
	return all
}

// equalAxes gives d two axes of one range, the band around equal between them, and names
// how far off each kind is.
func (d *lines) equalAxes(q quantity) {
	x, y := d.bounds()
	least, most := min(x.Lo, y.Lo), max(x.Hi, y.Hi)
	both := q.scale(least, most, 6)
	if most > 20*least {
		both = q.logarithmic(least/1.4, most*1.2, 6)
	}
	d.x, d.y, d.under = both, both, diagonal(both.min, both.max)
	d.x.label, d.y.label = "measured "+both.label, "predicted "+both.label
	for i, l := range d.Lines {
		var off float64
		for _, p := range l.Points {
			off = max(off, math.Abs(p.Median/p.X-1))
		}
		d.Lines[i].Name += fmt.Sprintf(": %s, off by at most %s", results.Plural(len(l.Points), "check"), percent(off))
	}
}

// diagonal is the line of what is equal and the band around it, of two axes from lo to hi.
func diagonal(lo, hi float64) []plot.Plotter {
	band := &plotter.Polygon{Color: shade, XYs: []plotter.XYs{{{X: lo, Y: lo}, {X: lo, Y: lo * (1 + accurate)},
		{X: hi / (1 + accurate), Y: hi}, {X: hi, Y: hi}, {X: hi, Y: hi * (1 - accurate)},
		{X: lo / (1 - accurate), Y: lo}}}}
	equal := &plotter.Line{XYs: plotter.XYs{{X: lo, Y: lo}, {X: hi, Y: hi}}, LineStyle: thinStroke}
	return []plot.Plotter{band, equal}
}
