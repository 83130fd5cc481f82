package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Limits of a chart of scaling.
const (
	maxScaling    = 8  // lines; more go to another chart
	maxFull       = 3  // lines that are drawn with what they are compared with
	linearThreads = 16 // that are shown on linear axes
)

// scalingLine is the throughput of one method with different numbers of threads.
type scalingLine struct {
	curve
	Report  int
	Control []curvePoint   // independent work on as many threads
	Fit     theory.Scaling // the zero value for none
	// Cores and Fast are the numbers of threads above which SMT siblings and slower
	// cores join, 0 where they do not.
	Cores, Fast int
	compared    []*results.Result
}

// scaling is a chart of lines of one strategy.
type scaling struct {
	Strategy string
	What     string // method of all lines, "" where each has its own
	Lines    []scalingLine
	reports  []*results.Report
}

func scalingLines(reports []*results.Report) (all []lines) {
	for _, d := range scalings(reports) {
		all = append(all, d.lines())
	}
	return all
}

// scalings have an element for each strategy, more for too many lines; of several
// machines for each method of making images into batches, with a line for each machine.
func scalings(reports []*results.Report) (all []scaling) {
	methods, several := preprocessMethods(reports), len(reports) > 1
	those := slices.DeleteFunc(slices.Clone(methods), func(w methodCases) bool { return len(w.Cases) < minCounts })
	for _, same := range groups(those, func(w methodCases) method {
		if several {
			return w.alike()
		}
		return method{Strategy: w.Strategy}
	}) {
		for part := range slices.Chunk(same, maxScaling) {
			d := scaling{Strategy: part[0].Strategy, reports: reports}
			for i, w := range part {
				l := scalingLineOf(w)
				if l.Source = i; several {
					d.What = w.group(methods).Title
					l.Source, l.Name = w.Report, results.List(machines(reports)[w.Report], w.version(methods))
				}
				l.style = l.styled(nil)
				d.Lines = append(d.Lines, l)
			}
			if slices.ContainsFunc(d.Lines, func(l scalingLine) bool { return len(l.Points) >= minCounts }) {
				all = append(all, d)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scaling) int {
		return cmp.Compare(results.Rank(strategies, a.Strategy), results.Rank(strategies, b.Strategy))
	})
	return all
}

func scalingLineOf(w methodCases) scalingLine {
	l := scalingLine{Report: w.Report, curve: curve{Name: w.title()}}
	for _, c := range w.Cases {
		l.compared = append(l.compared, c.Result)
		if l.add(c.measured, int64(c.Threads), "throughput"); c.Failed() {
			continue
		}
		if p, ok := pointOf(c.Result, "control"); ok {
			l.Control = append(l.Control, bare(float64(c.Threads), p.Median))
		}
		proof := results.As[results.PreprocessProof](c.Result.Proof)
		l.Cores = cmp.Or(l.Cores, joins(c, proof.Siblings))
		l.Fast = cmp.Or(l.Fast, joins(c, proof.Slower))
		if f, ok := fitOf(results.As[results.Fit](c.Result.Fit)); ok {
			l.Fit = f // of the most threads
		}
	}
	return l
}

// joins is from how many threads on some run where others are not counted: with 2 of 8
// on siblings, those join above 6; 0 for none.
func joins(c methodCase, others int) int {
	if others < 1 || others >= c.Threads {
		return 0
	}
	return c.Threads - others
}

// fitOf reads a law of scaling; ok is false for one that cannot be drawn.
func fitOf(fit results.Fit) (s theory.Scaling, ok bool) {
	sigma := map[string]*float64{theory.Amdahl: fit.Serial, theory.USL: fit.Sigma}[fit.Model]
	if sigma == nil || fit.Model == theory.USL && fit.Kappa == nil {
		return s, false
	}
	s = theory.Scaling{Law: fit.Model, X1: fit.X1, Sigma: *sigma, Error: fit.Error,
		Least: min(max(fit.Least, 1), maxThreads), Most: min(max(fit.Most, 1), maxThreads)}
	if fit.Model == theory.USL {
		s.Kappa = *fit.Kappa
	}
	return s, positive(s.X1) && s.Sigma >= 0 && s.Sigma <= 1 && s.Kappa >= 0 && s.Kappa < 1e6 && s.Least < s.Most
}

// drawn is the range of threads in which the fit of l is drawn: where both it and
// measurements are.
func (l scalingLine) drawn() (least, most float64) {
	if l.Fit.X1 == 0 || len(l.Points) == 0 {
		return 0, 0
	}
	return max(float64(l.Fit.Least), l.Points[0].X), min(float64(l.Fit.Most), l.Points[len(l.Points)-1].X)
}

// full says whether lines are drawn with what they are compared with.
func (d scaling) full() bool { return len(d.Lines) <= maxFull }

// several says whether lines are of different machines.
func (d scaling) several() bool {
	return slices.ContainsFunc(d.Lines, func(l scalingLine) bool { return l.Report != d.Lines[0].Report })
}

// Strokes of what lines are compared with.
var (
	linearDashes  = []vg.Length{7 * px, 4 * px}
	controlDashes = []vg.Length{6 * px, 2.5 * px, 1.5 * px, 2.5 * px}
	fitStroke     = line(ink, 1.5, 1.5*px, 3*px)
)

// joinShade is behind the threads that other processors join.
var joinShade = color.Gray{246}

func (d scaling) lines() lines {
	c := lines{
		title:      "Preprocessing by number of threads, " + results.Clip(d.Strategy, maxDevice),
		subtitle:   "Median, higher is better",
		sideBySide: !d.full(),
	}
	if s, ok := strategyTexts[d.Strategy]; ok {
		c.subtitle = upper(s) + "; median, higher is better"
	}
	if d.What != "" {
		c.title = "Preprocessing by number of threads and machine, " + d.What
	}
	if !d.full() {
		c.subtitle += fmt.Sprintf("; without linear scaling, controls and fits, as there are more than %d lines",
			maxFull)
	}
	for _, l := range d.Lines {
		l.curve.Name = d.legendName(l)
		c.Lines = append(c.Lines, l.curve)
	}
	threads := c.counts()
	most := float64(threads[len(threads)-1])
	if d.full() { // rates of what is measured, controls among them
		for _, l := range d.Lines {
			c.Lines = append(c.Lines, curve{Points: l.Control})
		}
	}
	_, rates := c.bounds()
	log := most > linearThreads || rates.Hi > logFrom*rates.Lo
	drawn, others := d.demands(rates, log)
	c.captions = append(shared(captions(d.reports, cpuText)), others...)
	ends := rates
	for _, x := range drawn {
		ends = span{min(ends.Lo, x.Rate), max(ends.Hi, x.Rate)}
		c.Levels = append(c.Levels, level{x.Title, throughput.value(x.Rate), x.Rate, demandStroke})
	}
	ends.Hi = max(ends.Hi, min(d.linear(), 1.3*rates.Hi))
	c.x = counts("threads", threads, log, 0.05)
	c.y = throughput.scale(ends.Hi, ends.Hi, 7)
	if log {
		c.y = throughput.logarithmic(ends.Lo/1.4, ends.Hi*1.2, 12)
	}
	c.Lines = append(d.against(c.x.max), c.Lines[:len(d.Lines)]...)
	d.explain(&c)
	return c
}

// against is what lines are compared with: linear scaling from the fewest threads up to
// end, the controls and the fits.
func (d scaling) against(end float64) (all []curve) {
	if !d.full() {
		return nil
	}
	for _, l := range d.Lines {
		if len(l.Points) > 0 {
			n, rate := l.Points[0].X, l.Points[0].Median
			all = append(all, curve{style: line(l.color(), 1.2, linearDashes...),
				Points: []curvePoint{bare(n, rate), bare(end, rate*end/n)}})
		}
		all = append(all, curve{style: line(l.color(), 1.2, controlDashes...), Points: l.Control})
		const steps = 100
		f := curve{style: fitStroke}
		from, to := l.drawn()
		for i := 0; i <= steps && from < to; i++ {
			n := from + (to-from)*float64(i)/steps
			if rate, _ := l.Fit.At(n); positive(rate) {
				f.Points = append(f.Points, bare(n, rate))
			}
		}
		all = append(all, f)
	}
	return all
}

// explain adds to c where other processors join, of one machine, and what the lines are
// compared with.
func (d scaling) explain(c *lines) {
	var cores, fast int
	var linear, controls, fits bool
	for _, l := range d.Lines {
		cores, fast = cmp.Or(cores, l.Cores), cmp.Or(fast, l.Fast)
		from, to := l.drawn()
		linear, controls, fits = linear || len(l.Points) > 1, controls || len(l.Control) > 1, fits || from < to
	}
	for _, j := range []struct {
		above int
		title string
	}{{fast, "slower cores →"}, {cores, "SMT siblings →"}} {
		if j.above > 0 && !d.several() {
			at := max(float64(j.above), c.x.min)
			c.Stops = append(c.Stops, mark{At: at, Text: j.title})
			c.Shades = append(c.Shades, shaded{x: span{at, c.x.max}, fill: joinShade})
		}
	}
	slices.SortStableFunc(c.Stops, func(a, b mark) int { return cmp.Compare(a.At, b.At) })
	explain := func(text string, sty draw.LineStyle) { c.meanings = append(c.meanings, strokeEntry(text, sty)) }
	if linear && d.full() {
		explain("linear scaling from "+d.fewest(), line(muted, 1.2, linearDashes...))
	}
	if controls && d.full() {
		explain("control: independent work on as many threads", line(muted, 1.2, controlDashes...))
	}
	if fits && d.full() {
		explain("fitted law, within the threads it was fitted to", fitStroke)
	}
	if len(c.Levels) > 0 {
		explain("demand of a GPU", demandStroke)
	}
}

// linear is the highest rate that linear scaling reaches, 0 where it is not drawn.
func (d scaling) linear() (most float64) {
	for _, l := range d.Lines {
		if n := len(l.Points); n > 0 && d.full() {
			most = max(most, l.Points[0].Median*l.Points[n-1].X/l.Points[0].X)
		}
	}
	return most
}

// fewest says what linear scaling starts from.
func (d scaling) fewest() string {
	if slices.ContainsFunc(d.Lines, func(l scalingLine) bool { return len(l.Points) > 0 && l.Points[0].X != 1 }) {
		return "the fewest threads"
	}
	return "one thread"
}

// legendName is the name of l with where siblings join, and the fit.
func (d scaling) legendName(l scalingLine) string {
	var parts []string
	if d.several() && l.Fast > 0 {
		parts = append(parts, fmt.Sprintf("slower cores above %d", l.Fast))
	}
	if d.several() && l.Cores > 0 {
		parts = append(parts, fmt.Sprintf("SMT siblings above %d", l.Cores))
	}
	if least, most := l.drawn(); least < most && d.full() {
		parts = append(parts, fitText(l.Fit))
	}
	return l.named("threads", parts...)
}

// fitText is what a fit says: "3.1 % serial (Amdahl, error 0.8 %)".
func fitText(s theory.Scaling) string {
	err := "error below 0.1 %)"
	if s.Error >= 0.001 {
		err = fmt.Sprintf("error %s)", percent(s.Error))
	}
	if s.Law == theory.Amdahl {
		return fmt.Sprintf("%s %% serial (Amdahl, %s", strconv.FormatFloat(100*s.Sigma, 'f', 1, 64), err)
	}
	if peak, ok := s.Peak(); ok && peak <= float64(s.Most) {
		return fmt.Sprintf("peak at %.0f threads (USL, %s", peak, err)
	}
	return fmt.Sprintf("no peak up to %d threads (USL, %s", s.Most, err)
}

// demands are those of all lines that are drawn, given the range of what was measured,
// and captions of those that are outside of the chart, or more than it can name.
func (d scaling) demands(rates span, log bool) (drawn []demand, captions [][]string) {
	from, to := rates.Hi/40, 1.5*rates.Hi
	if log {
		from, to = rates.Lo/3, 3*rates.Hi
	}
	var compared []*results.Result
	for _, l := range d.Lines {
		compared = append(compared, l.compared...)
	}
	var low, high, further []string
	for _, x := range demandsOf(compared) {
		text := x.Title + " " + throughput.value(x.Rate)
		switch {
		case x.Rate < from:
			low = append(low, text)
		case x.Rate > to:
			high = append(high, text)
		case len(drawn) == maxDemands:
			further = append(further, text)
		default:
			drawn = append(drawn, x)
		}
	}
	for _, l := range []struct {
		what  string
		texts []string
	}{
		{"demands above the chart ↑: ", high},
		{"demands too low to draw ↓: ", low},
		{"further demands: ", further},
	} {
		if len(l.texts) > maxDemands {
			l.texts = append(l.texts[:maxDemands], "…")
		}
		if len(l.texts) > 0 {
			l.texts[0] = l.what + l.texts[0]
			captions = append(captions, l.texts)
		}
	}
	return drawn, captions
}
