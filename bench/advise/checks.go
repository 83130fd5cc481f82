package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// Relative errors that a prediction is given before any was checked: of what is paced,
// and of what this machine does.
const (
	pacedError = 0.01
	realError  = 0.10
)

// checked is a prediction of a case that was measured.
type checked struct {
	results.Prediction
	step time.Duration // of the GPU
}

// checks predicts, from the base's parts alone, the other cases that were measured, and the
// base itself from its parts and from the case past the page cache, and holds them against
// each other.
func (m *loaderModel) checks() []checked {
	var all []checked
	if m.apart { // the parts together
		value := m.base.Metric("throughput").Median / (1 + m.parts)
		c := m.check(m.base, float64(m.batch.Images)/m.base.Metric("throughput").Median, "the parts together, each measured alone", kindParts, told{value, value, value}, realError)
		all = append(all, c)
	}
	for _, r := range m.p.Find() {
		if c, ok := m.predictRestarts(r); ok {
			all = append(all, c)
		}
	}
	return all
}

// predictRestarts predicts a case that was measured in turn with the base from the base,
// or the base from the case where that reads past the page cache, restart by restart, and
// takes the restart whose error is the median one: what the machine did between restarts
// is then no error of the prediction.
func (m *loaderModel) predictRestarts(r *results.Result) (checked, bool) {
	base, all := results.MediansOfRuns(m.base.Metric("step_time")), results.MediansOfRuns(r.Metric("step_time"))
	cold := results.Bypassed(r) && !results.Bypassed(m.base)
	if len(base) < 2 || len(base) != len(all) {
		if cold {
			return m.predictCold(r, m.base.Metric("step_time").Median, r.Metric("step_time").Median, -1)
		}
		return m.predictCase(r, r.Metric("step_time").Median)
	}
	var each []checked
	for i := range base {
		var c checked
		var ok bool
		if cold {
			c, ok = m.predictCold(r, base[i], all[i], i)
		} else {
			then := *m
			then.hold(base[i])
			c, ok = then.predictCase(r, all[i])
		}
		if !ok || c.Error == nil {
			return c, ok
		}
		each = append(each, c)
	}
	slices.SortFunc(each, func(a, b checked) int { return cmp.Compare(*a.Error, *b.Error) })
	return each[len(each)/2], true
}

// check is a prediction beside what r measured: a step of so many seconds.
func (m *loaderModel) check(r *results.Result, step float64, name, kind string, t told, by float64) checked {
	metric := "throughput"
	if r.Params.Text("step") != "0s" {
		metric = "step_time"
	}
	if by > pacedError {
		by = math.Hypot(by, m.spread)
	}
	t = t.widen(by)
	measured := step
	if metric == "throughput" {
		measured = float64(m.batch.Images) / max(step, 1e-9)
	}
	e := t.value/measured - 1
	return checked{Prediction: results.Prediction{Change: name, Kind: kind, Metric: metric, Unit: r.Metric(metric).Unit,
		Value: results.Finite(t.value), Lo: results.Finite(t.lo), Hi: results.Finite(t.hi), Measured: &measured, Error: results.Finite(e), Assumed: r.Assumed}}
}

// predictCase predicts a case, whose steps were measured to take so many seconds, from how
// it differs from the base. ok is false for a case that the model is made of, and for one
// of which it knows too little.
func (m *loaderModel) predictCase(r *results.Result, measured float64) (c checked, ok bool) {
	p := r.Params
	step, err := time.ParseDuration(p.Text("step"))
	free := p.Text("free")
	alone := free == results.FreeLoading || free == results.PartRead+"+"+results.PartCopy || free == results.PartPreprocess+"+"+results.PartCopy || free == results.FreeAll
	if err != nil || r == m.base || step == 0 && alone || results.Bypassed(r) != results.Bypassed(m.base) {
		return c, false
	}
	s := m.scenario()
	metric := "throughput"
	if step > 0 {
		metric = "step_time"
	}
	s.n = stretchOf(r)
	s.r.Prefetch = within(p.Int("prefetch"), 0, results.MostPrefetch)
	s.workers = within(p.Int("workers"), 1, results.MostThreads)
	s.r.Busy = within(p.Int("step-cpu"), 0, results.MostThreads)
	name, kind := "", ""
	say := func(what, k string) {
		if name != "" {
			name += ", "
		}
		name += what
		if kind == "" || kind == kindStep {
			kind = k
		}
	}
	if n := p.Int("cpus"); n > 0 {
		s.cores = float64(within(n, 1, results.MostThreads))
		say(results.Plural(int(n), "core")+" instead of "+number(m.cores), kindCores)
	}
	if p.Text("strategy") != m.base.Params.Text("strategy") && !m.otherStrategy(s, r) {
		return c, false
	} else if p.Text("strategy") != m.base.Params.Text("strategy") {
		say("strategy "+p.Text("strategy"), kindStrategy)
	}
	if d, emulated := m.diskOf(r); emulated && p.Text("disk") != m.base.Params.Text("disk") {
		s.setDisk(d)
		say("disk "+p.Text("disk"), kindDisk)
	} else if !emulated && p.Text("disk") != m.base.Params.Text("disk") {
		return c, false
	}
	if p.Text("mem") != m.base.Params.Text("mem") {
		rate := m.memoryRate(p.Text("mem"))
		if p.Text("device") != m.base.Params.Text("device") || rate <= 0 {
			return c, false
		}
		s.setMemory(p.Text("mem"), rate)
		say(p.Text("mem")+" memory", kindMemory)
	}
	if device := p.Text("device"); device != m.base.Params.Text("device") {
		rate := linkRate(device, p.Text("mem"))
		if rate <= 0 || m.link <= 0 {
			return c, false
		}
		s.setLink(rate)
		say("over "+device, kindLink)
	}
	if t := p.Text("dtype"); t != m.batch.DType {
		if m.dtypeChange(t).apply(s) != nil {
			return c, false
		}
		say(t, kindDType)
	}
	switch free {
	case results.PartRead:
		s.inMemory()
		s.readCPU = 0
		say("samples in memory", kindRead)
	case results.PartCopy:
		s.r.Copy, s.r.Hold = nil, nil
		say("no copy", kindLink)
	case results.PartPreprocess:
		s.work = 0
		say("nothing to preprocess", kindParts)
	case results.FreeLoading:
		s.work, s.readCPU = 0, 0
		s.inMemory()
		say("batches taken as they are", kindLink)
	}
	if s.r.Prefetch != m.replay.Prefetch || step > 0 {
		k := kindPrefetch
		if s.r.Prefetch > 0 {
			k = kindStep
		}
		say(fmt.Sprintf("prefetch %d", s.r.Prefetch), k)
	}
	if step > 0 {
		name += ", step " + step.String()
	}
	by := s.leastError(step)
	if free == results.FreeLoading && linkRate(p.Text("device"), "pinned") > 0 {
		by = pacedError
	}
	c = m.check(r, measured, name, kind, s.predict(metric, step, m.intervals), by)
	c.step = step
	return c, true
}

// leastError is the relative error that a prediction may have before it is checked: less
// where a link and a step that are assumed decide. At top speed wake-ups count, of which
// a replay knows nothing.
func (s *scenario) leastError(step time.Duration) float64 {
	if step == 0 {
		return realError
	}
	r := s.replay()
	r.Step = step.Seconds()
	o := r.Run()
	if linkRate(s.m.base.Params.Text("device"), "pinned") > 0 && o.By.Read+o.By.Preprocess <= 0.01*o.Mean() {
		return pacedError
	}
	return realError
}

// otherStrategy gives a scenario the work of another strategy, as it was measured by
// itself.
func (m *loaderModel) otherStrategy(s *scenario, r *results.Result) bool {
	switch r.Params.Text("strategy") {
	case results.Offline:
		return m.preparedApart(s) == nil
	case results.StrategyTensor:
		for _, x := range m.p.Find("strategy", results.StrategyTensor, "step", "0s", "free", results.FreeNothing, "disk", "real") {
			if x == r || r.Params.Text("disk") == "real" {
				continue
			}
			s.r.Work = theory.Times(seriesOf(x), float64(x.Params.Int("workers")))
			for i := range s.r.Work {
				s.r.Work[i] += m.readCPU
			}
			s.readCPU = 0
			s.stored, s.reads = float64(m.batch.Bytes()), 1
			return true
		}
	}
	return false
}

// mostOf is the share of checks of other kinds whose errors a prediction without checks
// of its own is given.
const mostOf = 0.8

// shown is the largest relative error that the checks of a kind have, and how many
// there are; where there is none, what four in five of all real ones have, and NaN
// without any. Checks with a longer step than that of the prediction do not count: it
// hides what the loader takes.
func shown(all []checked, kind string, step time.Duration) (e float64, n int) {
	var others []float64
	for _, c := range all {
		switch {
		case c.Error == nil || c.step > step:
		case c.Kind == kind:
			e = max(e, math.Abs(*c.Error))
			n++
		case slices.Contains([]string{kindRead, kindCores, kindDisk, kindPrefetch}, c.Kind):
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
