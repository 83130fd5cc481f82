package main

import (
	"slices"

	"dlbench/results"

	"golang.org/x/perf/benchmath"
)

// Limits of a verdict.
const (
	passLo, passHi = 0.95, 1.05
	spreadMost     = 0.10 // of fio's own runs
)

// ratio is how one program's rates compare with another's, run in turn.
type ratio struct {
	ratio, lo, hi float64 // median of the pairs' ratios, and its interval
	spread        float64 // of the other's own runs
}

func compare(rates, others []float64) ratio {
	var ratios []float64
	for i := range rates {
		ratios = append(ratios, rates[i]/others[i])
	}
	r := ratio{ratio: results.Median(ratios), spread: spread(others)}
	r.lo, r.hi = interval(ratios)
	return r
}

// verdict is PASS or DIFFERS only where the whole interval says so and the other
// was steady.
func (r ratio) verdict() string {
	switch {
	case r.spread > spreadMost:
		return "inconclusive"
	case r.lo >= passLo && r.hi <= passHi:
		return "PASS"
	case r.hi < passLo || r.lo > passHi:
		return "DIFFERS"
	}
	return "inconclusive"
}

// interval holds the median with 95 % confidence or more, whatever the distribution.
func interval(values []float64) (lo, hi float64) {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), 0.95)
	return s.Lo, s.Hi
}

// spread is the interquartile range over the median.
func spread(values []float64) float64 {
	return (results.Percentile(values, 75) - results.Percentile(values, 25)) / results.Median(values)
}
