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
func (m *model) changes(w WhatIf) (all []change) {
	when := func(changed bool, c func() change) {
		if changed {
			all = append(all, c())
		}
	}
	when(w.Side > 0, func() change { return m.smallImages(w.Side) })
	when(w.Prepared, m.prepared)
	when(w.DType != "", func() change { return m.dtypeChange(w.DType) })
	when(w.Memory != "", func() change { return m.memoryChange(w.Memory) })
	when(w.Link != theory.Link{}, func() change { return m.linkChange(w.Link) })
	when(w.Tar, m.tarShards)
	when(w.RAM, m.memoryData)
	when(w.Cold, m.coldData)
	when(w.Disk.Emulated(), func() change { return m.diskChange(w.Disk) })
	when(w.Cores > 0, func() change { return m.coresChange(w.Cores) })
	when(w.Workers > 0, func() change { return m.workersChange(w.Workers) })
	when(w.Prefetch != nil, func() change { return m.prefetchChange(*w.Prefetch) })
	when(w.GPUs > 1, func() change { return m.gpusChange(w.GPUs) })
	return all
}

// Predict tells what changes would bring: each by itself, and with several all of them
// together; nothing of rep is changed. An error is a *NeedsError of a
// report that lacks a suite, or says why the change makes no sense here.
func Predict(rep *results.Report, w WhatIf) ([]results.Prediction, error) {
	m, err := newModel(rep)
	if err != nil {
		return nil, err
	}
	checks, changes := m.checks(), m.changes(w)
	var sets [][]change
	for i := range changes {
		sets = append(sets, changes[i:i+1])
	}
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
	s := m.scenario()
	p := results.Prediction{Metric: "throughput", Unit: results.PerSecond, Assumed: m.base.Assumed,
		Base: results.Finite(m.base.Metric("throughput").Median)}
	if step > 0 {
		p.Metric, p.Unit = "step_time", results.Seconds
		p.Base = results.Finite(s.predict(p.Metric, step, 0).value)
	}
	names, notes, e := []string{"as it is"}, []string(nil), 0.0
	if len(changes) == 0 {
		e, p.Checks = errorOf(checks, kindParts, step)
	} else {
		names = nil
	}
	for _, c := range changes {
		if _, needs := errors.AsType[*NeedsError](c.err); needs {
			return p, c.err
		} else if c.err != nil {
			return p, fmt.Errorf("%s: %w", c.name, c.err)
		}
		c.apply(s)
		names = append(names, c.name)
		if c.note != "" {
			notes = append(notes, c.note)
		}
		x, n := errorOf(checks, c.kind, step)
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
	p.Change, p.Note = strings.Join(names, " and "), strings.Join(notes, "; ")
	if p.Error = results.Finite(e); p.Error == nil {
		e = 2 * realError
	}
	t := s.predict(p.Metric, step, math.Hypot(max(e, realError), m.spread))
	p.Value, p.Lo, p.Hi = results.Finite(t.value), results.Finite(t.lo), results.Finite(t.hi)
	return p, nil
}

// commonChanges are those that are tried for every report.
func (m *model) commonChanges() (all []change) {
	if m.parts.prefetch < 2 {
		all = append(all, m.prefetchChange(2))
	}
	if m.params.Mem != "pinned" {
		all = append(all, m.memoryChange("pinned"))
	}
	own, emulated := diskOf(m.params)
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
	if m.params.Strategy == results.Online {
		all = append(all, m.prepared())
		if m.side() > smallSide {
			all = append(all, m.smallImages(smallSide))
		}
	}
	whole := math.Floor(m.cores)
	all = append(all, m.coresChange(whole+1))
	if 2*whole > whole+1 {
		all = append(all, m.coresChange(2*whole))
	}
	for _, d := range theory.EmulatedDisks {
		if emulated && d.Rate > own.Rate && !d.Seek {
			all = append(all, m.diskChange(d))
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
