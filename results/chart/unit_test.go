package chart

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func TestUnitText(t *testing.T) {
	for _, c := range []struct {
		max, v float64
		want   string
	}{
		{12e-3, 1.5424e-3, "1.542 ms"},
		{12e-3, 12.34e-3, "12.34 ms"},
		{12e-3, 308e-6, "0.3080 ms"},
		{0.9, 0.123456, "123.5 ms"},
		{1, 2, "2.000 s"},
		{1, 1234, "1\u00A0234 s"},
		{1, 123456, "123\u00A0500 s"},
		{1, 12345678, "1.235e+07 s"},
		{1, 1e-9, "1e-09 s"},
		{5e-6, 4.2e-6, "4.200 µs"},
		{1, 0, "0 s"},
	} {
		if got := secondsFor(c.max).text(c.v); got != c.want {
			t.Errorf("%g s of up to %g: have %q, want %q", c.v, c.max, got, c.want)
		}
	}
	if got := gigabytes.text(31.508e9); got != "31.51 GB/s" {
		t.Errorf("have %q, want 31.51 GB/s", got)
	}
}

func labels(t plot.Ticker, min, max float64) string {
	var all []string
	for _, x := range t.Ticks(min, max) {
		all = append(all, x.Label)
	}
	return strings.Join(all, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		max  float64
		u    unit
		want string
	}{
		{14.1e-3, unit{"ms", 1e-3}, "0 2 4 6 8 10 12 14"},
		{2.03e-3, unit{"ms", 1e-3}, "0 0.5 1.0 1.5 2.0"},
		{0.41e-3, unit{"ms", 1e-3}, "0 0.1 0.2 0.3 0.4"},
		{33e9, gigabytes, "0 5 10 15 20 25 30"},
		{4000, unit{"s", 1}, "0 500 1\u00A0000 1\u00A0500 2\u00A0000 2\u00A0500 3\u00A0000 3\u00A0500 4\u00A0000"},
	} {
		if got := labels(c.u.ticks(8), 0, c.max); got != c.want {
			t.Errorf("to %g %s: have %q, want %q", c.max, c.u.name, got, c.want)
		}
	}
	for e := -30; e <= 30; e++ { // never none and never a crowd
		max := 1.7 * math.Pow10(e)
		if n := len(gigabytes.ticks(8).Ticks(0, max)); n < 3 || n > 10 {
			t.Errorf("to %g: %d ticks", max, n)
		}
	}
}

func TestSizeTicks(t *testing.T) {
	for _, c := range []struct {
		min, max float64
		want     string
	}{
		{3277, 83886080, "4 KiB 16 KiB 64 KiB 256 KiB 1 MiB 4 MiB 16 MiB 64 MiB"},
		{800, 5000, "1 KiB 2 KiB 4 KiB"},
		{1, 1 << 62, "1 B 128 B 16 KiB 2 MiB 256 MiB 32 GiB 4 TiB 512 TiB 64 PiB"},
		{100, 120, ""},
	} {
		if got := labels(sizeTicks(9), c.min, c.max); got != c.want {
			t.Errorf("%g to %g: have %q, want %q", c.min, c.max, got, c.want)
		}
	}
}
