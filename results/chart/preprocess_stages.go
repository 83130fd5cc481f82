package chart

import (
	"image/color"
	"slices"

	"dlbench/results"
)

// stages are parts of the work on an image, by their metrics, in the order of the work.
var stages = []part{
	{"read", "read: copied from the store", seriesColor[0]},
	{"decode", "decode: JPEG to pixels", seriesColor[1]},
	{"resample", "resample: cropped, resized and normalised", seriesColor[2]},
	{"collate", "collate: put into the batch", seriesColor[3]},
	{otherStage, "other: in none of these", color.Gray{150}},
}

// otherStage is the processor time that no stage accounts for.
const otherStage = "other"

// otherFrom is the share of the processor time from which what no stage accounts
// for is worth showing.
const otherFrom = 0.01

// stageTimes has a group for each way to make images into batches, with the fewest and
// the most threads; of several machines with the fewest threads of each.
func stageTimes(reports []*results.Report) bars {
	v := bars{
		title:    "Processor time for one image, by stage",
		subtitle: "All threads together, with the fewest and the most threads; median, shorter is better",
		quantity: quantity{"processor time per image", results.Seconds},
		captions: captions(reports, cpuText),
		parts:    stages,
	}
	if v.compare(reports); v.machines != nil {
		v.subtitle = "With the fewest threads of each; median, shorter is better"
	}
	ways := preprocessWays(reports)
	for _, w := range ways {
		rows := stageRows(w)
		if !slices.ContainsFunc(rows, func(r barRow) bool { return !r.Failed }) {
			continue
		}
		g := w.group(ways)
		if v.machines != nil {
			rows = rows[:1]
			if version := w.version(ways); version != "" {
				rows[0].Detail = version + ", " + rows[0].Detail
			}
		}
		for _, r := range rows {
			v.add(g, r)
		}
	}
	return v
}

// stageRows are the rows of w with the fewest threads and the most that have times.
func stageRows(w wayCases) (rows []barRow) {
	for _, c := range w.Cases {
		r := barRow{Machine: w.Report, Detail: results.Plural(int(c.Threads), "thread"), Failed: c.Failed()}
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

// stagesOf reads the times of the stages, 0 for those that a way does not have,
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
