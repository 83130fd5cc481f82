package chart

import (
	"fmt"

	"dlbench/results"
)

// maxNeeds is how many needs of GPUs one chart names.
const maxNeeds = 8

// allFeeds are the loaders with each number of images in a batch, without a step.
func allFeeds(reports []*results.Report) (all []bars) {
	cases := pipeCases(reports, func(c pipeCase) bool {
		return c.Step == 0 && c.Free == results.FreeNothing && (has(c.Result, "throughput") || c.Failed())
	})
	batch := func(c pipeCase) int { return reports[c.report].Config.Batch }
	for _, same := range groups(cases, batch) {
		if n := batch(same[0]); n > 0 {
			all = append(all, feeds(reports, same, n))
		}
	}
	return all
}

// feeds are loaders with n images in a batch.
func feeds(reports []*results.Report, cases []pipeCase, n int) bars {
	var compared []*results.Result
	v := bars{
		title:    "Images that the loader feeds",
		subtitle: fmt.Sprintf("When nothing waits, and the time of a batch of %d images; median, longer is better", n),
		quantity: throughput,
	}
	v = pipeBars(v, reports, cases, "throughput", func(c pipeCase, row *barRow) {
		row.Value += ", " + results.FormatValue(float64(n)/row.Median, results.Seconds)
		compared = append(compared, c.Result)
	})
	demands := demandsOf(compared)
	for _, d := range demands[:min(len(demands), maxNeeds)] {
		v.Needs = append(v.Needs, mark{At: d.Rate,
			Text: fmt.Sprintf("%s: %s, %s", d.Title, throughput.value(d.Rate),
				results.FormatValue(float64(n)/d.Rate, results.Seconds))})
	}
	return v
}
