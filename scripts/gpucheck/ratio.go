package main

import (
	"slices"

	"dlbench/results"
)

// ratioLeast is the share of the peer's rate that dlbench should reach.
const ratioLeast = 0.99

// ratio is how dlbench's rates compare with a peer's, round by round.
type ratio struct {
	ours, peer    float64 // B/s, medians of the rounds
	ratio, lo, hi float64 // of the rounds that both have
	rounds        int
}

// compare wants the rounds of both in the same order; one that failed has no rates.
func compare(c copied, ours, peers []rates) ratio {
	var r ratio
	var mine, others, ratios []float64
	for i := range ours {
		a, ok := ours[i][c]
		if !ok {
			continue
		}
		mine = append(mine, a)
		if i < len(peers) && peers[i][c] > 0 {
			others = append(others, peers[i][c])
			ratios = append(ratios, a/peers[i][c])
		}
	}
	r.ours, r.peer, r.ratio, r.rounds = results.Median(mine), results.Median(others), results.Median(ratios), len(ratios)
	if r.rounds > 0 {
		r.lo, r.hi = slices.Min(ratios), slices.Max(ratios)
	}
	return r
}

// verdict is PASS or SLOWER only where all rounds say so.
func (r ratio) verdict() string {
	switch {
	case r.lo >= ratioLeast:
		return "PASS"
	case r.hi < ratioLeast:
		return "SLOWER"
	}
	return "inconclusive"
}
