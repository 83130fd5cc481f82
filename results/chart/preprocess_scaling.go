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
			those = append(those, lineCase{c.measured, c.method, c.title(), c.Threads})
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
	var compared []*results.Result
	for i, l := range d.Lines {
		for _, c := range l.cases {
			if compared = append(compared, c.Result); len(d.reports) < 2 { // else each machine has its own
				d.join(c)
			}
		}
		most := l.cases[len(l.cases)-1].Result // threads
		d.Lines[i].Name = results.List(l.Name, fitText(results.As[results.Fit](most.Fit)))
	}
	for _, m := range demandsOf(compared) {
		d.refer(level{m.Text, throughput.value(m.At), m.At, needStroke})
	}
	if d.Levels != nil {
		d.meanings = append(d.meanings, strokeEntry("needed by a GPU", needStroke))
	}
	d.scale(d.values())
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

// join marks from how many threads on some of c run on siblings or slower cores.
func (d *lines) join(c lineCase) {
	proof := results.As[results.PreprocessProof](c.Result.Proof)
	for _, j := range []struct {
		others int
		text   string
	}{{proof.Slower, "slower cores →"}, {proof.Siblings, "SMT siblings →"}} {
		known := slices.ContainsFunc(d.Stops, func(m mark) bool { return m.Text == j.text })
		if j.others >= 1 && j.others < c.x && !known {
			d.Stops = append(d.Stops, mark{At: float64(c.x - j.others), Text: j.text})
		}
	}
	slices.SortStableFunc(d.Stops, func(a, b mark) int { return int(a.At - b.At) })
}

// scale gives d its axes.
func (d *lines) scale(values span) {
	threads, _ := d.bounds()
	log := threads.Hi > linearThreads || values.Hi > logFrom*values.Lo
	d.over("threads", log)
	for i := range d.Stops {
		d.Stops[i].At = max(d.Stops[i].At, d.x.min)
	}
	d.y = throughput.scale(values.Hi, 1.2*values.Hi, 7)
	if log {
		d.y = throughput.logarithmic(values.Lo/1.4, values.Hi*1.2, 12)
	}
}

// fitText is the law of scaling that was fitted: "3.1 % serial (Amdahl, error 0.8 %)"; "" for none.
func fitText(f results.Fit) string {
	off := "error below 0.1 %"
	if f.Error >= 0.001 {
		off = "error " + percent(f.Error)
	}
	switch {
	case f.Model == theory.Amdahl && f.Serial != nil:
		return fmt.Sprintf("%.1f %% serial (Amdahl, %s)", 100**f.Serial, off)
	case f.Model == theory.USL && f.Peak != nil && *f.Peak <= float64(f.Most):
		return fmt.Sprintf("peak at %.0f threads (USL, %s)", *f.Peak, off)
	case f.Model == theory.USL:
		return fmt.Sprintf("no peak up to %d threads (USL, %s)", f.Most, off)
	}
	return ""
}
