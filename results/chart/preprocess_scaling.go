package chart

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Limits of a chart of scaling.
const (
	maxCompared   = 3  // lines that are drawn with linear scaling
	linearThreads = 16 // that are shown on linear axes
)

// scalings are the images/s of methods of making images into batches with different
// numbers of threads: of one machine a chart for each strategy, of several one for each
// method.
func scalings(reports []*results.Report) (all []picture) {
	cases := slices.Concat(preprocessMethods(reports)...)
	for _, same := range results.Grouped(cases, func(c methodCase) string { return c.Strategy }) {
		var those []lineCase
		for _, c := range same {
			those = append(those, lineCase{c.measured, c.title(), c.title(), c.Threads})
		}
		for _, d := range linesOf(reports, those, "throughput", "threads") {
			d.title = "Preprocessing by number of threads, " + same[0].Strategy
			d.subtitle += results.After("Images/s; ", strategyTexts[same[0].Strategy])
			d.scaling()
			all = append(all, d)
		}
	}
	return all
}

// scaling completes d by what is needed, where threads share cores and, where there are few
// lines, linear scaling.
func (d *lines) scaling() {
	for i, l := range d.Lines {
		most := l.cases[len(l.cases)-1] // threads
		d.Lines[i].Name = results.List(l.Name, fitText(results.As[results.Fit](most.Result.Fit)))
		if i == 0 && len(d.reports) < 2 { // else each machine has its own
			d.Stops = joins(most)
		}
	}
	var needs []level
	for _, m := range demandsOf(d.reports) {
		needs = append(needs, level{m.Text, throughput.value(m.At), m.At, needStroke})
	}
	d.refer(needs...)
	if d.Levels != nil {
		d.meanings = append(d.meanings, strokeEntry("needed by a GPU (ResNet-50: an emulated one)", needStroke))
	}
	threads, rates := d.bounds()
	log := threads.Hi > linearThreads || rates.Hi > logFrom*rates.Lo
	d.over("threads", log)
	for i := range d.Stops {
		d.Stops[i].At = max(d.Stops[i].At, d.x.min)
	}
	d.y = throughput.scale(rates.Hi, 1.2*rates.Hi, 7)
	if log {
		d.y = throughput.logarithmic(rates.Lo/1.4, rates.Hi*1.2, 12)
	}
	if len(d.Lines) > maxCompared {
		return
	}
	for _, l := range d.Lines {
		first, last := l.Points[0], l.Points[len(l.Points)-1]
		linear := plotter.XYs{{X: first.X, Y: first.Median}, {X: d.x.max, Y: first.Median * d.x.max / first.X}}
		d.under = append(d.under, &plotter.Line{XYs: linear, LineStyle: thinStroke})
		d.addLevel(level{Name: "with " + results.Plural(int(last.X), "thread"), Value: throughput.value(last.Median),
			At: last.Median})
	}
	d.meanings = append([]entry{strokeEntry("linear scaling from the fewest threads", thinStroke)}, d.meanings...)
}

// joins are from how many threads on some run on slower cores and on siblings, which come last, where
// some of those of c do.
func joins(c lineCase) (all []mark) {
	proof := results.As[results.PreprocessProof](c.Result.Proof)
	full := c.x - max(0, proof.Siblings)
	if fast := full - max(0, proof.Slower); fast > 0 && fast < full {
		all = append(all, mark{At: float64(fast), Text: "slower cores →"})
	}
	if full > 0 && full < c.x {
		all = append(all, mark{At: float64(full), Text: "SMT siblings →"})
	}
	return all
}

// fitText is the law of scaling that was fitted: "3.1 % serial (Amdahl, error 0.8 %)"; "" for none.
func fitText(f results.Fit) string {
	switch {
	case f.Model == theory.Amdahl && f.Serial != nil:
		return fmt.Sprintf("%.1f %% serial (Amdahl, error %.1f %%)", 100**f.Serial, 100*f.Error)
	case f.Model == theory.USL && f.Peak != nil && *f.Peak <= float64(f.Most):
		return fmt.Sprintf("peak at %.0f threads (USL, error %.1f %%)", *f.Peak, 100*f.Error)
	case f.Model == theory.USL:
		return fmt.Sprintf("no peak up to %d threads (USL, error %.1f %%)", f.Most, 100*f.Error)
	}
	return ""
}
