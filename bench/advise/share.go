package advise

import (
	"slices"

	"dlbench/bench/theory"
	"dlbench/results"
)

// mostGPUs is how many GPUs are tried.
const mostGPUs = 64

// share is what each of several GPUs gets after changes, nil for one GPU.
func (m *model) share(n need, after ...change) *results.GPUShare {
	if n.gpus < 2 {
		return nil
	}
	after = slices.DeleteFunc(slices.Clone(after), func(c change) bool { return c.err != nil })
	of := func(gpus int) results.Prediction {
		p, err := m.predict(append(slices.Clone(after), m.gpusChange(gpus))...)
		if err != nil {
			return results.Prediction{Value: new(0.0), Lo: new(0.0), Hi: new(0.0)}
		}
		return p
	}
	p := of(n.gpus)
	p.Note = "" // of one change; several GPUs were not measured
	s := &results.GPUShare{GPUs: n.gpus, Gets: *p.Value, Lo: *p.Lo, Hi: *p.Hi, Needs: n.each(), Evidence: rests(p)}
	for s.Needs > 0 && s.Fed < mostGPUs && *of(s.Fed + 1).Value >= s.Needs {
		s.Fed++
	}
	otherWork := func(c change) bool { return slices.Contains([]string{kindStrategy, kindImages, kindDType}, c.kind) }
	if !slices.ContainsFunc(after, otherWork) { // of which the rates are not known by threads
		addCores(s, m.rates)
	}
	return s
}

// addCores adds the cores that a GPU needs for loading, by images/s of so many threads.
func addCores(s *results.GPUShare, rates []theory.Rate) {
	if n, ok := theory.CoresNeeded(rates, s.Needs); ok {
		s.Cores, s.AtLeast = n.Threads, n.Extrapolated
	}
}

// share is what each of several GPUs gets of a loader that was measured by itself.
func (a *loaderAnswer) share(n need) *results.GPUShare {
	if n.gpus < 2 {
		return nil
	}
	x := results.IntervalOf(a.best.Metric("throughput"))
	k := float64(n.gpus)
	s := &results.GPUShare{GPUs: n.gpus, Gets: x.Value / k, Lo: x.Lo / k, Hi: x.Hi / k, Needs: n.each(),
		Evidence: "equal share"}
	if s.Needs > 0 {
		s.Fed = int(x.Value / s.Needs)
	}
	addCores(s, a.scaling.Rates)
	return s
}
