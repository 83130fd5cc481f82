package chart

import (
	"math"
	"slices"

	"dlbench/results"
)

// stepTraces are the times of steps, in seconds, as they followed each other.
type stepTraces struct {
	Lines   []stepTrace
	Steps   []float64 // that the device works, each once
	cases   []pipeCase
	reports []*results.Report
}

// stepTrace is one case; of restarts the last.
type stepTrace struct {
	Name     string
	T, V     []float64 // s since the case started, s from one step to the next
	Assumed  bool
	Restarts bool // there were traces before
}

// Limits of a chart of traces.
const (
	maxTraces = 6    // lines; more go to another chart
	maxTrace  = 4000 // steps of a line, those after are not drawn
)

// stepTracesOf extracts the charts' data: one element, more for more than maxTraces
// cases. Cases in which a part is free are no loader's.
func stepTracesOf(reports []*results.Report) []stepTraces {
	cases := pipeCases(reports, func(c pipeCase) bool {
		t, _ := traceOf(c.Result, "step_time")
		return c.Free == nothing && !c.Failed() && len(t.T) > 1
	})
	var all []stepTraces
	for part := range slices.Chunk(cases, maxTraces) {
		d := stepTraces{cases: part, reports: reports}
		for i, name := range pipeLines(reports, part) {
			c := part[i]
			l, n := traceOf(c.Result, "step_time")
			l.Name, l.Assumed, l.Restarts = name, c.Assumed(), n > 1
			d.Lines = append(d.Lines, l)
			if c.Step > 0 && !slices.Contains(d.Steps, c.Step) {
				d.Steps = append(d.Steps, c.Step)
			}
		}
		slices.Sort(d.Steps)
		all = append(all, d)
	}
	return all
}

// traceOf reads the last series of that name, up to where its time no longer grows,
// and counts those that there are.
func traceOf(r *results.Result, name string) (l stepTrace, n int) {
	var last results.Series
	for _, s := range r.Series {
		if s.Name == name && s.Unit == results.Seconds {
			last = s
			n++
		}
	}
	for i := range min(len(last.T), len(last.V), maxTrace) {
		t, v := last.T[i], last.V[i]
		if !(t >= 0) || t >= 1e18 || i > 0 && t <= last.T[i-1] {
			break
		}
		if positive(v) && v >= tiny {
			l.T, l.V = append(l.T, t), append(l.V, v)
		}
	}
	return l, n
}

// bounds are the range of step times and the end of the time that is drawn.
func (d stepTraces) bounds() (least, most, end float64) {
	least = math.Inf(1)
	for _, l := range d.Lines {
		least, most = min(least, slices.Min(l.V)), max(most, slices.Max(l.V))
		end = max(end, l.T[len(l.T)-1])
	}
	return least, most, end
}
