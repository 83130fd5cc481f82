package chart

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func labels(t plot.Ticker, min, max float64) string {
	var all []string
	for _, x := range t.Ticks(min, max) {
		all = append(all, cmp.Or(x.Label, "."))
	}
	return strings.Join(all, " ")
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		q           quantity
		n           int
		label, want string
	}{
		{1e-3, 14.1e-3, timePerStep, 8, "time per step (ms)", "0 6 12 . ."},
		{1e-3, 2.03e-3, timePerStep, 8, "time per step (ms)", "0 1 2 . . . . . . . ."},
		{0.1e-3, 0.41e-3, timePerStep, 8, "time per step (µs)", "0 200 400 . ."},
		{1e9, 33e9, bandwidth, 8, "bandwidth (GB/s)", "0 10 20 30 . . . . . . . . . . . . . ."},
		{900, 3900, timePerStep, 8, "time per step (s)", "0 2000 4000 . ."},
		{90, 3900, throughput, 8, "throughput (images/s)", "0 2000 4000 . ."},
		{1.2e-3, 0.5, timePerStep, 7, "time per step (logarithmic)", "1 ms . . 10 ms . . 100 ms . ."},
		{2e-6, 1e6, timePerStep, 7, "time per step (logarithmic)",
			". 100 µs . 10 ms . 1 s . 100 s . 10000 s . 1000000 s"},
		{1, 200, throughput, 12, "throughput (images/s, logarithmic)", "1 2 5 10 20 50 100 200"},
		{1e3, 1e9, bandwidth, 7, "bandwidth (logarithmic)",
			"1 kB/s . . 10 kB/s . . 100 kB/s . . 1 MB/s . . 10 MB/s . . 100 MB/s . . 1 GB/s"},
	} {
		s := c.q.scale(c.least, c.most, c.n)
		if have := labels(s.ticks, s.min, s.max); have != c.want || s.label != c.label {
			t.Errorf("%g to %g: have %s with %q, want %s with %q", c.least, c.most, s.label, have, c.label, c.want)
		}
	}
	for e := -30; e <= 17; e++ { // never none and never a crowd
		s := timePerStep.scale(math.Pow10(e), math.Pow10(e), 8)
		if n := len(s.ticks.Ticks(s.min, s.max)); n < 3 || n > 11 {
			t.Errorf("to %g: %d ticks", s.max, n)
		}
	}
}
