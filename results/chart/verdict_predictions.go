package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dlbench/results"
)

// accurate is the error, as a share of what was measured, within which a check is counted as good.
const accurate = 0.10

// predictions compare what a model said of throughput and of step times with what was then measured.
func predictions(reports []*results.Report) []picture {
	return append(predicted(reports, "throughput", throughput), predicted(reports, "step_time", timePerStep)...)
}

// predicted are the predictions of one metric, a row for each change.
func predicted(reports []*results.Report, metric string, q quantity) []picture {
	v := bars{
		title:    "Predicted and then measured: " + q.text,
		quantity: q,
		reports:  reports,
		spread:   "interval of the prediction",
	}
	within, checks := 0, 0
	for i, rep := range reports {
		for _, p := range rep.Predictions {
			if p.Metric != metric || !checked(p) {
				continue
			}
			off := *p.Value / *p.Measured - 1
			if checks++; math.Abs(off) <= accurate {
				within++
			}
			v.add("", cmp.Or(clean(p.Change), "unnamed change"), "", barRow{Machine: i,
				point: point{Median: *p.Value, Spread: spanAround(*p.Value, p.Lo, p.Hi), Assumed: p.Assumed},
				Value: fmt.Sprintf("%s, %+.1f %%", q.value(*p.Value), math.Round(1000*off)/10+0),
				Marks: markOf(*p.Measured, "what was then measured", outline(diamond, ink)),
				fill:  partColor["wait"]})
		}
	}
	v.subtitle = fmt.Sprintf("%%: how far the prediction is from what was measured; %d of %d within ±10 %%",
		within, checks)
	return v.pictures()
}

// checked reports whether p was measured, and not against what follows from the
// same formula: a simulated step or disk takes as long as it is said to.
func checked(p results.Prediction) bool {
	return drawable(p.Value) && drawable(p.Measured) && !slices.Contains(p.Assumed, "step") &&
		!slices.Contains(p.Assumed, "disk")
}
