package chart

import (
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
