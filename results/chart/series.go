package chart

import (
	"cmp"
	"slices"
	"strings"

	"dlbench/results"
)

// span is a range of a metric in its base unit; the zero span is none.
type span struct{ Lo, Hi float64 }

// point is the median of a metric, its spread and what is known of it.
type point struct {
	X        float64 // of a point of a line, which has its median on the y axis
	Median   float64
	Spread   span     // minimum and maximum for want of samples for an interval; none for simulated values
	Assumed  []string // what of it was simulated; drawn hollow
	Unproven bool     // the case had to prove something and did not
}

// simulated is what was simulated of any point, and of how many of them.
func simulated(all []point) (parts []string, n int) {
	for _, p := range all {
		if parts = results.AppendNew(parts, p.Assumed...); len(p.Assumed) > 0 {
			n++
		}
	}
	return parts, n
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
	proven, known := r.Proven()
	p = point{Median: m.Median, Assumed: r.Assumed, Unproven: known && !proven}
	switch {
	case len(r.Assumed) > 0:
	case m.Lo != nil && m.Hi != nil:
		p.Spread = spanAround(m.Median, m.Lo, m.Hi)
	case m.Min < m.Max:
		p.Spread = spanAround(m.Median, &m.Min, &m.Max)
	}
	return p, true
}

// valueOf reads a reference to a metric, 0 for none.
func valueOf(r *results.Result, name, metric string) float64 {
	if ref := r.Reference(name, metric); ref != nil && drawable(ref.Value) {
		return *ref.Value
	}
	return 0
}

// measured is the result of one case.
type measured struct {
	report int // its index
	Result *results.Result
}

// Failed reports that the case has no numbers to read.
func (m measured) Failed() bool { return m.Result.Status == results.Failed }

// has reports whether m has a value of that metric to draw, or failed, which charts say.
func (m measured) has(metric string) bool {
	_, ok := pointOf(m.Result, metric)
	return ok || m.Failed()
}

// casesOf are the results of a suite, but those that were skipped, as read has them, in
// the order of the reports; ok is false for those that a chart has no use for. Of cases of
// one key, which differ in other parameters, the first is the plain one.
func casesOf[C any](reports []*results.Report, suite string, read func(measured) (c C, key any, ok bool)) (all []C) {
	for i, rep := range reports {
		seen := map[any]bool{}
		for j := range rep.Results {
			r := &rep.Results[j]
			if r.Suite != suite || r.Status == results.Skipped {
				continue
			}
			if c, key, ok := read(measured{i, r}); ok && !seen[key] {
				seen[key] = true
				all = append(all, c)
			}
		}
	}
	return all
}

// demandsOf are the rates at which GPUs take images that results are compared with, each once.
func demandsOf(reports []*results.Report) (all []mark) {
	for _, rep := range reports {
		for _, r := range rep.Results {
			for _, ref := range r.References {
				title, ok := strings.CutPrefix(ref.Name, results.DemandPrefix)
				if !ok || ref.Metric != "throughput" || !drawable(ref.Value) {
					continue
				}
				d := mark{At: *ref.Value, Text: cmp.Or(short(title), "unnamed")}
				if !slices.ContainsFunc(all, func(o mark) bool { return o.Text == d.Text && o.At == d.At }) {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// compareIn orders strings as order does; unknown ones come last, by name.
func compareIn(order []string, a, b string) int {
	return cmp.Or(cmp.Compare(results.Rank(order, a), results.Rank(order, b)), cmp.Compare(a, b))
}
