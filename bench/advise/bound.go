package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dlbench/results"
)

// Limits of a verdict: how much more the part that bounds must cost than the one after
// it, on a machine that is quiet; what differs between restarts, and what the parts miss
// when they are put together, comes on top. And the gain below which a change is none.
const (
	leastLead = 1.2
	noGain    = 0.02
	restless  = 0.25 // of either, from which it is what makes a verdict uncertain
)

// bound is what bounds a loader by itself, and what comes next.
type bound struct {
	part, next string
	nextRate   float64 // images/s once part takes no time
	doubt      string  // why it is not certain; "" where it is
}

// costliest is the part without which a batch takes least; lead is by how much more it
// saves than the next one.
func (l loader) costliest(parts ...string) (part string, lead float64) {
	type cost struct {
		part       string
		left, each float64 // s a batch without the part, and with it alone
	}
	var costs []cost
	for _, p := range parts {
		alone := l
		for _, o := range parts {
			if o != p {
				alone = alone.without(o)
			}
		}
		costs = append(costs, cost{p, l.without(p).stepTime(), alone.stepTime()})
	}
	slices.SortStableFunc(costs, func(a, b cost) int {
		return cmp.Or(cmp.Compare(a.left, b.left), -cmp.Compare(a.each, b.each))
	})
	first, next, whole := costs[0], costs[1], l.stepTime()
	if next.each > first.each && whole-first.left < 0.1*whole { // they hide each other: by themselves
		return next.part, next.each / first.each
	}
	if saved := whole - next.left; saved > 0 {
		return first.part, (whole - first.left) / saved
	}
	return first.part, math.Inf(1)
}

// bound finds what bounds the loader.
func (m *model) bound() bound {
	parts := []string{results.PartRead, results.PartPreprocess, results.PartCopy}
	var b bound
	var lead float64
	b.part, lead = m.loader.costliest(parts...)
	rest := m.loader.without(b.part)
	b.next, _ = rest.costliest(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == b.part })...)
	b.nextRate = float64(m.batch.Images) / max(rest.stepTime(), 1e-9)
	if part, x := m.parts.costliest(parts...); part == b.part {
		lead = min(lead, x)
	} else {
		lead = 1 // it hangs on the moment
	}
	missed := math.Abs(math.Log(1 + m.missed))
	certain := lead >= leastLead*(1+2*m.spread)*math.Exp(missed)
	switch {
	case !m.split && b.part != results.PartCopy:
		b.doubt = "reading and preprocessing were not measured apart: " +
			"run it without --quick, or with the preprocess suite"
	case certain:
	case m.spread > restless/2:
		b.doubt = fmt.Sprintf("the loader's top speed differs by %.0f %% between restarts: "+
			"run it again on a quiet machine, with --repeat 3", 200*m.spread)
	case missed > restless:
		b.doubt = fmt.Sprintf("the parts, measured one by one, make %.0f %% of the time that all of them take "+
			"together: the machine did something else meanwhile, run it again on a quiet one", 100*(1+m.missed))
	default:
		b.doubt = b.part + " and the part after it cost about as much: neither alone bounds the loader"
	}
	return b
}
