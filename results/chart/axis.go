package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

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

// scale is an axis from 0 to most, or one from least on that is logarithmic with about n
// labels, where they are too far from each other.
func (q quantity) scale(least, most float64, n int) scale {
	if most > logFrom*least {
		return q.logarithmic(least/1.4, most*1.2, n)
	}
	name, base := prefixed(most, q.unit)
	return scale{label: q.text + " (" + name + ")", max: most * 1.05, ticks: linearTicks(base)}
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
	powers := map[string]int{"n": -9, "µ": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
	return name, math.Pow10(powers[strings.TrimSuffix(name, unit)])
}

// linearTicks are gonum's, in multiples of base.
func linearTicks(base float64) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		all := plot.DefaultTicks{}.Ticks(lo/base, hi/base)
		for i, t := range all {
			if all[i].Value *= base; t.Label != "" {
				all[i].Label = strconv.FormatFloat(t.Value, 'g', 6, 64)
			}
		}
		return all
	})
}

// logTicks marks 1, 2 and 5 times powers of ten, or as many of the powers alone as
// keep the labels to n. No label stands so near the lower end that it would meet one of
// the other axis.
func logTicks(n int, label func(float64) string) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) (all []plot.Tick) {
		decades := math.Log10(hi / lo)
		step := max(1, int(math.Ceil(decades/float64(n))))
		every := 3*decades <= float64(n)
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
