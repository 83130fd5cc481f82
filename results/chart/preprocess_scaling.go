package chart

import (
	"cmp"
	"slices"

	"dlbench/bench/theory"
	"dlbench/results"
)

// scaling is the throughput of one strategy with different numbers of threads, in
// images per second.
type scaling struct {
	Strategy string
	What     string // way of all lines, "" where each has its own
	Lines    []scalingLine
	Demands  []demand // of all lines, from the lowest, each once
	reports  []*results.Report
}

// scalingLine is one way.
type scalingLine struct {
	Name    string // as the legend has it
	Report  int
	Source  int            // index of color and marker
	Points  []scalingPoint // by threads
	Control []scalingPoint // independent work on as many threads
	Failed  []int64        // numbers of threads whose case failed
	Fit     theory.Scaling // the zero value for none
	// Cores and Fast are the numbers of threads above which SMT siblings and slower
	// cores join, 0 where they do not.
	Cores, Fast int64
}

// scalingPoint is one number of threads.
type scalingPoint struct {
	Threads int64
	point
}

// demand is a rate at which a GPU takes images.
type demand struct {
	Title string
	Rate  float64
}

// Limits of a chart of scaling.
const (
	maxScaling = 8 // lines; more go to another chart
	maxFull    = 3 // lines that are drawn with what they are held against
	maxDemands = 8
)

// scalingsOf extracts the charts' data: an element for each strategy, more for too
// many lines.
func scalingsOf(reports []*results.Report) []scaling {
	ways := preprocessWays(reports)
	var strategies []string
	for _, w := range ways {
		if !slices.Contains(strategies, w.Strategy) {
			strategies = append(strategies, w.Strategy)
		}
	}
	slices.SortStableFunc(strategies, func(a, b string) int { return cmp.Compare(strategyRank(a), strategyRank(b)) })
	var all []scaling
	for _, strategy := range strategies {
		var lines []scalingLine
		var demands []demand
		for _, w := range ways {
			if w.Strategy != strategy {
				continue
			}
			if l := scalingLineOf(w); len(l.Points)+len(l.Failed) >= minCounts {
				lines = append(lines, l)
				demands = addDemands(demands, w)
			}
		}
		for part := range slices.Chunk(lines, maxScaling) {
			for i := range part {
				part[i].Source = i
			}
			if slices.ContainsFunc(part, func(l scalingLine) bool { return len(l.Points) >= minCounts }) {
				all = append(all, scaling{Strategy: strategy, Lines: part, Demands: demands, reports: reports})
			}
		}
	}
	return all
}

func scalingLineOf(w wayCases) scalingLine {
	l := scalingLine{Name: w.title(), Report: w.Report}
	for _, c := range w.Cases {
		if c.Failed() {
			l.Failed = append(l.Failed, c.Threads)
			continue
		}
		p, _ := diskPoint(c.Result, "throughput")
		l.Points = append(l.Points, scalingPoint{c.Threads, p})
		if p, ok := diskPoint(c.Result, "control"); ok {
			l.Control = append(l.Control, scalingPoint{c.Threads, p})
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
	return max(float64(l.Fit.Least), float64(l.Points[0].Threads)), min(float64(l.Fit.Most), float64(l.Points[len(l.Points)-1].Threads))
}

// full says whether lines are drawn with what they are held against.
func (d scaling) full() bool { return len(d.Lines) <= maxFull }

// several says whether lines are of different machines.
func (d scaling) several() bool {
	return slices.ContainsFunc(d.Lines, func(l scalingLine) bool { return l.Report != d.Lines[0].Report })
}
