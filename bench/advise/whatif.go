package advise

import (
	"errors"
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
	Prepared bool // strategy 2
	GPUs     int
	Step     time.Duration // of the GPU; 0 is the top speed
}

// changes are those of w, in the order in which they apply.
func (m *loaderModel) changes(w WhatIf) (all []change) {
	add := func(have bool, c func() change) {
		if have {
			all = append(all, c())
		}
	}
	add(w.Side > 0, func() change { return m.smallImages(w.Side) })
	add(w.Prepared, m.prepared)
	add(w.DType != "", func() change { return m.dtypeChange(w.DType) })
	add(w.Memory != "", func() change { return m.memoryChange(w.Memory) })
	add(w.Link != theory.Link{}, func() change { return m.linkChange(w.Link) })
	add(w.Tar, m.tarShards)
	add(w.RAM, m.memoryData)
	add(w.Cold, m.coldData)
	add(w.Disk.Emulated(), func() change { return m.diskChange(w.Disk) })
	add(w.Cores > 0, func() change { return m.coresChange(w.Cores) })
	add(w.Workers > 0, func() change { return m.workersChange(w.Workers) })
	add(w.Prefetch != nil, func() change { return m.prefetchChange(*w.Prefetch) })
	add(w.GPUs > 1, func() change { return m.gpusChange(w.GPUs) })
	return all
}

// Predict tells what changes would bring: each by itself, and with several all of them
// together; nothing of rep is changed. An error is a *NeedsError of a
// report that lacks a suite, or says why the change makes no sense here.
func Predict(rep *results.Report, w WhatIf) ([]results.Prediction, error) {
	m, err := newLoaderModel(rep)
	if err != nil {
		return nil, err
	}
	checks := m.checks()
	changes := m.changes(w)
	var all []results.Prediction
	for _, c := range changes {
		p, err := m.predict(checks, w.Step, c)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(changes) != 1 { // none: the loader as it is
		p, err := m.predict(checks, w.Step, changes...)
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
func (m *loaderModel) predict(checks []checked, step time.Duration, changes ...change) (results.Prediction, error) {
	s := m.scenario()
	p := results.Prediction{Metric: "throughput", Unit: results.PerSecond, Assumed: m.base.Assumed}
	if step > 0 {
		p.Metric, p.Unit = "step_time", results.Seconds
	}
	var names, notes []string
	e := 0.0
	for _, c := range changes {
		if err := c.apply(s); err != nil {
			if _, needs := errors.AsType[*NeedsError](err); needs {
				return p, err
			}
			return p, fmt.Errorf("%s: %w", c.name, err)
		}
		names = append(names, c.name)
		if c.note != "" {
			notes = append(notes, c.note)
		}
		x, n := shown(checks, c.kind, step)
		if c.measured { // no model's error
			x, n, notes = math.NaN(), 0, append(notes, measuredHere)
		}
		e, p.Checks = max(e, x), p.Checks+n // NaN stays
		if c.assumes != "" && !slices.Contains(p.Assumed, c.assumes) {
			p.Assumed = append(slices.Clone(p.Assumed), c.assumes)
		}
		p.Extrapolated = p.Extrapolated || c.beyond
		if c.cost == results.Purchase || p.Cost == "" {
			p.Cost = c.cost
		}
		p.Kind = c.kind
	}
	if len(changes) == 0 {
		names = []string{"as it is"}
		e, p.Checks = shown(checks, kindParts, step)
	}
	p.Change, p.Note = strings.Join(names, " and "), strings.Join(notes, "; ")
	if p.Error = results.Finite(e); p.Error == nil {
		e = 2 * realError
	}
	base := m.base.Metric("throughput").Median
	if step > 0 {
		base = m.scenario().predict(p.Metric, step, false).value
	}
	p.Base = results.Finite(base)
	t := s.predict(p.Metric, step, true).widen(math.Hypot(max(e, s.leastError(step)), m.spread))
	if step > 0 {
		t.lo = max(t.lo, step.Seconds())
	}
	p.Value, p.Lo, p.Hi = results.Finite(t.value), results.Finite(t.lo), results.Finite(t.hi)
	return p, nil
}

// usual are the changes that every report has.
func (m *loaderModel) usual() (all []change) {
	p := m.base.Params
	mem := p.Text("mem")
	if m.replay.Prefetch < 2 {
		all = append(all, m.prefetchChange(2))
	}
	if mem != "pinned" {
		all = append(all, m.memoryChange("pinned"))
	}
	_, emulated := m.diskOf(m.base)
	if emulated || results.Bypassed(m.base) {
		all = append(all, m.memoryData(), m.tarShards())
	} else {
		all = append(all, m.tarShards(), m.coldData())
	}
	for _, t := range []string{"float16", "uint8"} {
		if theory.SizeOf(t) < theory.SizeOf(m.batch.DType) {
			all = append(all, m.dtypeChange(t))
		}
	}
	if p.Text("strategy") == results.Online {
		all = append(all, m.prepared())
		if m.side() > smallSide {
			all = append(all, m.smallImages(smallSide))
		}
	}
	all = append(all, m.coresChange(math.Floor(m.cores)+1))
	if n := 2 * math.Floor(m.cores); n > math.Floor(m.cores)+1 {
		all = append(all, m.coresChange(n))
	}
	if emulated {
		for _, d := range theory.EmulatedDisks {
			if own, _ := m.diskOf(m.base); d.Rate > own.Rate && !d.Seek {
				all = append(all, m.diskChange(d))
			}
		}
	}
	if own, ok := m.ownLink(); ok {
		better := theory.Link{Gen: 4, Lanes: 16}
		if own.LineRate() >= better.LineRate() {
			better = theory.Link{Gen: 5, Lanes: 16}
		}
		if own.LineRate() < better.LineRate() {
			all = append(all, m.linkChange(better))
		}
	}
	return append(all, m.gpusChange(2), m.gpusChange(4))
}
