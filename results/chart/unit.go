package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"dlbench/results"
)

// unit is what an axis and its labels count in.
type unit struct {
	name string
	base float64 // one of it in base units
}

var gigabytes = unit{"GB/s", 1e9}

// secondsFor returns the unit in which times up to max are read most easily.
func secondsFor(max float64) unit {
	switch {
	case max >= 1:
		return unit{"s", 1}
	case max >= 1e-3:
		return unit{"ms", 1e-3}
	}
	return unit{"µs", 1e-6}
}

// number formats v base units in u with three digits: 0.308, 1.54, 12.3, 1 230.
func (u unit) number(v float64) string { return u.digits(v, 3) }

func (u unit) digits(v float64, n int) string {
	v /= u.base
	if v == 0 {
		return "0"
	}
	digits := n - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits < -3 || digits > 6 {
		return strconv.FormatFloat(v, 'g', n, 64)
	}
	if digits < 0 {
		round := math.Pow10(-digits)
		v, digits = math.Round(v/round)*round, 0
	}
	return thousands(strconv.FormatFloat(v, 'f', digits, 64))
}

// text is a value with the four digits of tables, and its unit: 1.543 ms.
func (u unit) text(v float64) string { return u.digits(v, 4) + " " + u.name }

// thousands sets a no-break space between groups of three digits before the point.
func thousands(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "\u00A0" + whole[i:]
	}
	if point {
		return whole + "." + fraction
	}
	return whole
}

// ticks places about n marks at multiples of 1, 2 or 5 units times a power of ten.
func (u unit) ticks(n int) plot.Ticker {
	return plot.TickerFunc(func(min, max float64) []plot.Tick {
		step := niceStep((max - min) / u.base / float64(n))
		digits := int(math.Max(0, -math.Floor(math.Log10(step))))
		var all []plot.Tick
		for i := math.Ceil(min / u.base / step); i*step*u.base <= max*(1+1e-9); i++ {
			label := strconv.FormatFloat(i*step, 'g', 3, 64)
			if digits <= 6 && max/u.base < 1e6 {
				label = thousands(strconv.FormatFloat(i*step, 'f', digits, 64))
			}
			if i == 0 {
				label = "0"
			}
			all = append(all, plot.Tick{Value: i * step * u.base, Label: label})
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
