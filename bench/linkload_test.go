package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/cuda"
	"dlbench/results"
)

// A case is judged by its last copies, but its median is that of all.
func TestLoadedLinkMissesItsTime(t *testing.T) {
	times := func(n int, seconds float64) []float64 { return slices.Repeat([]float64{seconds}, n) }
	const slow = 1.07e-3
	late := func(n int) []float64 { return slices.Concat(times(n, slow), times(LateSamples, 1e-3)) }
	for _, c := range []struct {
		name     string
		achieved []float64
		fails    bool
		warns    string
	}{
		{"no copy", nil, false, ""},
		{"in time", times(100, 1.005e-3), false, ""},
		{"late", times(100, 1.02e-3), true, "1.02ms (median) instead of 1ms, +2.0 %"},
		{"early", times(100, 0.98e-3), true, "-2.0 %"},
		{"late at first", late(100), false, "+7.0 %"},
		{"late at first, and seldom", late(LateSamples - 1), false, ""},
		{"late at last", slices.Concat(times(100, 1e-3), times(LateSamples, slow)), true, ""},
	} {
		load := cuda.Load{Target: time.Millisecond, Real: time.Millisecond, Copies: 1}
		l := LinkLoad{Loader: &cuda.Loaded{}, Load: load, bytes: 1 << 20, achieved: c.achieved}
		if err := l.Check(); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		var r results.Result
		proof := l.Report(&r).TimeLoaded
		if w := strings.Join(r.Warnings, ";"); !strings.Contains(w, c.warns) || (w == "") != (c.warns == "") {
			t.Errorf("%s: warnings %q", c.name, w)
		}
		if proof.Target != 1e-3 || (proof.Achieved == nil) != (c.achieved == nil) {
			t.Errorf("%s: %+v", c.name, proof)
		}
	}
}
