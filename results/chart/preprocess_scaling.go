package chart

import (
	"cmp"
	"math"
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
		first(&l.Cores, joins(c, "siblings"))
		first(&l.Fast, joins(c, "slower"))
		if f, ok := fitOf(c.Result.Fit); ok {
			l.Fit = f // of the most threads
		}
	}
	return l
}

// joins reads from a proof how many threads run where others are not counted:
// with 2 of 8 on siblings, those join above 6.
func joins(c wayCase, key string) int64 {
	if n, ok := number(c.Result.Proof[key]); ok && n >= 1 && n < float64(c.Threads) {
		return c.Threads - int64(n)
	}
	return 0
}

// number reads a number of a proof or a fit, of a run or of a file.
func number(v any) (n float64, ok bool) {
	switch v := v.(type) {
	case float64:
		n = v
	case int:
		n = float64(v)
	case int64:
		n = float64(v)
	default:
		return 0, false
	}
	return n, !math.IsNaN(n) && !math.IsInf(n, 0)
}

// fitOf reads a law of scaling; ok is false for one that cannot be drawn.
func fitOf(fit map[string]any) (s theory.Scaling, ok bool) {
	s.Law, _ = fit["model"].(string)
	sigma := map[string]string{theory.Amdahl: "serial", theory.USL: "sigma"}[s.Law]
	if sigma == "" {
		return s, false
	}
	var least, most float64
	for _, v := range []struct {
		key string
		to  *float64
	}{{"x1", &s.X1}, {sigma, &s.Sigma}, {"kappa", &s.Kappa}, {"error", &s.Error}, {"least", &least}, {"most", &most}} {
		n, have := number(fit[v.key])
		if !have && v.key != "error" && (v.key != "kappa" || s.Law == theory.USL) {
			return s, false
		}
		*v.to = n
	}
	if s.Law == theory.Amdahl {
		s.Kappa = 0
	}
	s.Least, s.Most = int(min(max(least, 1), maxThreads)), int(min(max(most, 1), maxThreads))
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
