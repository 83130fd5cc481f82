package advise

import (
	"math"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// scenario is a loader to replay: the model's base with changes.
type scenario struct {
	m *loaderModel
	r theory.Replay
	n int // steps of a sample

	stored  float64 // bytes that are read for a batch
	reads   float64 // discontiguous ones
	disk    theory.DiskSpec
	known   bool // reading takes what disk says, nothing without one; else what it took
	readCPU float64
	work    float64 // factor of what preprocessing takes
	cores   float64
	workers int
	loaders int // of this kind, each on so many cores of its own
	// Factors of the rate, as far down and up as it may be for what is not known of the
	// change itself; 0 for none.
	down, up float64
}

func (m *loaderModel) scenario() *scenario {
	s := &scenario{m: m, r: m.replay, n: stretchOf(m.base), stored: m.stored, reads: m.reads(), readCPU: m.readCPU, work: 1, cores: m.cores, workers: m.replay.Workers, loaders: 1}
	s.disk, _ = m.diskOf(m.base)
	return s
}

// replay is the loader to replay.
func (s *scenario) replay() theory.Replay {
	r := s.r
	efficiency := s.m.crowded(s.loaders*(s.workers+r.Busy), float64(s.loaders)*s.cores)
	work := make([]float64, len(r.Work))
	for i, x := range r.Work {
		work[i] = (s.work*max(0, x-s.m.readCPU) + s.readCPU) / efficiency
	}
	r.Work, r.Workers, r.Cores = work, s.workers, s.cores
	r.Pieces = pieces(r.Workers, s.m.batch.Images)
	if !s.known && (!s.disk.Emulated() || s.stored == s.m.stored) {
		r.Read = theory.Times(r.Read, s.stored/max(1, s.m.stored))
		return r
	}
	r.Read, r.OneDisk, r.Latency = nil, false, 0
	if s.disk.Emulated() {
		r.Read, r.OneDisk = []float64{s.m.diskTime(s.disk, s.stored, s.reads)}, true
		if !s.disk.Seek {
			r.Latency = s.disk.Latency.Seconds() * s.reads / float64(r.Pieces)
		}
	}
	return r
}

// crowded is the speed of each of so many busy threads on so many cores, over that of the
// base's. Fewer busy cores leave more to each, as far as work that shares nothing shows
// it: they may be siblings, share a clock, or be a guest's.
func (m *loaderModel) crowded(threads int, cores float64) float64 {
	n := min(threads, max(1, int(cores)))
	base := min(m.replay.Workers+m.replay.Busy, max(1, int(m.cores)))
	if n < base {
		return m.efficiency(m.controls, n) / m.efficiency(m.controls, base)
	}
	return m.efficiency(m.rates, n) / m.efficiency(m.rates, base)
}

// efficiency is what n busy threads do for each other's speed: the rate of n over n
// times that of one. Between measured counts it is interpolated, beyond them it is that
// of the last.
func (m *loaderModel) efficiency(rates []theory.Rate, n int) float64 {
	if len(rates) < 2 || rates[0].Threads != 1 || n <= 1 {
		return 1
	}
	one, last := rates[0].Value, rates[0]
	for _, r := range rates[1:] {
		each := func(r theory.Rate) float64 { return min(1, r.Value/float64(r.Threads)/one) }
		if n <= r.Threads {
			share := float64(n-last.Threads) / float64(r.Threads-last.Threads)
			return each(last) + share*(each(r)-each(last))
		}
		last = r
	}
	return min(1, last.Value/float64(last.Threads)/one)
}

// setCores gives the loader so many cores, and workers on all that the step leaves.
func (s *scenario) setCores(n float64) {
	s.cores = n
	s.workers = max(1, int(math.Floor(n))-s.r.Busy)
	if s.m.replay.Workers != max(1, int(math.Floor(s.m.cores))-s.r.Busy) { // as many as the user wants
		s.workers = max(s.workers, s.m.replay.Workers)
	}
}

// setLink gives copies another rate, B/s.
func (s *scenario) setLink(rate float64) {
	by := s.m.link / rate
	s.r.Copy, s.r.Hold = theory.Times(s.r.Copy, by), theory.Times(s.r.Hold, by)
}

// setBytes changes the bytes of a batch on the link by a factor.
func (s *scenario) setBytes(by float64) {
	s.r.Copy, s.r.Hold = theory.Times(s.r.Copy, by), theory.Times(s.r.Hold, by)
}

// setMemory copies from another kind of host memory at a rate, B/s.
func (s *scenario) setMemory(mem string, rate float64) {
	copies := []float64{float64(s.m.batch.Bytes()) / rate}
	s.r.Copy, s.r.Hold = copies, nil
	if mem == "pageable" || mem == results.Staged {
		s.r.Copy, s.r.Hold = nil, copies
	}
}

// inMemory leaves no wait for a disk: the page cache's copies stay.
func (s *scenario) inMemory() { s.disk, s.known = theory.DiskSpec{}, true }

func (s *scenario) setDisk(d theory.DiskSpec) { s.disk, s.known = d, true }

// told is what a replay says of a metric with its interval.
type told struct{ value, lo, hi float64 }

// predict replays the scenario: images/s at top speed, or the time of a step, with an
// interval or without.
func (s *scenario) predict(metric string, step time.Duration, interval bool) told {
	r := s.replay()
	r.Step = step.Seconds()
	stat := func(o theory.Replayed) float64 {
		x := typicalStep(o, s.n)
		if metric == "throughput" && x > 0 {
			return float64(s.m.batch.Images) / x
		}
		return x
	}
	r.Batches = max(2*intervalBatches, leastStretches*s.n)
	t := told{value: stat(r.Run())}
	if t.lo, t.hi = t.value, t.value; !interval {
		return t
	}
	r.Batches = max(intervalBatches, leastStretches*s.n)
	t.lo, t.hi = r.Interval(stat)
	t.lo, t.hi = min(t.lo, t.value), max(t.hi, t.value)
	if s.down > 0 {
		t.lo *= s.down
	}
	if s.up > 0 {
		t.hi *= s.up
	}
	return t
}

// intervalBatches is how many batches each replay for an interval has.
const intervalBatches = 48

// widen adds a relative error to an interval, as an independent one.
func (t told) widen(by float64) told {
	if t.value > 0 {
		t.lo = max(0, t.value*(1-math.Hypot(1-t.lo/t.value, by)))
		t.hi = t.value * (1 + math.Hypot(t.hi/t.value-1, by))
	}
	return t
}
