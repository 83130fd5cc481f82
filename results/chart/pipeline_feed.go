package chart

import (
	"fmt"
	"slices"

	"dlbench/results"
)

// maxDemands is how many demands one chart names.
const maxDemands = 8

// allFeeds are the loaders with each number of images in a batch.
func allFeeds(reports []*results.Report) (all []bars) {
	for _, n := range batchSizes(reports) {
		all = append(all, feeds(reports, n))
	}
	return all
}

// feeds are the loaders of the reports with n images in a batch, without a step.
func feeds(reports []*results.Report, n int) bars {
	cases := pipeCases(reports, func(c pipeCase) bool {
		return c.Step == 0 && c.Free == nothing && (has(c.Result, "throughput") || c.Failed())
	})
	cases = slices.DeleteFunc(cases, func(c pipeCase) bool { return reports[c.Report].Config.Batch != n })
	var demands []demand
	v := bars{
		title: "Images that the loader feeds to the device",
		subtitle: fmt.Sprintf("Top speed, batch of %d images; time: the shortest step with which the device is "+
			"kept busy; median, longer is better", n),
		quantity: throughput,
	}
	v = pipeBars(v, reports, cases, func(c pipeCase, row *barRow) {
		row.measure(c.Result, "throughput", throughput)
		row.Value += ", " + results.FormatValue(float64(n)/row.Median, results.Seconds)
		demands = addDemands(demands, c.Result)
	})
	for _, d := range demands[:min(len(demands), maxDemands)] {
		v.Demands = append(v.Demands, mark{At: d.Rate,
			Text: fmt.Sprintf("%s: %s, %s", d.Title, throughput.value(d.Rate),
				results.FormatValue(float64(n)/d.Rate, results.Seconds))})
	}
	return v
}
