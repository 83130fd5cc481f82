package bench

import (
	"math"
	"runtime"
	"time"

	"dlbench/cuda"
	"dlbench/results"
)

// watchEvery is how often the GPU of a case is read.
const watchEvery = 100 * time.Millisecond

// watch reads the GPU of a case while that is measured.
type watch struct {
	gauge cuda.Gauge // nil where nothing can be read
	told  results.GPUWatch
}

// watchOf is the watch of a case's device, nil where that is no GPU.
func (m *measurer) watchOf(c Case) *watch {
	d := m.cfg.Env.Device(c.Device)
	if d == nil || d.Info().Assumed || c.Skip != "" {
		return nil
	}
	w := &watch{}
	w.gauge, w.told.Lacks = m.cfg.Gauge(d.Info().PCI)
	return w
}

// start begins to read, and returns after the first reading. stop ends that and returns all
// readings. A library that does not answer within grace is not asked again.
func (w *watch) start() (stop func() []cuda.Reading) {
	if w == nil || w.gauge == nil {
		return func() []cuda.Reading { return nil }
	}
	var readings []cuda.Reading
	var cpu time.Duration
	gauge, first, over, done := w.gauge, make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		readings, cpu = readUntil(over, gauge, first)
	}()
	select {
	case <-first:
	case <-time.After(grace):
	}
	return func() []cuda.Reading {
		close(over)
		select {
		case <-done:
			w.told.CPU += cpu.Seconds()
			w.take(readings)
			return readings
		case <-time.After(grace):
			w.gauge, w.told.Lacks = nil, "NVML did not answer"
			return nil
		}
	}
}

// readUntil reads on a thread of its own until over, and once more then. cpu is what that took.
func readUntil(over <-chan struct{}, gauge cuda.Gauge, first chan<- struct{}) (all []cuda.Reading, cpu time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := ThreadCPU()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	all = append(all, gauge())
	close(first)
	for more := true; more; {
		select {
		case <-tick.C:
		case <-over:
			more = false
		}
		all = append(all, gauge())
	}
	return all, ThreadCPU() - before
}

// take adds what was read to what the GPU told.
func (w *watch) take(readings []cuda.Reading) {
	t := &w.told
	for _, r := range readings {
		for i, to := range t.Ranges() { // in the order of the reading's values
			if v := r.Values[i]; !math.IsNaN(v) {
				*to = (*to).Widen(v)
			}
		}
		why, throttled := r.Slowdowns()
		t.Readings++
		t.Reasons = results.AppendNew(t.Reasons, why...)
		if throttled {
			t.Throttled++
			if t.From == nil {
				t.From = results.Finite(r.Values[cuda.Temperature])
			}
		}
	}
}

// throttledIn tells whether the GPU was throttled from begin to end, as far as readings tell:
// each holds until the next.
func throttledIn(readings []cuda.Reading, begin, end time.Time) bool {
	for i, r := range readings {
		over := i+1 < len(readings) && !readings[i+1].At.After(begin)
		if _, throttled := r.Slowdowns(); throttled && !over && !r.At.After(end) {
			return true
		}
	}
	return false
}

// report puts what the GPU told into a result that has its proof.
func (w *watch) report(r *results.Result) {
	if w == nil {
		return
	}
	r.Watch(&w.told)
	if w.told.Throttled > 0 {
		r.Warnf("the GPU was throttled while this was measured: clocks lowered by %s", results.InWords(w.told.Reasons))
	}
}
