package chart

import (
	"dlbench/results"
)

// stages are parts of the work on an image, by their metrics, in the order of the work.
var stages = []part{
	{"read", "read: copied from the store", partColor["read"]},
	{"decode", "decode: JPEG to pixels", partColor["decode"]},
	{"resample", "resample: cropped, resized and normalised", partColor["resample"]},
	{"collate", "collate: put into the batch", partColor["collate"]},
	{otherStage, "other: in none of these", partColor[otherStage]},
}

// otherStage is the processor time that no stage accounts for.
const otherStage = "other"

// otherFrom is the share of the processor time from which what no stage accounts
// for is worth showing.
const otherFrom = 0.01

// stageTimes has a group for each method of making images into batches, with the fewest and
// the most threads; of several machines with the fewest threads of each.
func stageTimes(reports []*results.Report) bars {
	v := bars{
		title:    "Processor time for one image, by stage",
		subtitle: "All threads together, with the fewest and the most threads; median, shorter is better",
		quantity: quantity{"processor time per image", results.Seconds},
		captions: captions(reports),
		parts:    stages,
	}
	if v.compare(reports); v.machines != nil {
		v.subtitle = "With the fewest threads of each; median, shorter is better"
	}
	for _, same := range preprocessMethods(reports) {
		rows := stageRows(same)
		if v.machines != nil {
			rows = rows[:min(len(rows), 1)]
		}
		for _, r := range rows {
			v.add(same[0].group(), r)
		}
	}
	return v
}

// stageRows are the rows of a method with the fewest threads and the most that have times.
func stageRows(cases []methodCase) (rows []barRow) {
	for _, c := range cases {
		r := barRow{Machine: c.report, Detail: results.Plural(c.Threads, "thread"), Failed: c.Failed()}
		if !r.Failed {
			p, _ := pointOf(c.Result, "throughput")
			r.Parts = stagesOf(c.Result)
			for _, t := range r.Parts {
				r.Median += t
			}
			if r.Median == 0 {
				continue
			}
			r.Value = results.FormatValue(r.Median, results.Seconds) + ", " + throughput.value(p.Median)
		}
		rows = append(rows[:min(len(rows), 1)], r) // the first and the last so far
	}
	return rows
}

// stagesOf reads the times of the stages, 0 for those that a method does not have,
// and as the last the rest of the processor time.
func stagesOf(r *results.Result) []float64 {
	times := make([]float64, len(stages))
	var sum float64
	for i, s := range stages {
		if p, ok := pointOf(r, s.name); ok && s.name != otherStage {
			times[i] = p.Median
			sum += p.Median
		}
	}
	if p, ok := pointOf(r, "cpu"); ok && p.Median-sum > otherFrom*p.Median {
		times[len(times)-1] = p.Median - sum
	}
	return times
}
