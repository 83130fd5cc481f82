package chart

import (
	"image/color"
	"math"
	"slices"

	"dlbench/results"
)

// decoderRates are the throughputs of one thread, in images per second.
type decoderRates struct {
	Groups  []decoderGroup
	reports []*results.Report
}

// decoderGroup is one machine.
type decoderGroup struct {
	Title string // "" where there is one alone
	Bars  []decoderBar
}

// decoderBar is one way.
type decoderBar struct {
	Name     string
	Strategy string
	point
	Failed bool
	Times  float64 // the slowest of the machine
}

// maxDecoders is how many bars one chart shows; more machines go to another.
const maxDecoders = 40

// decoderRatesOf extracts the charts' data: none unless a machine has two ways to
// compare, or there are two machines; one element, more for too many bars.
func decoderRatesOf(reports []*results.Report) []decoderRates {
	var groups []decoderGroup
	for i := range reports {
		if g := decoderGroupOf(reports, i); slices.ContainsFunc(g.Bars, func(b decoderBar) bool { return !b.Failed }) {
			groups = append(groups, g)
		}
	}
	if !slices.ContainsFunc(groups, func(g decoderGroup) bool { return len(groups) > 1 || len(g.Bars) > 1 }) {
		return nil
	}
	var all []decoderRates
	bars := maxDecoders
	for _, g := range groups {
		if bars += len(g.Bars); bars > maxDecoders {
			all = append(all, decoderRates{reports: reports})
			bars = len(g.Bars)
		}
		d := &all[len(all)-1]
		d.Groups = append(d.Groups, g)
	}
	return all
}

func decoderGroupOf(reports []*results.Report, report int) (g decoderGroup) {
	if len(reports) > 1 {
		g.Title = machines(reports)[report]
	}
	slowest := math.Inf(1)
	for _, w := range preprocessWays(reports[report : report+1]) {
		c := w.Cases[0]
		if c.Threads != 1 {
			continue
		}
		b := decoderBar{Name: w.named(), Strategy: w.Strategy, Failed: c.Failed()}
		if !b.Failed {
			b.point, _ = diskPoint(c.Result, "throughput")
			slowest = min(slowest, b.Median)
		}
		g.Bars = append(g.Bars, b)
	}
	for i := range g.Bars {
		g.Bars[i].Times = g.Bars[i].Median / slowest
	}
	return g
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

// ratios says whether bars of g are held against a slowest one.
func (g decoderGroup) ratios() bool {
	n := 0
	for _, b := range g.Bars {
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
