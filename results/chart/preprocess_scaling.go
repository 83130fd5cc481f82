package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

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

// scalingLine is the throughput of one way with different numbers of threads.
type scalingLine struct {
	way
	curve
	Control []curvePoint   // independent work on as many threads
	Failed  []int64        // numbers of threads whose case failed
	Fit     theory.Scaling // the zero value for none
	// Cores and Fast are the numbers of threads above which SMT siblings and slower
	// cores join, 0 where they do not.
	Cores, Fast int64
	demands     []demand
}

// scaling is a chart of lines of one strategy.
type scaling struct {
	Strategy string
	What     string // way of all lines, "" where each has its own
	key      any    // comparable: lines with equal keys are of one chart
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
// machines for each way to make images into batches, with a line for each machine.
func scalings(reports []*results.Report) []scaling {
	ways := preprocessWays(reports)
	var all []scaling
	for _, w := range ways {
		l := scalingLineOf(w)
		if len(l.Points)+len(l.Failed) < minCounts {
			continue
		}
		d := scaling{Strategy: w.Strategy, key: w.Strategy, reports: reports}
		if len(reports) > 1 {
			g := w.group(ways)
			d.key, d.What = g.key, g.Title
			l.Source, l.Name = w.Report, strings.TrimSuffix(machines(reports)[w.Report]+", "+w.version(ways), ", ")
		}
		same := findOrAdd(&all, d, func(o scaling) bool { return o.key == d.key })
		same.Lines = append(same.Lines, l)
	}
	slices.SortStableFunc(all, func(a, b scaling) int {
		return cmp.Compare(rank(strategies, a.Strategy), rank(strategies, b.Strategy))
	})
	var pages []scaling
	for _, d := range all {
		for part := range slices.Chunk(d.Lines, maxScaling) {
			if slices.ContainsFunc(part, func(l scalingLine) bool { return len(l.Points) >= minCounts }) {
				one := d
				one.Lines = part
				pages = append(pages, one)
			}
		}
	}
	for _, d := range pages {
		for i := range d.Lines {
			l := &d.Lines[i]
			if d.What == "" {
				l.Source = i
			}
			l.style = l.styled(nil)
		}
	}
	return pages
}

func scalingLineOf(w wayCases) scalingLine {
	l := scalingLine{way: w.way, curve: curve{Name: w.title()}}
	for _, c := range w.Cases {
		l.demands = addDemands(l.demands, c.Result)
		if c.Failed() {
			l.Failed = append(l.Failed, c.Threads)
			continue
		}
		p, _ := pointOf(c.Result, "throughput")
		l.Points = append(l.Points, curvePoint{X: float64(c.Threads), point: p})
		if p, ok := pointOf(c.Result, "control"); ok {
			l.Control = append(l.Control, curvePoint{X: float64(c.Threads), point: point{Median: p.Median}, bare: true})
		}
		proof := results.As[results.PreprocessProof](c.Result.Proof)
		first(&l.Cores, joins(c, proof.Siblings))
		first(&l.Fast, joins(c, proof.Slower))
		if f, ok := fitOf(results.As[results.Fit](c.Result.Fit)); ok {
			l.Fit = f // of the most threads
		}
	}
	return l
}

// joins is from how many threads on some run where others are not counted: with 2 of 8
// on siblings, those join above 6; 0 for none.
func joins(c wayCase, others int) int64 {
	if others < 1 || int64(others) >= c.Threads {
		return 0
	}
	return c.Threads - int64(others)
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
	demands := d.demands(rates, log)
	c.captions = append(shared(captions(d.reports, cpuText)), demands.captions()...)
	ends := rates
	for _, x := range demands.Drawn {
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
			all = append(all, curve{style: line(l.color(), 1.2, linearDashes...), Points: []curvePoint{
				{X: n, point: point{Median: rate}, bare: true},
				{X: end, point: point{Median: rate * end / n}, bare: true},
			}})
		}
		all = append(all, curve{style: line(l.color(), 1.2, controlDashes...), Points: l.Control})
		const steps = 100
		f := curve{style: fitStroke}
		from, to := l.drawn()
		for i := 0; i <= steps && from < to; i++ {
			n := from + (to-from)*float64(i)/steps
			if rate, _ := l.Fit.At(n); positive(rate) {
				f.Points = append(f.Points, curvePoint{X: n, point: point{Median: rate}, bare: true})
			}
		}
		all = append(all, f)
	}
	return all
}

// explain adds to c where other processors join, of one machine, and what the lines are
// compared with.
func (d scaling) explain(c *lines) {
	var cores, fast int64
	var linear, controls, fits bool
	for _, l := range d.Lines {
		first(&cores, l.Cores)
		first(&fast, l.Fast)
		from, to := l.drawn()
		linear, controls, fits = linear || len(l.Points) > 1, controls || len(l.Control) > 1, fits || from < to
	}
	for _, j := range []struct {
		above int64
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

// legendName is the name of l with what failed, where siblings join, and the fit.
func (d scaling) legendName(l scalingLine) string {
	if len(l.Points) == 0 {
		return l.Name + ": failed"
	}
	var parts []string
	if len(l.Failed) > 0 {
		parts = append(parts, "failed with "+listed(l.Failed)+" threads")
	}
	if d.several() && l.Fast > 0 {
		parts = append(parts, fmt.Sprintf("slower cores above %d", l.Fast))
	}
	if d.several() && l.Cores > 0 {
		parts = append(parts, fmt.Sprintf("SMT siblings above %d", l.Cores))
	}
	if least, most := l.drawn(); least < most && d.full() {
		parts = append(parts, fitText(l.Fit))
	}
	return strings.TrimSuffix(l.Name+": "+strings.Join(parts, ", "), ": ")
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

// sortedDemands are the demands by where they stand in a chart.
type sortedDemands struct {
	Drawn     []demand
	Low, High []demand // outside of what the chart has room for
	Further   []demand // more than it can name
}

// demands sorts the demands of all lines, given the range of what was measured.
func (d scaling) demands(rates span, log bool) (s sortedDemands) {
	from, to := rates.Hi/40, 1.5*rates.Hi
	if log {
		from, to = rates.Lo/3, 3*rates.Hi
	}
	var all []demand
	for _, l := range d.Lines {
		all = mergeDemands(all, l.demands)
	}
	for _, x := range all {
		switch {
		case x.Rate < from:
			s.Low = append(s.Low, x)
		case x.Rate > to:
			s.High = append(s.High, x)
		case len(s.Drawn) == maxDemands:
			s.Further = append(s.Further, x)
		default:
			s.Drawn = append(s.Drawn, x)
		}
	}
	return s
}

// captions list the demands that are not drawn.
func (s sortedDemands) captions() [][]string {
	var all [][]string
	for _, l := range []struct {
		what    string
		demands []demand
	}{
		{"demands above the chart ↑: ", s.High},
		{"demands too low to draw ↓: ", s.Low},
		{"further demands: ", s.Further},
	} {
		var parts []string
		for _, x := range l.demands[:min(len(l.demands), maxDemands)] {
			parts = append(parts, x.Title+" "+throughput.value(x.Rate))
		}
		if len(l.demands) > maxDemands {
			parts = append(parts, "…")
		}
		if len(parts) > 0 {
			parts[0] = l.what + parts[0]
			all = append(all, parts)
		}
	}
	return all
}
