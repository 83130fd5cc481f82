package theory

import (
	"math"
	"testing"
)

func TestCoresNeeded(t *testing.T) {
	measured := []Rate{{4, 360, 340, 380}, {1, 100, 95, 105}, {2, 190, 180, 200}, {8, 600, 570, 630}}
	bumpy := []Rate{{1, 100, 0, 0}, {2, 150, 0, 0}, {3, 140, 0, 0}, {4, 200, 0, 0}}
	for _, c := range []struct {
		name   string
		rates  []Rate
		demand float64
		want   Needed
	}{
		{"below one", measured, 50, Needed{Threads: 0.5, Lo: 50.0 / 105, Hi: 50.0 / 95}},
		{"one", measured, 100, Needed{Threads: 1, Lo: 100.0 / 105, Hi: 1 + 5.0/85}},
		{"between", measured, 148, Needed{Threads: 1 + 48.0/90, Lo: 1 + 43.0/95, Hi: 1 + 53.0/85}},
		{"gap", measured, 420, Needed{Threads: 5, Lo: 4 + 40.0/250*4, Hi: 4 + 80.0/230*4}},
		{"all", measured, 600, Needed{Threads: 8, Lo: 4 + 220.0/250*4, Hi: math.Inf(1)}},
		{"above", measured, 900, Needed{Threads: 12, Lo: 900.0 / 630 * 8, Hi: math.Inf(1), Extrapolated: true}},
		{"above, unsure", measured, 610, Needed{Threads: 610.0 / 75, Lo: 4 + 230.0/250*4, Hi: math.Inf(1),
			Extrapolated: true}},
		{"first crossing", bumpy, 145, Needed{Threads: 1.9}},
		{"after a dip", bumpy, 170, Needed{Threads: 3.5}},
		{"above a fall", []Rate{{1, 100, 0, 0}, {2, 150, 0, 0}, {4, 120, 0, 0}}, 300,
			Needed{Threads: 4, Extrapolated: true}},
		{"one rate", []Rate{{1, 100, 0, 0}, {}, {2, math.NaN(), 0, 0}}, 250, Needed{Threads: 2.5, Extrapolated: true}},
	} {
		have, ok := CoresNeeded(c.rates, c.demand)
		same := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 }
		if !ok || !same(have.Threads, c.want.Threads) || !same(have.Lo, c.want.Lo) || !same(have.Hi, c.want.Hi) ||
			have.Extrapolated != c.want.Extrapolated {
			t.Errorf("%s: have %+v, want %+v", c.name, have, c.want)
		}
		if (have.Lo > have.Threads || have.Hi < have.Threads) && have.Hi != 0 {
			t.Errorf("%s: %+v is not within its interval", c.name, have)
		}
	}
	for _, demand := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if n, ok := CoresNeeded(measured, demand); ok {
			t.Errorf("demand %g: %+v", demand, n)
		}
	}
	if n, ok := CoresNeeded([]Rate{{Threads: 1}}, 100); ok {
		t.Errorf("no rate: %+v", n)
	}
}
