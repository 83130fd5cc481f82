package theory

import (
	"cmp"
	"math"
	"slices"
)

// Rate is a throughput in images/s with so many threads. Lo and Hi are an interval
// around Value, both 0 where none is known.
type Rate struct {
	Threads       int
	Value, Lo, Hi float64
}

// valid tells whether r is a number to calculate with.
func (r Rate) valid() bool { return r.Threads > 0 && r.Value > 0 && !math.IsInf(r.Value, 0) }

func invalid(r Rate) bool { return !r.valid() }

// sensible are the rates to calculate with, by their threads.
func sensible(rates []Rate) []Rate {
	rates = slices.DeleteFunc(slices.Clone(rates), invalid)
	slices.SortStableFunc(rates, func(a, b Rate) int { return cmp.Compare(a.Threads, b.Threads) })
	return rates
}

func sameThreads(a, b Rate) bool { return a.Threads == b.Threads }

// bounded tells whether r has an interval.
func (r Rate) bounded() bool {
	return r.Lo > 0 && r.Hi >= r.Lo && !math.IsInf(r.Hi, 0)
}

// Share is a ratio. Lo and Hi are an interval around Value, both 0 where none is
// known.
type Share struct{ Value, Lo, Hi float64 }

// Efficiency is r as a share of linear scaling from one: 1 where every thread
// brings what each thread of one did. one is commonly the rate of one thread. The
// interval holds every ratio of values within the two intervals, and so is wider
// than one of their ratio would be. It is the zero Share without two rates.
func (r Rate) Efficiency(one Rate) Share {
	if !r.valid() || !one.valid() {
		return Share{}
	}
	times := float64(one.Threads) / float64(r.Threads)
	s := Share{Value: times * r.Value / one.Value}
	if r.bounded() && one.bounded() {
		s.Lo, s.Hi = times*r.Lo/one.Hi, times*r.Hi/one.Lo
	}
	return s
}

// EfficiencyOf is what n threads reach of linear scaling from one, by rates that begin
// with one thread: at most 1, interpolated between measured counts, that of the last
// beyond them, and 1 where nothing is known.
func EfficiencyOf(rates []Rate, n int) float64 {
	if len(rates) < 2 || rates[0].Threads != 1 || n <= 1 || slices.ContainsFunc(rates, invalid) {
		return 1
	}
	each := func(r Rate) float64 { return min(1, r.Efficiency(rates[0]).Value) }
	last := rates[0]
	for _, r := range rates[1:] {
		if n <= r.Threads {
			share := float64(n-last.Threads) / float64(r.Threads-last.Threads)
			return each(last) + share*(each(r)-each(last))
		}
		last = r
	}
	return each(last)
}

// Gain is what each thread of r beyond those of fewer brought, as a share of what
// a thread of one does: 1 for linear scaling, 0.05 where a further thread adds 5 %
// of the first one's rate, below 0 where it costs. ok is false unless fewer has
// fewer threads than r. The interval is as wide as that of Efficiency.
func (r Rate) Gain(fewer, one Rate) (s Share, ok bool) {
	if !r.valid() || !fewer.valid() || !one.valid() || fewer.Threads >= r.Threads {
		return Share{}, false
	}
	times := float64(one.Threads) / float64(r.Threads-fewer.Threads)
	s.Value = times * (r.Value - fewer.Value) / one.Value
	if r.bounded() && fewer.bounded() && one.bounded() {
		lo, hi := times*(r.Lo-fewer.Hi), times*(r.Hi-fewer.Lo)
		s.Lo = min(lo/one.Lo, lo/one.Hi)
		s.Hi = max(hi/one.Lo, hi/one.Hi)
	}
	return s, true
}
