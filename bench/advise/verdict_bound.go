package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"dlbench/bench/theory"
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

// free makes a part of a scenario free.
func (s *scenario) free(part string) {
	switch part {
	case results.PartRead:
		s.inMemory()
		s.readCPU = 0
	case results.PartPreprocess:
		s.work = 0
	case results.PartCopy:
		s.r.Copy, s.r.Hold = nil, nil
	}
}

// slowest is the part without which a batch takes least, by the replay, with those in
// gone taken away before; lead is by how much more it saves than the next one.
func (m *loaderModel) slowest(gone ...string) (part string, rate, lead float64) {
	type cost struct {
		part       string
		left, each float64
	}
	var costs []cost
	for _, p := range []string{results.PartRead, results.PartPreprocess, results.PartCopy} {
		if slices.Contains(gone, p) {
			continue
		}
		without, alone := m.scenario(), m.scenario()
		for _, g := range gone {
			without.free(g)
		}
		without.free(p)
		for _, o := range []string{results.PartRead, results.PartPreprocess, results.PartCopy} {
			if o != p {
				alone.free(o)
			}
		}
		costs = append(costs, cost{p, m.typical(without.replay()), m.typical(alone.replay())})
	}
	slices.SortStableFunc(costs, func(a, b cost) int { return cmp.Or(cmp.Compare(a.left, b.left), -cmp.Compare(a.each, b.each)) })
	s := m.scenario()
	for _, g := range gone {
		s.free(g)
	}
	whole := m.typical(s.replay())
	rate, lead = float64(m.batch.Images)/max(whole, 1e-9), math.Inf(1)
	if len(costs) > 1 {
		if saved := whole - costs[1].left; saved > 0 {
			lead = (whole - costs[0].left) / saved
		}
		if costs[1].each > costs[0].each && whole-costs[0].left < 0.1*whole { // they hide each other: by themselves
			return costs[1].part, rate, costs[1].each / costs[0].each
		}
	}
	return costs[0].part, rate, lead
}

// bound finds what bounds the loader.
func (m *loaderModel) bound() bound {
	var b bound
	var lead float64
	b.part, _, lead = m.slowest()
	b.next, b.nextRate, _ = m.slowest(b.part)
	apart := *m
	apart.replay = m.alone
	if part, _, x := apart.slowest(); part == b.part {
		lead = min(lead, x)
	} else {
		lead = 1 // it hangs on the moment
	}
	missed := math.Abs(math.Log(1 + m.parts))
	certain := lead >= leastLead*(1+2*m.spread)*math.Exp(missed)
	switch {
	case !m.split && b.part != results.PartCopy:
		b.doubt = "reading and preprocessing were not measured apart: run it without --quick, or with the preprocess suite"
	case certain:
	case m.spread > restless/2:
		b.doubt = fmt.Sprintf("the loader's top speed differs by %.0f %% between restarts: run it again on a quiet machine, with --repeat 3", 200*m.spread)
	case missed > restless:
		b.doubt = fmt.Sprintf("the parts, measured one by one, make %.0f %% of the time that all of them take together: the machine did something else meanwhile, run it again on a quiet one", 100*(1+m.parts))
	default:
		b.doubt = fmt.Sprintf("%s and the part after it cost about as much: neither alone bounds the loader", b.part)
	}
	return b
}

// demandOf is what the GPU takes in: what the user said, or the article's step.
func demandOf(step time.Duration, gpu string, images int) (rate float64, name string, given bool) {
	if i := slices.IndexFunc(theory.GPUs, func(g theory.GPU) bool { return g.Name == gpu }); i >= 0 {
		return theory.GPUs[i].Rate(), theory.GPUs[i].Demand.Name, true
	}
	if step > 0 {
		return float64(images) / step.Seconds(), fmt.Sprintf("a step of %v for %d images", step, images), true
	}
	return theory.Demands[0].Rate(), theory.Demands[0].Name, false
}
