package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"dlbench/results"
)

// span is a range of a metric in its base unit; the zero span is none.
type span struct{ Lo, Hi float64 }

// point is the median of a metric and its spread.
type point struct {
	Median float64
	Spread span // none for simulated values
	Range  bool // Spread is minimum and maximum, for want of samples for an interval
}

// tiny is the least value that is drawn: the logarithm of its half is finite.
const tiny = 1e-30

// positive reports whether v can be drawn. No time or rate comes near the upper
// bound, with which coordinates stay finite.
func positive(v float64) bool { return v >= tiny && v < 1e18 }

// drawable reports whether there is a value and it can be drawn.
func drawable(v *float64) bool { return v != nil && positive(*v) }

// spanAround is the range from lo to hi, none unless it can be drawn and has v in it.
func spanAround(v float64, lo, hi *float64) span {
	if !drawable(lo) || !drawable(hi) || *lo > v || *hi < v {
		return span{}
	}
	return span{*lo, *hi}
}

// pointOf reads the metric of that name; ok is false without a positive median.
func pointOf(r *results.Result, name string) (p point, ok bool) {
	m := r.Metric(name)
	if m == nil || !positive(m.Median) {
		return p, false
	}
	p.Median = m.Median
	switch {
	case len(r.Assumed) > 0:
	case m.Lo != nil && m.Hi != nil:
		p.Spread = spanAround(m.Median, m.Lo, m.Hi)
	case m.Min < m.Max:
		p.Spread = spanAround(m.Median, &m.Min, &m.Max)
		p.Range = p.Spread != span{}
	}
	return p, true
}

// measured is the result of one case.
type measured struct {
	report int // its index
	Result *results.Result
}

// machine is the report of m.
func (m measured) machine() int { return m.report }

// Failed reports that the case has no numbers to read.
func (m measured) Failed() bool { return m.Result.Status == results.Failed }

// unproven reports that the case had to prove something and did not.
func (m measured) unproven() bool {
	proven, ok := m.Result.Proven()
	return ok && !proven
}

// casesOf are the results of a suite, but those that were skipped, as read has them, in
// the order of the reports; ok is false for those that a chart has no use for.
func casesOf[C any](reports []*results.Report, suite string, read func(measured) (c C, ok bool)) (all []C) {
	for i, rep := range reports {
		for j := range rep.Results {
			r := &rep.Results[j]
			if r.Suite != suite || r.Status == results.Skipped {
				continue
			}
			if c, ok := read(measured{i, r}); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

// groups are all by key, in the order in which the keys first stand.
func groups[T any, K comparable](all []T, key func(T) K) (sorted [][]T) {
	at := map[K]int{}
	for _, x := range all {
		k := key(x)
		if _, ok := at[k]; !ok {
			at[k] = len(sorted)
			sorted = append(sorted, nil)
		}
		sorted[at[k]] = append(sorted[at[k]], x)
	}
	return sorted
}

// firsts are the first of each group. Of cases that differ in other parameters the first
// is the plain one.
func firsts[T any, K comparable](all []T, key func(T) K) (first []T) {
	for _, same := range groups(all, key) {
		first = append(first, same[0])
	}
	return first
}

// lineCases are the cases of one line.
type lineCases[C any] struct {
	Name   string // of a method, a device or a machine
	Source int    // its number
	Cases  []C
	what   string // the line is of, for the title where machines are compared
}

// maxLines is how many lines of one machine a chart has; more go to others.
const maxLines = 8

// linesOf are the lines of charts, that cases have in common a key: of one report up to
// maxLines in a chart, of several a chart for each key that two machines have, with a line
// for each machine.
func linesOf[C interface{ machine() int }](reports []*results.Report, cases []C, key func(C) any,
	name func(C) string) (charts [][]lineCases[C]) {
	sources := groups(cases, key)
	if len(reports) < 2 {
		for part := range slices.Chunk(sources, maxLines) {
			var page []lineCases[C]
			for i, same := range part {
				page = append(page, lineCases[C]{Name: name(same[0]), Source: i, Cases: same})
			}
			charts = append(charts, page)
		}
		return charts
	}
	for _, same := range sources {
		var page []lineCases[C]
		for _, own := range groups(same, C.machine) {
			i := own[0].machine()
			page = append(page, lineCases[C]{machines(reports)[i], i, own, name(same[0])})
		}
		if len(page) > 1 {
			charts = append(charts, page)
		}
	}
	return charts
}

// curve is the line, without points.
func (l lineCases[C]) curve() curve {
	s := series{Source: l.Source}
	return curve{Name: l.Name, series: s, style: s.styled()}
}

// has reports whether r has a value of that metric to draw.
func has(r *results.Result, metric string) bool {
	_, ok := pointOf(r, metric)
	return ok
}

// valueOf reads a reference to a metric, 0 for none.
func valueOf(r *results.Result, name, metric string) float64 {
	if ref := r.Reference(name, metric); ref != nil && drawable(ref.Value) {
		return *ref.Value
	}
	return 0
}

// quantilesOf reads the quantiles of a metric in ascending order, without those
// that cannot be drawn or do not ascend.
func quantilesOf(r *results.Result, metric string) []results.Quantile {
	m := r.Metric(metric)
	if m == nil {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(m.Quantiles), func(q results.Quantile) bool {
		return !(q.P > 0 && q.P < 1) || !positive(q.Value)
	})
	slices.SortStableFunc(all, func(a, b results.Quantile) int { return cmp.Compare(a.P, b.P) })
	var ascending []results.Quantile
	for _, q := range all {
		if n := len(ascending); n == 0 || q.P > ascending[n-1].P && q.Value >= ascending[n-1].Value {
			ascending = append(ascending, q)
		}
	}
	return ascending
}

// demand is a rate at which a GPU takes images.
type demand struct {
	Title string
	Rate  float64 // images/s
}

// demandsOf are the demands that results are compared with, from the lowest, each once.
func demandsOf(compared []*results.Result) (all []demand) {
	for _, r := range compared {
		for _, ref := range r.References {
			title, ok := strings.CutPrefix(ref.Name, results.DemandPrefix)
			if !ok || ref.Metric != "throughput" || !drawable(ref.Value) {
				continue
			}
			d := demand{cmp.Or(short(title), "unnamed"), *ref.Value}
			if !slices.ContainsFunc(all, func(o demand) bool { return o.Title == d.Title && near(o.Rate, d.Rate) }) {
				all = append(all, d)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b demand) int { return cmp.Compare(a.Rate, b.Rate) })
	return all
}

// near reports whether two rates are one on a chart.
func near(a, b float64) bool { return math.Abs(a/b-1) < 1e-3 }

// compareIn orders strings as order does; unknown ones come last, by name.
func compareIn(order []string, a, b string) int {
	return cmp.Or(cmp.Compare(results.Rank(order, a), results.Rank(order, b)), cmp.Compare(a, b))
}

// compareBool has false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
