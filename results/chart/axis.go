package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/results"
)

// imagesUnit is the unit of throughput as people read it.
const imagesUnit = "images/s"

// quantity is what an axis shows: "time per batch", results.Seconds.
type quantity struct{ text, unit string }

// Quantities of more than one chart.
var (
	timePerBatch = quantity{"time per batch", results.Seconds}
	timePerStep  = quantity{"time per step", results.Seconds}
	throughput   = quantity{"throughput", imagesUnit}
	bandwidth    = quantity{"bandwidth", results.BytesPerSecond}
)

// value is v with its unit.
func (q quantity) value(v float64) string { return results.FormatValue(v, q.unit) }

// percent is a share: 52.2 %.
func percent(share float64) string {
	return results.FormatExact(math.Round(share*1000)/1000, results.Ratio)
}

// scale is how an axis is drawn.
type scale struct {
	label    string
	min, max float64
	log      bool
	ticks    plot.Ticker
}

// set makes a an axis of s.
func (s scale) set(a *plot.Axis) {
	a.Min, a.Max, a.Tick.Marker = s.min, s.max, s.ticks
	if s.log {
		a.Scale = plot.LogScale{}
	}
}

// logFrom is the ratio of the greatest to the least value above which an axis is
// logarithmic.
const logFrom = 100

// scale is an axis from 0 to most, or one from least on that is logarithmic, where they
// are too far from each other; with about n labels.
func (q quantity) scale(least, most float64, n int) scale {
	if most > logFrom*least {
		return q.logarithmic(least/1.4, most*1.2, n)
	}
	name, base := prefixed(most, q.unit)
	return scale{label: q.text + " (" + name + ")", max: most * 1.05, ticks: linearTicks(base, n)}
}

// logarithmic is an axis from least to most. Its labels have their units, but for
// images, which are counted.
func (q quantity) logarithmic(least, most float64, n int) scale {
	label, unit := q.text+" (logarithmic)", q.unit
	if unit == imagesUnit {
		label, unit = q.text+" ("+unit+", logarithmic)", ""
	}
	ticks := logTicks(n, func(v float64) string {
		if _, base := prefixed(v, unit); v/base >= 1e7 {
			return strings.TrimSpace(strconv.FormatFloat(v/base, 'g', 4, 64) + " " + unit)
		}
		return results.FormatExact(v, unit)
	})
	return scale{label: label, min: least, max: most, log: true, ticks: ticks}
}

// prefixed is unit with the prefix that suits most, and one of that in base units.
func prefixed(most float64, unit string) (name string, base float64) {
	_, name, _ = strings.Cut(results.FormatValue(most, unit), " ")
	powers := map[string]int{"n": -9, "µ": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "%": -2}
	if name == "%" {
		return name, 0.01
	}
	return name, math.Pow10(powers[strings.TrimSuffix(name, unit)])
}

// linearTicks places about n marks at multiples of 1, 2 or 5 times a power of ten of
// base.
func linearTicks(base float64, n int) plot.Ticker {
	return plot.TickerFunc(func(min, max float64) []plot.Tick {
		step := niceStep((max - min) / base / float64(n))
		digits := int(math.Max(0, -math.Floor(math.Log10(step))))
		var all []plot.Tick
		for i := math.Ceil(min / base / step); i*step*base <= max*(1+1e-9); i++ {
			label := strconv.FormatFloat(i*step, 'g', 3, 64)
			if digits <= 6 && max/base < 1e6 {
				label = strconv.FormatFloat(i*step, 'f', digits, 64)
			}
			if i == 0 {
				label = "0"
			}
			all = append(all, plot.Tick{Value: i * step * base, Label: label})
		}
		return all
	})
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logTicks marks 1, 2 and 5 times powers of ten, or as many of the powers alone as
// keep the labels to n. No label stands so near the lower end that it would meet one of
// the other axis.
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
				if e%step == 0 && (m == 1 || every) && math.Log10(v/lo) >= 0.02*decades {
					t.Label = label(v)
				}
				all = append(all, t)
			}
		}
		return all
	})
}

// counts is an axis of those counts in ascending order, with labels that keep at least
// gap, a share of the axis, apart.
func counts(text string, all []int, log bool, gap float64) scale {
	last := float64(all[len(all)-1])
	s := scale{label: text, max: last * 1.06}
	if log {
		s = scale{label: text + " (logarithmic)", min: float64(all[0]) / 1.25, max: last * 1.25, log: true}
	}
	s.ticks = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		var ticks []plot.Tick
		at := math.Inf(-1)
		for _, n := range all {
			t := plot.Tick{Value: float64(n)}
			x := t.Value / hi
			if log {
				x = math.Log(t.Value/lo) / math.Log(hi/lo)
			}
			if x-at >= gap {
				t.Label, at = strconv.Itoa(n), x
			}
			ticks = append(ticks, t)
		}
		return ticks
	})
	return s
}

// sizeTicks marks powers of two of bytes, at most n of them.
func sizeTicks(n int) plot.Ticker {
	return plot.TickerFunc(func(min, max float64) []plot.Tick {
		first, last := int(math.Ceil(math.Log2(min)-1e-9)), int(math.Floor(math.Log2(max)+1e-9))
		step := 1
		for (last-first)/step >= n {
			step++
		}
		var all []plot.Tick
		for e := first; e <= last; e += step {
			all = append(all, plot.Tick{Value: math.Exp2(float64(e)), Label: results.FormatBytes(1 << e)})
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
