package advise

import (
	"math"
	"slices"

	"dlbench/results"
)

// predictCold predicts the base, whose steps were measured to take base seconds, from the
// same case past the page cache, with steps of cold seconds and what its reads took in a
// restart, by its number, or in all of them (-1): data that is brought into RAM.
func (m *loaderModel) predictCold(r *results.Result, base, cold float64, restart int) (c checked, ok bool) {
	read := r.Metric("read")
	if read == nil || !m.split || !results.ProvenCold(r) || !results.SameBut(r, m.base, "cache") {
		return c, false
	}
	from := *m
	from.base, from.readCPU = r, 0
	from.alone.Read, from.alone.OneDisk, from.alone.Latency = readsIn(read, restart), false, 0
	from.alone.Work = make([]float64, len(m.alone.Work))
	for i, x := range m.alone.Work {
		from.alone.Work[i] = max(0, x-m.readCPU)
	}
	from.hold(cold)
	s := from.scenario()
	s.n = stretchOf(m.base)
	s.inMemory()
	s.readCPU = m.readCPU
	return m.check(m.base, base, "cold data brought into RAM", kindRead, s.predict("throughput", 0, m.intervals), realError), true
}

// readsIn are the values of a metric in a restart, by its number in the order of samples;
// of all of them for one that there is not.
func readsIn(m *results.Metric, restart int) []float64 {
	var order []int
	of := map[int][]float64{}
	for _, s := range m.Samples {
		if !slices.Contains(order, s.Run) {
			order = append(order, s.Run)
		}
		if s.Value >= 0 && !math.IsInf(s.Value, 0) {
			of[s.Run] = append(of[s.Run], s.Value)
		}
	}
	if restart < 0 || restart >= len(order) || len(of[order[restart]]) == 0 {
		return values(m)
	}
	return of[order[restart]]
}
