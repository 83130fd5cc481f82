package chart

import (
	"fmt"

	"dlbench/results"
)

// stepParts are the parts of a step, from the axis on.
var stepParts = []part{
	{text: "the GPU works (the step)", fill: partColor["step"]},
	{text: "it waits for a batch", fill: partColor["wait"]},
	{text: "it waits for copy or launch", fill: partColor[results.PartCopy]},
}

// stepTimes are the times from one step to the next of pipelines with a device that
// works.
func stepTimes(reports []*results.Report) bars {
	cases := pipeCases(reports, func(c pipeCase) bool {
		return c.Step > 0 && (has(c.Result, "step_time") || c.Failed())
	})
	v := bars{
		title:    "Time of a training step and what the GPU waits for",
		subtitle: "From the end of one step to the end of the next; %: the share that the GPU works; median",
		quantity: timePerStep,
		parts:    stepParts,
	}
	return pipeBars(v, reports, cases, "step_time", stepRow)
}

// stepRow completes the row of a case: the device works; it stands still, and the loop
// waited that long for a batch; it stands still else, all of it where waits are unknown.
func stepRow(c pipeCase, row *barRow) {
	works := min(c.step(), row.Median)
	wait, rest := 0.0, row.Median-works
	if m := c.Result.Metric("wait"); m != nil && m.Median > 0 {
		wait = min(m.Median, rest)
		rest -= wait
	}
	row.Parts = []float64{works, wait, rest}
	if m := c.Result.Metric("utilisation"); m != nil && m.Median > 0 && m.Median <= 1.001 {
		row.Value += ", " + percent(min(m.Median, 1))
	}
}

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
