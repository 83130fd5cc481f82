package chart

import (
	"image/color"
	"math"

	"dlbench/results"
)

// strategyColor distinguishes the strategies, blue and vermilion of Okabe and Ito.
var strategyColor = map[string]color.Color{online: seriesColor[0], offline: seriesColor[1]}

// decoderRates has a group for each strategy of one machine, or for each way to make
// images into batches of several machines. There is none of one machine unless there are
// two ways to compare.
func decoderRates(reports []*results.Report) bars {
	v := bars{
		title:    "Preprocessing with one thread",
		subtitle: "Median, longer is better",
		quantity: throughput,
		captions: captions(reports, cpuText),
	}
	v.compare(reports)
	ways := preprocessWays(reports)
	rows := 0
	for _, w := range ways {
		c := w.Cases[0]
		if c.Threads != 1 {
			continue
		}
		row := barRow{Machine: w.Report, Failed: c.Failed(), Detail: w.version(ways)}
		if !row.Failed {
			row.measure(c.Result, "throughput", throughput)
		}
		g := w.group(ways)
		if v.machines == nil {
			row.Detail, g = w.title(), strategyGroup(w.Strategy)
		}
		v.add(g, row)
		rows++
	}
	if v.machines == nil {
		v.ratios()
		if rows < 2 {
			v.Groups = nil
		}
	}
	return v
}

// strategyGroup has the ways of one strategy.
func strategyGroup(strategy string) barGroup {
	g := barGroup{Title: results.Clip(strategy, maxDevice), key: strategy, fill: muted}
	if text, ok := strategyTexts[strategy]; ok {
		g.Title, g.fill = strategy+": "+text, strategyColor[strategy]
	}
	return g
}

// ratios adds to the values of v what they are of the slowest, where there are several.
func (v *bars) ratios() {
	slowest, n := math.Inf(1), 0
	for _, g := range v.Groups {
		for _, r := range g.Rows {
			if !r.Failed {
				slowest, n = min(slowest, r.Median), n+1
			}
		}
	}
	if n < 2 {
		return
	}
	v.subtitle += "; ×: ratio to the slowest"
	for _, g := range v.Groups {
		for i, r := range g.Rows {
			g.Rows[i].Value += ", " + results.FormatExact(r.Median/slowest, "×")
		}
	}
}
