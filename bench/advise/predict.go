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

// WhatIf is changes to predict from a report; what is zero stays as it was.
type WhatIf struct {
	Link     theory.Link
	Memory   string // pinned, pageable or staged
	Prefetch *int
	Cores    float64
	Workers  int
	Disk     theory.DiskSpec
	RAM      bool // the data in RAM
	Cold     bool // data larger than RAM
	Tar      bool
	DType    string
	Side     int  // pixels of the stored JPEGs' shorter side
	Prepared bool // images prepared before (offline)
	GPUs     int
}

// changes are some, in the order in which they apply.
type changes []change

// when adds a change where it is one.
func (all *changes) when(is bool, c change) {
	if is {
		*all = append(*all, c)
	}
}

// changes are those of w.
func (m *model) changes(w WhatIf) (all changes) {
	all.when(w.Side > 0, m.smallImages(w.Side))
	all.when(w.Prepared, m.prepared())
	all.when(w.DType != "", m.dtypeChange(w.DType))
	all.when(w.Memory != "", m.memoryChange(w.Memory))
	all.when(w.Link != theory.Link{}, m.linkChange(w.Link))
	all.when(w.Tar, m.tarShards())
	all.when(w.RAM, m.memoryData())
	all.when(w.Cold, m.coldData())
	all.when(w.Disk.Emulated(), m.diskChange(w.Disk))
	all.when(w.Cores > 0, m.coresChange(w.Cores))
	all.when(w.Workers > 0, m.workersChange(w.Workers))
	if w.Prefetch != nil {
		all = append(all, m.prefetchChange(*w.Prefetch))
	}
	all.when(w.GPUs > 1, m.gpusChange(w.GPUs))
	return all
}

// commonChanges are those that are tried for every report.
func (m *model) commonChanges() (all changes) {
	slow, online := m.slowDisk(), m.params.Strategy == results.Online
	all.when(m.parts.prefetch < 2, m.prefetchChange(2))
	all.when(m.params.Mem != "pinned", m.memoryChange("pinned"))
	all.when(slow, m.memoryData())
	all = append(all, m.tarShards())
	all.when(!slow, m.coldData())
	for _, t := range []string{"float16", "uint8"} {
		all.when(theory.SizeOf(t) < theory.SizeOf(m.batch.DType), m.dtypeChange(t))
	}
	all.when(online, m.prepared())
	all.when(online && m.side() > smallSide, m.smallImages(smallSide))
	whole := math.Floor(m.cores)
	all = append(all, m.coresChange(whole+1))
	all.when(2*whole > whole+1, m.coresChange(2*whole))
	for _, d := range theory.EmulatedDisks {
		all.when(m.parts.disk.Emulated() && d.Rate > m.parts.disk.Rate && !d.Seek, m.diskChange(d))
	}
	if own, ok := m.ownLink(); ok {
		better := theory.Link{Gen: 4, Lanes: 16}
		if own.LineRate() >= better.LineRate() {
			better = theory.Link{Gen: 5, Lanes: 16}
		}
		all.when(own.LineRate() < better.LineRate(), m.linkChange(better))
	}
	return append(all, m.gpusChange(2), m.gpusChange(4))
}

// Predict tells what changes would bring, next to the step that q names or at top speed: each by
// itself, and with several all of them together; nothing of rep is changed. An error says which
// suite the report lacks, or why the change makes no sense here.
func Predict(rep *results.Report, w WhatIf, q Question) ([]results.Prediction, error) {
	m, err := newModel(rep)
	if err != nil {
		return nil, err
	}
	changes := m.changes(w)
	sets := slices.Collect(slices.Chunk(changes, 1))
	if len(changes) != 1 { // none: the loader as it is
		sets = append(sets, changes)
	}
	if g, ok := theory.GPUNamed(q.GPU); ok {
		q.Step = time.Duration(theory.StepFor(g.Rate, rep.Config.Batch) * 1e9)
	}
	n, stepped := q.needAgain(rep), *m
	stepped.loader.step = q.Step.Seconds()
	var all []results.Prediction
	for _, set := range sets {
		p, err := stepped.predict(set...)
		if err != nil {
			return nil, err
		}
		need := n.rate
		if slices.ContainsFunc(set, func(c change) bool { return c.kind == kindGPUs }) {
			need = n.each()
		}
		if top, err := m.predict(set...); err == nil {
			p.Enough = results.Enough(*top.Lo, *top.Hi, need)
		}
		all = append(all, p)
	}
	return all, nil
}

// measuredHere is the note of a change that the pipeline was run with.
const measuredHere = "measured in this run"

// tryCommon predicts the changes that are tried for every report, as far as they make sense.
func (m *model) tryCommon() (all []results.Prediction) {
	for _, c := range m.commonChanges() {
		if p, err := m.predict(c); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// predict tells what changes together bring; all of its numbers are there.
func (m *model) predict(changes ...change) (results.Prediction, error) {
	s := m.scenario(m.loader)
	p := s.predict(0)
	if s.step == 0 {
		p.Value = results.Finite(m.rate)
	}
	p.Base = p.Value
	e := 0.0
	if len(changes) == 0 {
		p.Change = "as it is"
		e, p.Checks = errorOf(m.checked, kindParts, s.step)
	}
	for _, c := range changes {
		if c.err != nil {
			return p, c.err
		}
		c.apply(s)
		c.describe(&p)
		x, n := errorOf(m.checked, c.kind, s.step)
		if c.measured { // no model's error
			x, n = math.NaN(), 0
		}
		e, p.Checks = max(e, x), p.Checks+n // NaN stays
	}
	if p.Error = results.Finite(e); p.Error == nil {
		e = 2 * realError
	}
	after := s.predict(math.Hypot(max(e, realError), m.spread))
	p.Value, p.Lo, p.Hi = after.Value, after.Lo, after.Hi
	if p.Value == nil || p.Lo == nil || p.Hi == nil {
		return p, fmt.Errorf("%s: the report has no sensible numbers for that", cmp.Or(p.Change, "the loader"))
	}
	return p, nil
}

// describe adds to a prediction what a change is, what it costs and what it rests on.
func (c change) describe(p *results.Prediction) {
	p.Change, p.Note = results.Join(" and ", p.Change, c.name), results.Join("; ", p.Note, c.note)
	if c.assumes != "" {
		p.Assumed = results.AppendNew(slices.Clone(p.Assumed), c.assumes)
	}
	p.Extrapolated = p.Extrapolated || c.beyond
	if c.cost == results.Purchase || p.Cost == "" {
		p.Cost = c.cost
	}
	p.Kind = c.kind
}

// realError is the relative error that a prediction has at least.
const realError = 0.10

// check is a prediction of a case that was measured.
type check struct {
	results.Prediction
	step float64 // of the GPU, s
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
	base, measured, _ := m.paired(r)
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
// with the time of its reads: data that is brought into RAM.
func (m *model) checkCold(r *results.Result) (c check, ok bool) {
	base, cold, read := m.paired(r)
	if read <= 0 || !m.split || !results.ProvenCold(r) {
		return c, false
	}
	from := m.parts
	from.wait, from.latency, from.readCPU, from.disk = read, 0, 0, theory.DiskSpec{}
	s := m.scenario(from.calibrated(cold))
	s.readFrom(theory.DiskSpec{})
	s.readCPU = m.parts.readCPU
	return s.check(m.base, base, "cold data brought into RAM", kindRead)
}

// paired is the time of a step of the base and of one of r, and of r's reads for one, s. Of
// cases with the same runs, which alternate, it is the run in which the ratio of the
// steps is the median one: drift between runs is then no error of a prediction.
func (m *model) paired(r *results.Result) (base, measured, read float64) {
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
	assumed := map[string]string{results.PartCopy: "link", results.PartRead: "disk", partStep: "step"}
	if measured <= 0 || slices.Contains(r.Assumed, assumed[s.crowded().slowest()]) {
		return c, false
	}
	p := s.predict(math.Hypot(realError, s.m.spread))
	if s.step == 0 {
		measured = float64(s.m.batch.Images) / max(measured, 1e-9)
	}
	p.Change, p.Kind, p.Assumed, p.Measured = name, kind, r.Assumed, &measured
	if p.Value != nil {
		p.Error = results.Finite(*p.Value/measured - 1)
	}
	return check{p, s.step}, true
}

// predictable tells whether a case differs from the base in what the model knows of, and
// is none that it is made of: at top speed, with one part left or none.
func (m *model) predictable(p results.PipelineParams) bool {
	_, known := freed[p.Free]
	part := p.Step == 0 && p.Free == results.FreeLoading
	tensor := p.Strategy == results.StrategyTensor && p.Strategy != m.params.Strategy
	cold, baseCold := p.Cache == results.Direct, m.params.Cache == results.Direct
	return (known || p.Free == results.FreeNothing) && !part && !tensor && cold == baseCold &&
		p.Device == m.params.Device && p.Disk == m.params.Disk && p.StepCPU == m.params.StepCPU && p.Soak == 0
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
		s.loader = s.without(strings.Split(p.Free, "+")...)
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
// any. Checks with a longer step than that of the prediction do not count: it hides the
// loader.
func errorOf(all []check, kind string, step float64) (e float64, n int) {
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
