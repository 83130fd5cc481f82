package advise

import (
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
	Prepared bool // strategy 2
	GPUs     int
	Step     time.Duration // of the GPU; 0 is the top speed
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
	slow, online := m.disk.Emulated() || results.Bypassed(m.base), m.params.Strategy == results.Online
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
		all.when(m.disk.Emulated() && d.Rate > m.disk.Rate && !d.Seek, m.diskChange(d))
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

// Predict tells what changes would bring: each by itself, and with several all of them
// together; nothing of rep is changed. An error says which suite the report lacks, or why the
// change makes no sense here.
func Predict(rep *results.Report, w WhatIf) ([]results.Prediction, error) {
	m, err := newModel(rep)
	if err != nil {
		return nil, err
	}
	checks, changes := m.checks(), m.changes(w)
	sets := slices.Collect(slices.Chunk(changes, 1))
	if len(changes) != 1 { // none: the loader as it is
		sets = append(sets, changes)
	}
	var all []results.Prediction
	for _, set := range sets {
		p, err := m.predict(checks, w.Step, set...)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// measuredHere is the note of a change that the pipeline was run with.
const measuredHere = "measured in this run"

// predict tells what changes together bring.
func (m *model) predict(checks []check, step time.Duration, changes ...change) (results.Prediction, error) {
	s := m.scenario(m.loader)
	p := s.predict(step, 0)
	if step == 0 {
		p.Value = results.Finite(m.rate)
	}
	p.Base = p.Value
	e := 0.0
	if len(changes) == 0 {
		p.Change = "as it is"
		e, p.Checks = errorOf(checks, kindParts, step)
	}
	for _, c := range changes {
		if c.err != nil {
			return p, c.err
		}
		c.apply(s)
		c.describe(&p)
		x, n := errorOf(checks, c.kind, step)
		if c.measured { // no model's error
			x, n = math.NaN(), 0
		}
		e, p.Checks = max(e, x), p.Checks+n // NaN stays
	}
	if p.Error = results.Finite(e); p.Error == nil {
		e = 2 * realError
	}
	after := s.predict(step, math.Hypot(max(e, realError), m.spread))
	p.Value, p.Lo, p.Hi = after.Value, after.Lo, after.Hi
	return p, nil
}

// describe adds to a prediction what a change is, what it costs and what it rests on.
func (c change) describe(p *results.Prediction) {
	join := func(separator string, texts ...string) string {
		return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
	}
	p.Change, p.Note = join(" and ", p.Change, c.name), join("; ", p.Note, c.note)
	if c.assumes != "" && !slices.Contains(p.Assumed, c.assumes) {
		p.Assumed = append(slices.Clone(p.Assumed), c.assumes)
	}
	p.Extrapolated = p.Extrapolated || c.beyond
	if c.cost == results.Purchase || p.Cost == "" {
		p.Cost = c.cost
	}
	p.Kind = c.kind
}
