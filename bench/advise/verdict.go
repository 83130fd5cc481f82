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

// Conclude adds to a report the answer to q, what would help, and how far the predictions
// behind that could be checked. The answer is about the first of the user's own loaders
// that was measured, else about dlbench's. A report without any gets none.
func Conclude(rep *results.Report, q Question) {
	rep.Predictions = nil
	need := q.need(rep)
	rep.Verdict = loaderVerdict(rep, need)
	if !slices.ContainsFunc(rep.Results, func(r results.Result) bool { return r.Suite == "pipeline" }) {
		return
	}
	m, err := newModel(rep)
	if err != nil {
		if rep.Verdict == nil {
			rep.Verdict = &results.Verdict{Answer: results.AnswerUnknown, Why: results.OneLine(err)}
		}
		return
	}
	v := newVerdict(m, need)
	for _, c := range m.checked {
		rep.Predictions = append(rep.Predictions, c.Prediction)
	}
	var common []results.Prediction
	if m.busy() == "" { // no advice by what others disturbed
		common = m.tryCommon()
	}
	rep.Predictions = append(rep.Predictions, common...)
	if rep.Verdict == nil {
		rep.Verdict = v.whole(common)
	}
	old := func(f results.Finding) bool { return f.Claim == "B4" }
	rep.Findings = append(slices.DeleteFunc(rep.Findings, old), v.finding())
}

// Answer says what the changes of w would bring dlbench's own loader, whether that is enough
// for q, or for what the report's run was asked, and what has no effect; without any, those that
// are tried for every report. Sentences about single changes are the notes. The error says why none
// makes sense.
func Answer(rep *results.Report, w WhatIf, q Question) (*results.Verdict, error) {
	m, err := newModel(rep)
	if err != nil {
		return nil, err
	}
	v := newVerdict(m, q.needAgain(rep))
	r := v.begin()
	w.GPUs = 1
	asked := m.changes(w)
	if len(asked) == 0 {
		v.addChanges(r, m.tryCommon())
	} else if err := v.addAsked(r, asked); err != nil {
		return nil, err
	}
	if len(asked) == 0 || w.Disk.Emulated() {
		r.Notes = append(r.Notes, m.fasterDisk())
	}
	r.Share = m.share(v.need, asked...)
	return r, nil
}

// verdict is what the answer about dlbench's own loader is made of.
type verdict struct {
	m     *model
	bound bound
	need  need
	feeds results.Interval // images/s when nothing waits: least and most of several runs
	runs  int
}

// newVerdict compares what the model's loader feeds with a need. How much runs differ is
// not known of a single one.
func newVerdict(m *model, n need) *verdict {
	v := &verdict{m: m, bound: m.bound(), need: n}
	t := m.base.Metric("throughput")
	v.feeds = results.IntervalOf(t)
	medians := results.RunMedians(t.Samples)
	if v.runs = len(medians); v.runs > 1 {
		v.feeds.Lo, v.feeds.Hi = slices.Min(medians), slices.Max(medians)
	} else {
		v.feeds.Lo, v.feeds.Hi = v.feeds.Lo*(1-realError), v.feeds.Hi*(1+realError)
	}
	return v
}

// finding is claim B4: that loading, and not the GPU, is the limit of training; for the
// article's GPU where no other one is known.
func (v *verdict) finding() results.Finding {
	n := v.need
	if n.rate == 0 {
		n = Question{GPU: "article"}.need(v.m.report)
	}
	judged := v.feeds.Verdict(0, n.rate)
	limit := map[string]string{results.Fails: "the GPU", results.Holds: cmp.Or(v.bound.certain(), "loading")}[judged]
	return results.Finding{Claim: "B4", Verdict: judged, Assumed: v.m.base.Assumed,
		Value: results.Finite(v.feeds.Value/n.rate - 1), Unit: results.Ratio,
		Text: fmt.Sprintf("dlbench's loader feeds %.0f images/s, %s needs %.0f: the limit is %s",
			v.feeds.Value, n.from, n.rate, cmp.Or(limit, "not certain"))}
}

// begin is a verdict with what the loader feeds, and whether that is enough.
func (v *verdict) begin() *results.Verdict {
	m := v.m
	r := &results.Verdict{Workers: m.parts.workers, Busy: m.parts.busy, Runs: v.runs, Assumed: m.base.Assumed}
	v.need.answer(r, v.feeds)
	if why := m.busy(); why != "" {
		r.Answer, r.Why = results.AnswerBusy, why
	}
	return r
}

// whole is the verdict for the report, with the changes that are tried for every one.
func (v *verdict) whole(common []results.Prediction) *results.Verdict {
	m, b, r := v.m, v.bound, v.begin()
	r.Loader, r.Parts, r.Notes, r.Share = results.OwnLoader, m.partTimes(), v.notes(common), m.share(v.need)
	if b.unsure == "" {
		r.Bottleneck, r.Next, r.NextFeeds = b.part, b.next, results.Finite(b.nextRate)
	} else {
		r.Limit = "what limits the loader is not certain: " + b.unsure
	}
	switch r.Answer {
	case results.AnswerYes: // of a loader that is faster than those that people train with
		r.Answer = results.AnswerEnoughCores
	case results.AnswerBusy:
	default:
		v.addChanges(r, common)
	}
	return r
}

// mostNoisy is the share of the samples that may be noisy; whyBusy says so of more. mostLost is
// the share of the CPU time that may be missing.
const (
	mostLost  = 0.1
	mostNoisy = 0.5
	whyBusy   = "other programs, or other guests of this host, took CPU time: close them, measure again"
)

// busy says that other programs took too much of the machine, "" where they did not.
func (m *model) busy() string {
	work, cpu := m.loader.readCPU+m.loader.preprocess, median(m.base, "cpu")
	waits := work/m.loader.share()/float64(m.loader.workers) < m.loader.stepTime()/2 // for something else
	if lost := 1 - cpu/work; cpu > 0 && !waits && lost > mostLost {
		return fmt.Sprintf("other programs took %.0f %% of the CPU time that the loader could use: "+
			"close them and measure again", 100*lost)
	}
	if results.NoisyShare(m.base.Metric("throughput").Samples) > mostNoisy {
		return whyBusy
	}
	return ""
}

// notes are what the verdict rests on, and what it says of the articles' claims about cores and
// GPUs.
func (v *verdict) notes(common []results.Prediction) (lines []string) {
	m := v.m
	if name := m.decoder(); name != "" {
		lines = append(lines, "decoded by "+name)
	}
	if m.slowDecoder() {
		lines[0] += "; the loaders of Python use libjpeg-turbo, which is at least three times as fast"
	}
	for _, part := range m.base.Assumed {
		device := map[string]string{"link": m.params.Device, "disk": m.params.Disk}[part]
		lines = append(lines, fmt.Sprintf("the %s is simulated: all of its figures follow from %s", part, device))
	}
	if !m.slowDisk() && m.report.Dataset != nil {
		lines = append(lines,
			"the data was read from the page cache, as in each epoch after the first, if the data fits into RAM")
	}
	if len(m.rates) > 0 {
		lines = append(lines, fmt.Sprintf("cores that a GPU needs (A7), next to %s: %s",
			results.Plural(m.parts.busy, "training thread"), theory.CoresForDemands(m.rates)))
	}
	for _, p := range common {
		if p.Kind == kindGPUs {
			const fed = "%s gets %.0f images/s (%.0f to %.0f; A6, extrapolated, each with a link as now)"
			lines = append(lines, fmt.Sprintf(fed, p.Change, *p.Value, *p.Lo, *p.Hi))
		}
	}
	return lines
}

// addChanges adds what would help, settings before purchases, each by what it brings, and
// what would not.
func (v *verdict) addChanges(r *results.Verdict, common []results.Prediction) {
	for _, p := range common {
		if p.Cost == "" {
			continue
		}
		change := v.changeOf(p)
		change.Note = ""
		if *p.Value < (1+noGain)**p.Base {
			r.NoEffect = append(r.NoEffect, change.Name)
		} else {
			r.Changes = append(r.Changes, change)
		}
	}
	if !v.m.slowDisk() {
		r.NoEffect = append(r.NoEffect, "a faster disk (the data is in memory)")
	}
	slices.SortStableFunc(r.Changes, func(a, b results.Change) int { // "free" before "purchase"
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), -cmp.Compare(a.Value, b.Value))
	})
	if v.m.slowDecoder() {
		const faster = 3 // times, at least
		x := v.feeds
		r.Changes = slices.Insert(r.Changes, 0, results.Change{Name: "install libjpeg-turbo", Cost: results.Free,
			Value: faster * x.Value, Lo: x.Value, Hi: 2 * faster * x.Value,
			Enough: results.Enough(x.Value, 2*faster*x.Value, v.need.rate), Evidence: "usual gain; not measured here"})
	}
}

// addAsked adds changes that were asked for, and all of them together unless one alone does as much.
func (v *verdict) addAsked(r *results.Verdict, asked changes) error {
	var sensible changes
	var wrong error
	for _, c := range asked {
		p, err := v.m.predict(c)
		if err != nil {
			wrong = cmp.Or(wrong, err)
			_, why, _ := strings.Cut(err.Error(), ": ")
			r.Notes = append(r.Notes, c.says(why))
			continue
		}
		sensible = append(sensible, c)
		after := v.m.scenario(v.m.loader)
		if c.apply(after); after.loader == v.m.loader && c.kind != kindRead {
			r.Notes = append(r.Notes, c.says("no change from what was measured"))
			continue
		}
		if gain := *p.Value / *p.Base - 1; max(gain, -gain) < noGain {
			r.Notes = append(r.Notes, c.says("no effect: "+v.whyNone(c)))
			continue
		}
		r.Changes = append(r.Changes, v.changeOf(p))
		r.Assumed = results.AppendNew(slices.Clone(r.Assumed), p.Assumed...)
	}
	switch len(sensible) {
	case 0:
		return wrong
	case 1:
		return nil
	}
	p, err := v.m.predict(sensible...)
	if err != nil {
		return err
	}
	before := *p.Base
	if len(r.Changes) == 1 {
		before = r.Changes[0].Value
	}
	if len(r.Changes) < 2 && math.Abs(*p.Value/before-1) < noGain { // else one only helps next to another
		return nil
	}
	p.Change, p.Note = "all of them together", ""
	r.Changes = append(r.Changes, v.changeOf(p))
	return nil
}

// whyNone is why a change has no effect.
func (v *verdict) whyNone(c change) string {
	if (c.kind == kindRead || c.kind == kindDisk) && !v.m.slowDisk() {
		return "the data comes from memory"
	}
	return cmp.Or(v.bound.certain(), "another part") + " is the bottleneck"
}

// says is a sentence about a change: "Tar shards? Needs the disk suite."
func (c change) says(text string) string {
	capital := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	return fmt.Sprintf("%s? %s.", capital(shortName(c.name)), capital(text))
}

// shortName is a change without what it changes from.
func shortName(name string) string {
	name, _, _ = strings.Cut(name, " instead of")
	return name
}

// changeOf is a prediction as a change.
func (v *verdict) changeOf(p results.Prediction) results.Change {
	return results.Change{Name: shortName(p.Change), Value: *p.Value, Lo: *p.Lo, Hi: *p.Hi, Note: p.Note, Cost: p.Cost,
		Enough: results.Enough(*p.Lo, *p.Hi, v.need.rate), Evidence: rests(p)}
}

// rests says what a prediction rests on.
func rests(p results.Prediction) string {
	measured := strings.Contains(p.Note, measuredHere)
	switch {
	case p.Kind == kindStrategy && measured:
		return "measured; same crops each epoch"
	case p.Kind == kindStrategy:
		return "estimate; same crops each epoch"
	case measured:
		return "measured"
	case p.Extrapolated:
		return "extrapolated"
	case p.Error != nil && p.Checks > 0:
		return fmt.Sprintf("checked, off by %.0f %%", 100**p.Error)
	}
	return "estimate, not checked"
}

// fasterDisk says what the fastest disk would bring, which is what memory does.
func (m *model) fasterDisk() string {
	disk, memory := m.rate, m.rate
	if m.slowDisk() {
		if p, err := m.predict(m.memoryData()); err == nil {
			memory = max(disk, *p.Value)
		}
	} else if disk = median(m.pastCache(), "throughput"); disk == 0 {
		p, err := m.predict(m.coldData())
		if err != nil {
			return "A faster disk? No effect: the data comes from memory; " +
				"this disk was not measured (dlbench run --suite disk,pipeline)."
		}
		disk = *p.Value
	}
	const none = "A faster disk? No effect: the data comes from memory; from the disk "
	switch {
	case m.slowDisk():
		return fmt.Sprintf("A faster disk? This one allows %.0f images/s, the fastest %.0f, as memory does.", disk, memory)
	case disk >= memory:
		return none + "it is loaded as fast."
	}
	return fmt.Sprintf(none+"%.0f images/s, at most %.0f.", disk, memory)
}
