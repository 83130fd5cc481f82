package results

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// MedianOf is the median of a metric, NaN when it is not there.
func MedianOf(r *Result, metric string) float64 {
	if r == nil {
		return math.NaN()
	}
	m := r.Metric(metric)
	if m == nil || r.Status != OK {
		return math.NaN()
	}
	return m.Median
}

// Cases are the OK results of a suite whose parameters fit, in order.
func Cases[P any](rs []Result, suite string, fit func(P) bool) (found []*Result) {
	for i := range rs {
		r := &rs[i]
		if r.Status == OK && r.Suite == suite && fit(As[P](r.Params)) {
			found = append(found, r)
		}
	}
	return found
}

// CaseOf is the first of Cases, nil where there is none.
func CaseOf[P any](rs []Result, suite string, fit func(P) bool) *Result {
	if found := Cases(rs, suite, fit); len(found) > 0 {
		return found[0]
	}
	return nil
}

// OneLine joins the lines that errors.Join makes, once each.
func OneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// Bounds are the interval of a metric, its extremes where it has none.
func Bounds(m *Metric) (lo, hi float64) {
	if m.Lo != nil && m.Hi != nil {
		return *m.Lo, *m.Hi
	}
	return m.Min, m.Max
}

// FormatSeconds is a time in s with its unit.
func FormatSeconds(s float64) string { return FormatValue(s, Seconds) }

// Rank is the place of s in order, behind all of them where it is not among them.
func Rank(order []string, s string) int {
	if i := slices.Index(order, s); i >= 0 {
		return i
	}
	return len(order)
}

// InParallel calls do for 0 to n-1, most of them at a time, and returns their errors.
func InParallel(n, most int, do func(i int) error) []error {
	errs := make([]error, n)
	var work sync.WaitGroup
	slots := make(chan struct{}, most)
	for i := range n {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	work.Wait()
	return errs
}
