package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// logFrom is the ratio of the greatest to the least value above which an axis is
// logarithmic.
const logFrom = 100

// logTicks marks 1, 2 and 5 times powers of ten, or as many of the powers alone as
// keep the labels to n.
func logTicks(n int, label func(float64) string) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		decades := math.Log10(hi / lo)
		step := max(1, int(math.Ceil(decades/float64(n))))
		every := 3*decades <= float64(n)
		var all []plot.Tick
		for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
			for _, m := range []float64{1, 2, 5} {
				v := m * math.Pow10(e)
				if v < lo*(1-1e-9) || v > hi*(1+1e-9) || step > 1 && m != 1 {
					continue
				}
				t := plot.Tick{Value: v}
				if e%step == 0 && (m == 1 || every) {
					t.Label = label(v)
				}
				all = append(all, t)
			}
		}
		return all
	})
}

// timeLabel is a round time with the unit that suits it: 500 µs, 1 ms.
func timeLabel(v float64) string {
	u := secondsFor(v * (1 + 1e-9))
	return strconv.FormatFloat(v/u.base, 'g', 4, 64) + " " + u.name
}

// rateLabel is a round rate without its unit.
func (u unit) rateLabel(v float64) string { return strconv.FormatFloat(v/u.base, 'g', 4, 64) }

// ratesFor returns the unit in which rates up to max are read most easily.
func ratesFor(max float64) unit {
	switch {
	case max >= 1e9:
		return gigabytes
	case max >= 1e6:
		return unit{"MB/s", 1e6}
	}
	return unit{"kB/s", 1e3}
}

// countTicks marks those counts, with labels that keep at least gap, a share of the
// logarithmic axis, apart.
func countTicks(counts []int64, gap float64) plot.Ticker {
	return plot.TickerFunc(func(min, max float64) []plot.Tick {
		var all []plot.Tick
		last := math.Inf(-1)
		for _, n := range counts {
			t := plot.Tick{Value: float64(n)}
			if at := math.Log(t.Value/min) / math.Log(max/min); at-last >= gap {
				t.Label, last = strconv.FormatInt(n, 10), at
			}
			all = append(all, t)
		}
		return all
	})
}

// upright draws the label of a y axis left of its ticks, in the middle. gonum's own
// takes room above a logarithmic axis.
type upright struct{ label string }

// Plot implements plot.Plotter.
func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	var ticks vg.Length
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		ticks = max(ticks, width(tickText, t.Label))
	}
	c.Push()
	c.Rotate(math.Pi / 2)
	write(c, aligned(labelText, draw.XCenter), c.Center().Y, -(c.Min.X - ticks - p.Y.Tick.Length - 11*px), u.label)
	c.Pop()
}
