package chart

import (
	"cmp"
	"slices"

	"dlbench/results"
)

// scalingVersusCharts shows what more threads bring to each machine.
func scalingVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, d := range scalingVersus(reports) {
		figures = append(figures, d.figure)
	}
	return numbered("preprocess-scaling", figures)
}

// scalingVersus has an element for each way to make images into batches, with a line
// for each machine.
func scalingVersus(reports []*results.Report) []scaling {
	names := machines(reports)
	ways := preprocessWays(reports)
	var all []scaling
	var keys []any
	for _, w := range ways {
		l := scalingLineOf(w)
		if len(l.Points)+len(l.Failed) < minCounts {
			continue
		}
		g := w.group(ways)
		i := slices.Index(keys, g.key)
		if i < 0 {
			i = len(keys)
			keys = append(keys, g.key)
			all = append(all, scaling{Strategy: w.Strategy, What: g.Title, reports: reports})
		}
		l.Source, l.Name = w.Report, names[w.Report]
		if s := w.version(ways); s != "" {
			l.Name += ", " + s
		}
		all[i].Lines = append(all[i].Lines, l)
		all[i].Demands = addDemands(all[i].Demands, w)
	}
	return slices.DeleteFunc(all, func(d scaling) bool {
		return !slices.ContainsFunc(d.Lines, func(l scalingLine) bool { return len(l.Points) >= minCounts })
	})
}

// decoderVersusCharts holds what one thread of each machine does against each other.
func decoderVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, v := range decoderVersus(reports).charts() {
		figures = append(figures, func() *figure {
			return v.fill(&figure{
				title:    "Preprocessing with one thread, by machine",
				subtitle: "Median, longer is better",
				caption:  shared(v.shown(preprocessCaptions(reports))),
			}, imagesAxis)
		})
	}
	return numbered("preprocess-decoders", figures)
}

var imagesAxis = axis{"throughput", func(float64) unit { return images }, imagesLabel}

// decoderVersus has a group for each way to make images into batches.
func decoderVersus(reports []*results.Report) versus {
	v := versus{names: machines(reports)}
	ways := preprocessWays(reports)
	for _, w := range ways {
		c := w.Cases[0]
		if c.Threads != 1 {
			continue
		}
		row := versusRow{Machine: w.Report, Failed: c.Failed(), Detail: w.version(ways)}
		if !row.Failed {
			row.point, _ = diskPoint(c.Result, "throughput")
			row.Value = images.text(row.Median)
		}
		v.add(w.group(ways), row)
	}
	return v
}

// group is that of w among the ways of other machines.
func (w wayCases) group(ways []wayCases) versusGroup {
	key := w.way
	key.Report = 0
	if w.version(ways) != "" {
		w.decoder = ""
	}
	return versusGroup{Title: w.named(), key: key}
}

// version is the decoder of w where that of another machine has another name.
func (w wayCases) version(ways []wayCases) string {
	for _, o := range ways {
		if o.Report, o.decoder = w.Report, cmp.Or(o.decoder, w.decoder); o.way == w.way && o.decoder != w.decoder {
			return results.Clip(w.decoder, maxDevice)
		}
	}
	return ""
}

// stageVersusCharts holds the processor time of the stages of each machine against
// each other.
func stageVersusCharts(reports []*results.Report) []Chart {
	var figures []func() *figure
	for _, v := range stageVersus(reports).charts() {
		figures = append(figures, func() *figure {
			return v.fill(&figure{
				title:    "Processor time for one image by stage, by machine",
				subtitle: "With the fewest threads of each; median, shorter is better",
				caption:  shared(v.shown(preprocessCaptions(reports))),
			}, timeAxis("processor time per image"))
		})
	}
	return numbered("preprocess-stages", figures)
}

// stageVersus has a group for each way to make images into batches.
func stageVersus(reports []*results.Report) versus {
	v := versus{names: machines(reports)}
	for _, s := range stages {
		v.parts = append(v.parts, stepPart{fill: s.color, text: s.name + ": " + s.text})
	}
	ways := preprocessWays(reports)
	for _, w := range ways {
		bars, ok := stageGroupOf(w)
		if !ok {
			continue
		}
		b := bars.Bars[0]
		row := versusRow{Machine: w.Report, Failed: b.Failed, Detail: w.version(ways)}
		if b.Threads != 1 {
			row.Detail = listedDetail(row.Detail, threadsText(b.Threads))
		}
		if !b.Failed {
			row.Median, row.Parts, row.Value = b.total(), b.Times, b.value()
		}
		v.add(w.group(ways), row)
	}
	return v
}

// listedDetail adds a detail to those that there are.
func listedDetail(detail, more string) string {
	if detail == "" {
		return more
	}
	return detail + ", " + more
}
