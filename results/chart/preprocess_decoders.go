package chart

import (
	"image/color"
	"math"

	"dlbench/results"
)

// decoderRates are the throughputs of one thread, in images per second.
type decoderRates struct {
	Bars    []decoderBar
	reports []*results.Report
}

// decoderBar is one way.
type decoderBar struct {
	Name     string
	Strategy string
	point
	Failed bool
	Times  float64 // the slowest of the machine
}

// decoderRatesOf extracts the chart's data: none unless there are two ways to compare
// and one worked.
func decoderRatesOf(reports []*results.Report) []decoderRates {
	d := decoderRates{reports: reports}
	slowest := math.Inf(1)
	for _, w := range preprocessWays(reports) {
		c := w.Cases[0]
		if c.Threads != 1 {
			continue
		}
		b := decoderBar{Name: w.named(), Strategy: w.Strategy, Failed: c.Failed()}
		if !b.Failed {
			b.point, _ = diskPoint(c.Result, "throughput")
			slowest = min(slowest, b.Median)
		}
		d.Bars = append(d.Bars, b)
	}
	if len(d.Bars) < 2 || math.IsInf(slowest, 1) {
		return nil
	}
	for i := range d.Bars {
		d.Bars[i].Times = d.Bars[i].Median / slowest
	}
	return []decoderRates{d}
}

// value is the text behind a bar, ratio is whether others are there to be slower.
func (b decoderBar) value(ratio bool) string {
	switch {
	case b.Failed:
		return "failed"
	case !ratio:
		return images.text(b.Median)
	}
	return images.text(b.Median) + ", " + timesText(b.Times) + " ×"
}

// timesText is a ratio with three digits, 1 without any.
func timesText(v float64) string {
	if v == 1 {
		return "1"
	}
	return unit{base: 1}.number(v)
}

// ratios says whether bars are held against a slowest one.
func (d decoderRates) ratios() bool {
	n := 0
	for _, b := range d.Bars {
		if !b.Failed {
			n++
		}
	}
	return n > 1
}

// strategyColor tells the strategies apart, blue and vermilion of Okabe and Ito.
var strategyColor = map[string]color.Color{
	online:  color.RGBA{0x00, 0x72, 0xB2, 255},
	offline: color.RGBA{0xD5, 0x5E, 0x00, 255},
}
