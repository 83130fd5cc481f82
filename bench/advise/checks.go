package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// realError is the relative error that a prediction has at least.
const realError = 0.10

// check is a prediction of a case that was measured.
type check struct {
	results.Prediction
	step time.Duration // of the GPU
}

// checks predicts the base from its parts and from the case past the page cache, and the
// other cases that were measured from the base.
func (m *model) checks() (all []check) {
	add := func(c check, ok bool) {
		if ok {
			all = append(all, c)
		}
	}
	if m.apart {
		measured := float64(m.batch.Images) / m.rate
		add(m.scenario(m.parts).check(m.base, measured, "the parts together, each measured alone", kindParts))
	}
	cold := m.pastCache()
	for _, r := range results.Cases(m.report.Results, "pipeline", func(results.PipelineParams) bool { return true }) {
		switch r {
		case m.base:
		case cold:
			add(m.checkCold(r))
		default:
			add(m.checkCase(r))
		}
	}
	return all
}

// checkCase predicts a case from the base; ok is false where the model knows too little of
// the case.
func (m *model) checkCase(r *results.Result) (c check, ok bool) {
	p := paramsOf(r)
	if !m.predictable(p) {
		return c, false
	}
	base, measured, _ := m.inTurn(r)
	s := m.scenario(m.parts.calibrated(base))
	var names []string
	kind := ""
	for _, c := range m.changesTo(p) {
		if c.err != nil {
			return check{}, false
		}
		c.apply(s)
		if c.name != "" {
			names, kind = append(names, c.name), cmp.Or(kind, c.kind)
		}
	}
	return s.check(r, measured, strings.Join(names, ", "), kind)
}

// checkCold predicts the base from the case that differs in reading past the page cache,
// with what its reads took: data that is brought into RAM.
func (m *model) checkCold(r *results.Result) (c check, ok bool) {
	base, cold, read := m.inTurn(r)
	if read <= 0 || !m.split || !results.ProvenCold(r) {
		return c, false
	}
	from := m.parts
	from.wait, from.readCPU, from.oneDisk, from.latency = read, 0, false, 0
	s := m.scenario(from.calibrated(cold))
	s.readFrom(theory.DiskSpec{})
	s.readCPU = m.parts.readCPU
	return s.check(m.base, base, "cold data brought into RAM", kindRead)
}

// inTurn is what a step of the base and one of r took, and the reads of r for one, s. Of
// cases that were measured in turn it is the restart in which the ratio of the steps is
// the median one: what the machine did between restarts is then no error of a prediction.
func (m *model) inTurn(r *results.Result) (base, measured, read float64) {
	all := func(r *results.Result, metric string) []float64 {
		if x := r.Metric(metric); x != nil {
			return results.RunMedians(x.Samples)
		}
		return nil
	}
	bases, steps, reads := all(m.base, "step_time"), all(r, "step_time"), all(r, "read")
	base, measured, read = median(m.base, "step_time"), median(r, "step_time"), median(r, "read")
	if len(bases) < 2 || len(bases) != len(steps) {
		return base, measured, read
	}
	var ratios []float64
	for i := range bases {
		ratios = append(ratios, bases[i]/max(steps[i], 1e-9))
	}
	middle := slices.Sorted(slices.Values(ratios))[len(ratios)/2] // of one restart, not between two
	i := slices.Index(ratios, middle)
	if len(reads) == len(bases) {
		read = reads[i]
	}
	return bases[i], steps[i], read
}

// check is what s predicts of r with what was measured: a step of so many seconds. It is
// none, and ok false, where what takes most of the step was assumed: then r shows only
// that the stand-in keeps its time.
func (s *scenario) check(r *results.Result, measured float64, name, kind string) (c check, ok bool) {
	step := time.Duration(paramsOf(r).Step)
	assumed := map[string]string{results.PartCopy: "link", results.PartRead: "disk", partStep: "step"}
	if measured <= 0 || slices.Contains(r.Assumed, assumed[s.crowded(step).slowest()]) {
		return c, false
	}
	p := s.predict(step, math.Hypot(realError, s.m.spread))
	if step == 0 {
		measured = float64(s.m.batch.Images) / max(measured, 1e-9)
	}
	p.Change, p.Kind, p.Assumed, p.Measured = name, kind, r.Assumed, &measured
	if p.Value != nil {
		p.Error = results.Finite(*p.Value/measured - 1)
	}
	return check{p, step}, true
}

// predictable tells whether a case differs from the base in what the model knows of, and
// is none that it is made of: at top speed, with one part left or none.
func (m *model) predictable(p results.PipelineParams) bool {
	_, known := freed[p.Free]
	part := p.Step == 0 && p.Free == results.FreeLoading
	tensor := p.Strategy == results.StrategyTensor && p.Strategy != m.params.Strategy
	cold, baseCold := p.Cache == results.Direct, m.params.Cache == results.Direct
	return (known || p.Free == results.FreeNothing) && !part && !tensor && cold == baseCold &&
		p.Device == m.params.Device && p.Disk == m.params.Disk
}

// changesTo are the changes that make a case of the base.
func (m *model) changesTo(p results.PipelineParams) []change {
	all := changes{{apply: func(s *scenario) { s.loader = s.with(p) }}}
	say := func(differs bool, name string, c change) {
		c.name = name
		all.when(differs, c)
	}
	done := func(kind string) change { return change{kind: kind, apply: func(*scenario) {}} }
	before := m.params
	say(p.CPUs > 0, fmt.Sprintf("%s instead of %.4g", results.Plural(int(p.CPUs), "core"), m.cores), done(kindCores))
	workers := m.workersChange(p.Workers)
	say(p.CPUs == 0 && p.Workers != before.Workers, workers.name, done(kindCores))
	say(p.Strategy != before.Strategy, "strategy "+p.Strategy, m.preparedApart())
	say(p.Mem != before.Mem, p.Mem+" memory", m.memoryChange(p.Mem))
	say(p.DType != before.DType, p.DType, m.dtypeChange(p.DType))
	free := change{kind: freed[p.Free].kind, apply: func(s *scenario) {
		for part := range strings.SplitSeq(p.Free, "+") {
			s.loader = s.without(part)
		}
	}}
	say(freed[p.Free].name != "", freed[p.Free].name, free)
	kind := kindStep
	if p.Prefetch == 0 {
		kind = kindPrefetch
	}
	say(p.Prefetch != before.Prefetch || p.Step > 0, fmt.Sprintf("prefetch %d", p.Prefetch), done(kind))
	say(p.Step > 0, "step "+p.Step.String(), done(kind))
	return all
}

// freed are the names and kinds of checks in which parts take no time.
var freed = map[string]struct{ name, kind string }{
	results.PartRead:       {"samples in memory", kindRead},
	results.PartCopy:       {"no copy", kindLink},
	results.PartPreprocess: {"nothing to preprocess", kindParts},
	results.FreeLoading:    {"batches taken as they are", kindLink},
}

// mostOf is the share of checks of other kinds whose errors a prediction without checks
// of its own is given.
const mostOf = 0.8

// errorOf is the largest relative error that the checks of a kind have, and how many
// there are; where there is none, what four in five of all others have, and NaN without
// any. Checks with a longer step than that of the prediction do not count: it hides what
// the loader takes.
func errorOf(all []check, kind string, step time.Duration) (e float64, n int) {
	var others []float64
	for _, c := range all {
		switch {
		case c.Error == nil || c.step > step:
		case c.Kind == kind:
			e = max(e, math.Abs(*c.Error))
			n++
		case slices.Contains([]string{kindRead, kindCores, kindPrefetch}, c.Kind):
			others = append(others, math.Abs(*c.Error))
		}
	}
	if n > 0 {
		return e, n
	}
	if len(others) == 0 {
		return math.NaN(), 0
	}
	slices.Sort(others)
	return others[min(int(mostOf*float64(len(others))), len(others)-1)], 0
}
