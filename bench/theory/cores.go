package theory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Needed is how many threads reach a demand.
type Needed struct {
	// Threads reach it by interpolation between measured counts, a fraction: 5.3.
	// Where Extrapolated, more than were measured are needed, and at least these if all
	// further ones scaled linearly.
	Threads float64
	// Lo and Hi are Threads by the upper and the lower ends of the intervals of the
	// rates, both 0 where some rate has none. Hi is infinite where the lower ends
	// do not reach the demand.
	Lo, Hi       float64
	Extrapolated bool
}

// String is the threads in whole numbers: "2", "2 to 3", "4 or more (extrapolated)".
func (n Needed) String() string {
	least, most := math.Ceil(cmp.Or(n.Lo, n.Threads)), math.Ceil(cmp.Or(n.Hi, n.Threads))
	switch {
	case n.Extrapolated:
		return fmt.Sprintf("%.0f or more (extrapolated)", least)
	case math.IsInf(most, 1):
		return fmt.Sprintf("%.0f or more", least)
	case least < most:
		return fmt.Sprintf("%.0f to %.0f", least, most)
	}
	return fmt.Sprintf("%.0f", least)
}

// CoresForDemands is how many threads each of Demands needs, by rates: "1 for ResNet-152 (148 images/s), ...".
func CoresForDemands(rates []Rate) string {
	var needs []string
	for _, d := range Demands {
		if n, ok := CoresNeeded(rates, d.Rate()); ok {
			needs = append(needs, n.String()+" for "+d.Title())
		}
	}
	return strings.Join(needs, ", ")
}

// CoresNeeded is how many threads bring a demand, in images/s. Rates may come in
// any order; of one count the first is taken. Where rates fall with more threads,
// the fewest that reach the demand count. Below the least count the rate is taken
// as proportional to the threads. ok is false without a rate or a demand.
//
// No number meets a demand above the highest rate for sure: throughput mostly
// stays below a line from zero through the best count, so the threads that this
// line gives are the fewest, not those to buy.
func CoresNeeded(rates []Rate, demand float64) (n Needed, ok bool) {
	rates = slices.CompactFunc(sensible(rates), sameThreads)
	if len(rates) == 0 || !(demand > 0) || math.IsInf(demand, 0) {
		return Needed{}, false
	}
	var beyond bool
	n.Threads, n.Extrapolated = reach(rates, demand, func(r Rate) float64 { return r.Value })
	if slices.ContainsFunc(rates, func(r Rate) bool { return !r.bounded() }) {
		return n, true
	}
	n.Lo, _ = reach(rates, demand, func(r Rate) float64 { return r.Hi })
	if n.Hi, beyond = reach(rates, demand, func(r Rate) float64 { return r.Lo }); beyond {
		n.Hi = math.Inf(1)
	}
	return n, true
}

// reach finds the fewest threads with which the curve of rates, which come by
// their counts, reaches demand. beyond tells that it does not, and that threads is
// linear from the highest rate.
func reach(rates []Rate, demand float64, value func(Rate) float64) (threads float64, beyond bool) {
	var n, x float64 // the point before
	var bestN, bestX float64
	for _, r := range rates {
		m, y := float64(r.Threads), value(r)
		if y >= demand {
			return n + (m-n)*(demand-x)/(y-x), false
		}
		if y > bestX {
			bestN, bestX = m, y
		}
		n, x = m, y
	}
	return bestN * demand / bestX, true
}
