package chart

import (
	"dlbench/results"
)

// decoderRates has a group for each strategy of one machine, or for each method of making
// images into batches of several machines.
func decoderRates(reports []*results.Report) bars {
	v := bars{
		title:    "Preprocessing with one thread",
		subtitle: "Median, longer is better",
		quantity: throughput,
		captions: captions(reports),
	}
	v.compare(reports)
	for _, same := range preprocessMethods(reports) {
		c := same[0]
		if c.Threads != 1 {
			continue
		}
		row, g := rowOf(c.measured, "throughput", throughput), c.group()
		if v.machines == nil {
			row.Detail, g = c.title(), strategyGroup(c.Strategy)
		}
		v.add(g, row)
	}
	return v
}

// strategyGroup has the methods of one strategy.
func strategyGroup(strategy string) barGroup {
	g := barGroup{Title: results.Clip(strategy, maxDevice), key: strategy, fill: seriesColor[0]}
	if text, ok := strategyTexts[strategy]; ok {
		g.Title = strategy + ": " + text
	}
	return g
}
