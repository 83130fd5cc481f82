package advise

import (
	"errors"
	"math"
	"slices"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// times are those of each batch of the case that differs from the base in what is free.
func (m *loaderModel) times(free string) []float64 {
	for _, r := range m.p.Find("free", free) {
		if results.SameBut(r, m.base, "free") {
			return seriesOf(r)
		}
	}
	return nil
}

// seriesOf is the trace of a case's steps, s.
func seriesOf(r *results.Result) []float64 {
	for _, s := range r.Series {
		if s.Name != "step_time" {
			continue
		}
		v := slices.DeleteFunc(slices.Clone(s.V), func(x float64) bool { return !(x >= 0) || math.IsInf(x, 0) })
		if len(v) > 0 {
			return v
		}
	}
	if m := r.Metric("step_time"); m != nil && m.Median >= 0 {
		return []float64{m.Median}
	}
	return nil
}

// takeCopy takes the time of copies: measured back to back, in turn with steps, or
// assumed.
func (m *loaderModel) takeCopy() error {
	device, mem := m.base.Params.Text("device"), m.base.Params.Text("mem")
	copies := m.times(results.FreeLoading)
	for _, r := range m.p.Find("device", device, "mem", mem, "free", results.FreeLoading, "prefetch", "0") {
		if step, err := time.ParseDuration(r.Params.Text("step")); err == nil && copies == nil && r.Params.Text("dtype") == m.base.Params.Text("dtype") {
			for _, s := range seriesOf(r) {
				copies = append(copies, max(0, s-step.Seconds()))
			}
		}
	}
	if rate := linkRate(device, mem); copies == nil && rate > 0 {
		copies = []float64{float64(m.batch.Bytes()) / rate}
	}
	if copies == nil {
		return errors.New("copies alone were not measured: dlbench run --suite pipeline without -a free")
	}
	if typical := results.Middle(copies); typical > 0 {
		m.link = float64(m.batch.Bytes()) / typical
	}
	if mem == "pageable" || mem == results.Staged {
		m.replay.Hold = copies
	} else {
		m.replay.Copy = copies
	}
	return nil
}

// linkRate is what an assumed link is given for a kind of memory, B/s; 0 for a GPU.
func linkRate(device, mem string) float64 {
	s, err := theory.ParseDevice(device)
	switch {
	case err != nil || !s.Sim():
		return 0
	case mem == "pageable":
		return s.Rates.Pageable
	}
	return s.Rates.Pinned
}

// takeLoading takes the times of reading and preprocessing of one worker.
func (m *loaderModel) takeLoading() {
	r := &m.replay
	disk, emulated := m.diskOf(m.base)
	r.OneDisk = emulated
	workers := float64(r.Workers)
	share := m.share()
	preprocess, read := m.times(results.PartRead+"+"+results.PartCopy), m.times(results.PartPreprocess+"+"+results.PartCopy)
	if preprocess != nil && read != nil {
		m.split, m.apart = true, true
		r.Work = theory.Times(preprocess, workers*share)
		if emulated {
			r.Read = read
			if !disk.Seek && disk.Latency > 0 {
				r.Read, r.Latency = []float64{m.stored / disk.Rate}, disk.Latency.Seconds()*float64(m.batch.Images)/float64(r.Pieces)
			}
			return
		}
		wall := results.Middle(read) * workers
		m.readCPU = wall * share // unless some of it was a wait
		if x := m.metric(results.PartPreprocess+"+"+results.PartCopy, "cpu"); x > 0 {
			m.readCPU = min(m.readCPU, x)
		}
		r.Read = theory.Times(read, max(0, workers-m.readCPU/share/results.Middle(read)))
		for i := range r.Work {
			r.Work[i] += m.readCPU
		}
		return
	}
	whole := theory.Times(seriesOf(m.base), workers*share) // by the clock of one worker: reading is known from elsewhere
	r.Work = whole
	if emulated {
		t := m.diskTime(disk, m.stored, m.reads())
		r.Read, m.split = []float64{t}, true
		for i := range whole {
			whole[i] = max(0, whole[i]-t*share*workers)
		}
	} else if x := m.base.Metric("read"); x != nil {
		m.split = true
		if results.Bypassed(m.base) {
			r.Read = values(x)
			for i := range whole {
				whole[i] = max(0, whole[i]-x.Median*share)
			}
		} else {
			m.readCPU = min(x.Median*share, results.Middle(whole))
		}
	} else if l := results.UsualLine(m.rep.Results, results.Online); l != nil && l.First().Metric("read") != nil {
		m.readCPU = min(l.First().Metric("read").Median*float64(m.batch.Images), results.Middle(whole))
		m.split = true
	}
	hidden := results.Middle(seriesOf(m.base)) <= 1.05*results.Middle(append(slices.Clone(r.Copy), r.Hold...)) // by the link
	if one, ok := m.oneThread(); ok && hidden {
		r.Work = []float64{one}
	}
}

// share is how much of a core a worker of the base has.
func (m *loaderModel) share() float64 {
	return min(1, m.cores/float64(m.replay.Workers+m.replay.Busy))
}

// oneThread is the CPU time of a batch by the preprocess suite.
func (m *loaderModel) oneThread() (s float64, ok bool) {
	if len(m.rates) == 0 || m.rates[0].Threads != 1 || !(m.rates[0].Value > 0) {
		return 0, false
	}
	return float64(m.batch.Images) / m.rates[0].Value, true
}

// metric is the median of a metric of the case with these parts free.
func (m *loaderModel) metric(free, name string) float64 {
	for _, r := range m.p.Find("free", free) {
		if x := r.Metric(name); x != nil && results.SameBut(r, m.base, "free") {
			return x.Median
		}
	}
	return 0
}
