package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dlbench/results"
)

// Limits of a verdict.
const (
	// leastLead is how much more the part that bounds must cost than the one after it, on a
	// machine that is quiet; what differs between restarts, and what the parts miss when
	// they are put together, comes on top.
	leastLead = 1.2
	restless  = 0.25 // of either, from which it is what makes a verdict uncertain
	noGain    = 0.02 // below which a change brings nothing
)

// bound is what bounds a loader by itself, and what comes next.
type bound struct {
	part, next string
	nextRate   float64 // images/s once part takes no time
	unsure     string  // why it is not certain; "" where it is
}

// costliest is the part without which a batch takes least; lead is by how much more it
// saves than the next one.
func (l loader) costliest(parts []string) (part string, lead float64) {
	left := func(part string) float64 { return l.without(part).stepTime() } // s a batch
	alone := func(part string) float64 {
		rest := l
		for _, p := range parts {
			if p != part {
				rest = rest.without(p)
			}
		}
		return rest.stepTime()
	}
	sorted := slices.SortedStableFunc(slices.Values(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(left(a), left(b)), cmp.Compare(alone(b), alone(a)))
	})
	first, next, whole := sorted[0], sorted[1], l.stepTime()
	if alone(next) > alone(first) && whole-left(first) < 0.1*whole { // they hide each other
		return next, alone(next) / alone(first)
	}
	if saved := whole - left(next); saved > 0 {
		return first, (whole - left(first)) / saved
	}
	return first, math.Inf(1)
}

// bound finds what bounds the loader.
func (m *model) bound() (b bound) {
	parts := []string{results.PartRead, results.PartPreprocess, results.PartCopy}
	part, lead := m.loader.costliest(parts)
	if measured, x := m.parts.costliest(parts); measured == part {
		lead = min(lead, x)
	} else {
		lead = 1 // it depends on the moment
	}
	rest := m.loader.without(part)
	b.part, b.nextRate = part, float64(m.batch.Images)/max(rest.stepTime(), 1e-9)
	b.next, _ = rest.costliest(slices.DeleteFunc(parts, func(p string) bool { return p == part }))
	missed := math.Abs(math.Log(1 + m.missed))
	certain := lead >= leastLead*(1+2*m.spread)*math.Exp(missed)
	switch {
	case !m.split && b.part != results.PartCopy:
		b.unsure = "reading and preprocessing were not measured apart: " +
			"run it without --quick, or with the preprocess suite"
	case certain:
	case m.spread > restless/2:
		b.unsure = fmt.Sprintf("the loader's top speed differs by %.0f %% between restarts: "+
			"run it again on a quiet machine, with --repeat 3", 200*m.spread)
	case missed > restless:
		b.unsure = fmt.Sprintf("the parts, measured one by one, make %.0f %% of the time that all of them take "+
			"together: the machine did something else meanwhile, run it again on a quiet one", 100*(1+m.missed))
	default:
		b.unsure = b.part + " and the part after it cost about as much: neither alone bounds the loader"
	}
	return b
}
