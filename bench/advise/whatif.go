package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Answer says what the changes of w would bring dlbench's own loader, whether that is enough
// for q, and what has no effect; without any, those that are tried for every report. Sentences
// about single changes are the notes. The error says why none makes sense.
func Answer(rep *results.Report, w WhatIf, q Question) (*results.Verdict, error) {
	m, err := newModel(rep)
	if err != nil {
		return nil, err
	}
	v := newVerdict(m, q.need(rep))
	r := &results.Verdict{Workers: m.parts.workers, Busy: m.parts.busy, Runs: v.runs, Assumed: m.base.Assumed}
	v.need.answer(r, v.feeds)
	if why := m.busy(); why != "" {
		r.Answer, r.Why = results.AnswerBusy, why
	}
	disk := w.Disk.Emulated()
	w.GPUs = 1
	asked := m.changes(w)
	if len(asked) == 0 {
		disk = true
		v.tryCommon()
		v.addChanges(r)
		r.NoEffect = results.Without(r.NoEffect, diskInMemory)
	} else if err := v.addAsked(r, asked); err != nil {
		return nil, err
	}
	if disk {
		r.Notes = append(r.Notes, m.fasterDisk())
	}
	r.Share = m.share(v.need, asked...)
	return r, nil
}

// addAsked adds changes that were asked for, and all of them together.
func (v *verdict) addAsked(r *results.Verdict, asked changes) error {
	m := v.m
	var sensible changes
	var wrong error
	for _, c := range asked {
		if c.err != nil {
			wrong = cmp.Or(wrong, c.err)
			_, why, _ := strings.Cut(c.err.Error(), ": ")
			r.Notes = append(r.Notes, fmt.Sprintf("%s? %s.", capital(c.name), capital(why)))
			continue
		}
		sensible = append(sensible, c)
		v.addOne(r, c)
	}
	if len(sensible) == 0 {
		return wrong
	}
	if len(sensible) > 1 {
		p, err := m.predict(0, sensible...)
		if err != nil {
			return err
		}
		if p.Note = ""; len(r.Changes) == 0 && math.Abs(*p.Value / *p.Base - 1) < noGain {
			return nil
		}
		r.Changes = append(r.Changes, v.changeOf("all of them together", p))
	}
	return nil
}

// addOne adds a change to the table, or says why it has no effect.
func (v *verdict) addOne(r *results.Verdict, c change) {
	m := v.m
	p, err := m.predict(0, c)
	if err != nil || p.Value == nil || p.Lo == nil || p.Hi == nil {
		return
	}
	name, _, _ := strings.Cut(c.name, " instead of")
	s := m.scenario(m.loader)
	c.apply(s)
	switch {
	case s.loader == m.loader && c.kind != kindRead:
		r.Notes = append(r.Notes, capital(name)+"? No change from what was measured.")
	case math.Abs(*p.Value / *p.Base - 1) >= noGain:
		r.Changes = append(r.Changes, v.changeOf(name, p))
		r.Assumed = results.AppendNew(slices.Clone(r.Assumed), p.Assumed...)
	case c.kind == kindDisk && !m.slowDisk() && strings.HasPrefix(name, "disk "): // fasterDisk says more
	default:
		r.Notes = append(r.Notes, fmt.Sprintf("%s? No effect: %s.", capital(name), v.whyNone(c)))
	}
}

// whyNone is why a change has no effect.
func (v *verdict) whyNone(c change) string {
	if c.kind == kindRead && !v.m.slowDisk() {
		return "the data comes from memory already"
	}
	if part := v.bound.certain(); part != "" {
		return part + " is the bottleneck"
	}
	return "another part takes longer"
}

// changeOf is a prediction as a change of a name.
func (v *verdict) changeOf(name string, p results.Prediction) results.Change {
	return results.Change{Name: name, Value: *p.Value, Lo: *p.Lo, Hi: *p.Hi, Note: p.Note, Cost: p.Cost,
		Enough: results.Enough(*p.Lo, *p.Hi, v.need.rate), Evidence: rests(p)}
}

// capital is a sentence's beginning; names with figures stay.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// slowDisk tells whether the base's data comes from a disk, and not from memory.
func (m *model) slowDisk() bool { return m.parts.disk.Emulated() || results.Bypassed(m.base) }

// fasterDisk says what the fastest disk would bring.
func (m *model) fasterDisk() string {
	const ask = "A faster disk? "
	from, most := m.rate, m.rate
	if m.slowDisk() {
		if p, err := m.predict(0, m.memoryData()); err == nil && p.Value != nil {
			most = max(from, *p.Value)
		}
		if most < (1+noGain)*from {
			return ask + fmt.Sprintf("No effect: this disk allows %.0f images/s, memory no more.", from)
		}
		return ask + fmt.Sprintf("This one allows %.0f images/s, the fastest %.0f, as memory does.", from, most)
	}
	const memory = ask + "No effect: the data comes from memory; "
	if cold := m.pastCache(); cold != nil && median(cold, "throughput") > 0 {
		from = median(cold, "throughput")
	} else if p, err := m.predict(0, m.coldData()); err == nil && p.Value != nil {
		from = *p.Value
	} else {
		return memory + "the disk was not measured (dlbench run --suite disk,pipeline)."
	}
	if most < (1+noGain)*from {
		return memory + fmt.Sprintf("this disk allows %.0f images/s, as many.", from)
	}
	return memory + fmt.Sprintf("this disk allows %.0f images/s, the fastest %.0f.", from, most)
}

// mostGPUs is how many GPUs are tried.
const mostGPUs = 64

// share is what each of several GPUs gets after changes, nil for one GPU.
func (m *model) share(n need, after ...change) *results.GPUShare {
	if n.gpus < 2 {
		return nil
	}
	after = slices.DeleteFunc(slices.Clone(after), func(c change) bool { return c.err != nil })
	of := func(gpus int) results.Prediction {
		p, err := m.predict(0, append(slices.Clone(after), m.gpusChange(gpus))...)
		if err != nil || p.Value == nil || p.Lo == nil || p.Hi == nil {
			return results.Prediction{Value: new(0.0), Lo: new(0.0), Hi: new(0.0)}
		}
		return p
	}
	p := of(n.gpus)
	p.Note = "" // of one change; several GPUs were not measured
	s := &results.GPUShare{GPUs: n.gpus, Gets: *p.Value, Lo: *p.Lo, Hi: *p.Hi, Needs: n.each(), Evidence: rests(p)}
	if s.Needs == 0 {
		return s
	}
	for s.Fed < mostGPUs && *of(s.Fed + 1).Value >= s.Needs {
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
