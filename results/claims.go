package results

import "math"

// claims are short titles of the articles' claims.
var claims = map[string]string{
	"A1":  "batch time by lanes",
	"A2":  "lanes, copies not overlapped",
	"A3":  "lanes, copies overlapped",
	"A4":  "pageable copies and the CPU",
	"A5":  "memory against the GPU's",
	"A6":  "several GPUs",
	"A7":  "cores for preprocessing",
	"A8":  "CPU clock",
	"A9":  "loading ahead from disk",
	"A10": "solid-state disks",
	"A13": "throttling",
	"A15": "latency",
	"A16": "a busy CPU",
	"A17": "16 bits",
	"B4":  "what bounds the machine",

	"siblings": "GPUs of one model",
	"numa":     "memory far from the GPU",

	"feeds": "how fast the loader is by itself",
	"bound": "what each part costs the loader",
}

// ClaimTitle is what a claim is about, "" for an unknown one.
func ClaimTitle(id string) string { return claims[id] }

// Interval is a value and the bounds between which it lies.
type Interval struct{ Value, Lo, Hi float64 }

// IntervalOf is a metric's median with its interval, or its extremes where it has none.
func IntervalOf(m *Metric) Interval {
	if m.Lo != nil && m.Hi != nil {
		return Interval{m.Median, *m.Lo, *m.Hi}
	}
	return Interval{m.Median, m.Min, m.Max}
}

// RatioOf is one metric over another, from the extremes of their intervals; NaN where
// one is missing.
func RatioOf(a, b *Metric) Interval {
	if a == nil || b == nil {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	x, y := IntervalOf(a), IntervalOf(b)
	return Interval{x.Value / y.Value, x.Lo / y.Hi, x.Hi / y.Lo}
}

// Verdict judges a claim that holds when all of x lies between lo and hi, and fails when
// nothing of it does. What is not a number decides nothing.
func (x Interval) Verdict(lo, hi float64) string {
	switch {
	case x.Lo >= lo && x.Hi <= hi:
		return Holds
	case x.Hi < lo || x.Lo > hi:
		return Fails
	}
	return Inconclusive
}

// Finding is what x, a number of unit, says of a claim.
func (x Interval) Finding(verdict, unit, text string) Finding {
	return Finding{Verdict: verdict, Text: text, Unit: unit, Value: Finite(x.Value), Lo: Finite(x.Lo), Hi: Finite(x.Hi)}
}
