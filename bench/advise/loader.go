package advise

import (
	"math"
	"time"

	"dlbench/bench/theory"
	"dlbench/results"
)

// partStep is the part of a training that is not the loader: the device's work on a batch.
const partStep = "step"

// loader is a data loader and the device that it feeds, by what each part takes for a
// batch, in seconds. Zero is a part that is free.
type loader struct {
	wait       float64 // of one worker for the disk
	latency    float64 // of one worker for a disk that overlaps the latencies of several
	readCPU    float64 // CPU time of reading
	preprocess float64 // CPU time of decoding, resampling and collating
	copy       float64 // to the device, from a thread of its own, which pageable and staged memory hold up
	step       float64 // of the device

	disk     theory.DiskSpec // that is emulated, for which all workers wait one after the other
	stored   float64         // bytes that are read
	reads    float64         // discontiguous reads
	prefetch int             // batches made ahead; with 0 each part waits for the one before
	workers  int             // that read and preprocess pieces of the same batch
	busy     int             // further threads, that the step keeps busy
	cores    float64
}

// with is l with the numbers of a case, of which a report may say anything.
func (l loader) with(p results.PipelineParams) loader {
	l.prefetch = min(max(p.Prefetch, 0), results.MostPrefetch)
	l.workers = min(max(p.Workers, 1), results.MostThreads)
	l.busy = min(max(p.StepCPU, 0), results.MostThreads)
	if p.CPUs > 0 {
		l.cores = float64(min(p.CPUs, results.MostThreads))
	}
	l.step = time.Duration(p.Step).Seconds()
	return l
}

// share is how much of a core each thread has.
func (l loader) share() float64 { return min(1, l.cores/float64(l.workers+l.busy)) }

// loading is the time in which the workers make a batch.
func (l loader) loading() float64 {
	t := (l.wait + l.latency + (l.readCPU+l.preprocess)/l.share()) / float64(l.workers)
	if l.disk.Emulated() {
		return max(t, l.wait)
	}
	return t
}

// stepTime is the time from the end of a step to the end of the next: that of all parts
// without prefetch, and that of the slowest with it.
func (l loader) stepTime() float64 { return l.slowed(1) }

// slowed is the step time of l with every part of the loader, but not the step, by a factor slower.
func (l loader) slowed(by float64) float64 {
	loading, copies := by*l.loading(), by*l.copy
	if l.prefetch == 0 {
		return loading + copies + l.step
	}
	return max(loading, copies, l.step)
}

// slowest is the part that takes most of a step.
func (l loader) slowest() string {
	loading := l.loading()
	switch {
	case l.step >= max(loading, l.copy):
		return partStep
	case l.copy >= loading:
		return results.PartCopy
	case l.without(results.PartRead).loading() < l.without(results.PartPreprocess).loading():
		return results.PartRead
	}
	return results.PartPreprocess
}

// without is l with parts made free.
func (l loader) without(parts ...string) loader {
	for _, part := range parts {
		switch part {
		case results.PartRead:
			l.wait, l.latency, l.readCPU, l.disk = 0, 0, 0, theory.DiskSpec{}
		case results.PartPreprocess:
			l.preprocess = 0
		case results.PartCopy:
			l.copy = 0
		}
	}
	return l
}

// mostCalibrated bounds the factor by which parts are calibrated: more is no drift.
const mostCalibrated = 3

// calibrated is l with parts, which were measured one by one, that together take as many
// seconds as a step of the base did: whatever the machine did meanwhile is in the ratio.
// Copies change where they are the slowest part, else the CPU time.
func (l loader) calibrated(measured float64) loader {
	predicted := l.stepTime()
	if !(measured > 0) || !(predicted > 0) {
		return l
	}
	by := min(max(measured/predicted, 1.0/mostCalibrated), mostCalibrated)
	work := l.readCPU + l.preprocess
	switch {
	case l.slowest() == results.PartCopy:
		l.copy *= by
	case work > 0:
		more := (by - 1) * predicted * float64(l.workers) * l.share()
		by = max(0.1, 1+more/work)
		l.readCPU, l.preprocess = by*l.readCPU, by*l.preprocess
	}
	return l
}

// scenario is the model's loader with changes.
type scenario struct {
	loader
	m       *model
	loaders int // of this kind, each on so many cores of its own
	// Factors of the rate, as far down and up as it may be for what is not known of the
	// change itself.
	down, up float64
}

// scenario is l, without changes yet, in place of the base's loader.
func (m *model) scenario(l loader) *scenario {
	return &scenario{loader: l, m: m, loaders: 1, down: 1, up: 1}
}

// crowded is the scenario's loader with what its threads do for each other's speed.
func (s *scenario) crowded() loader {
	l := s.loader
	by := s.m.crowding(s.loaders*(l.workers+l.busy), float64(s.loaders)*l.cores)
	l.readCPU, l.preprocess = l.readCPU/by, l.preprocess/by
	return l
}

// crowding is the speed of each of so many busy threads on so many cores, over that of
// the base's. Fewer busy cores leave more to each, as far as work that shares nothing
// shows it: they may be siblings, share a clock, or be a guest's.
func (m *model) crowding(threads int, cores float64) float64 {
	n := min(threads, max(1, int(cores)))
	base := min(m.parts.workers+m.parts.busy, max(1, int(m.cores)))
	rates := m.rates
	if n < base {
		rates = m.controls
	}
	return theory.EfficiencyOf(rates, n) / theory.EfficiencyOf(rates, base)
}

// workersOn is as many workers as the step leaves cores.
func workersOn(cores float64, busy int) int { return max(1, int(math.Floor(cores))-busy) }

// setCores gives the loader so many cores, and workers on all that the step leaves.
func (s *scenario) setCores(n float64) {
	s.cores, s.workers = n, workersOn(n, s.busy)
	if have := s.m.parts.workers; have != workersOn(s.m.cores, s.busy) { // as many as the user wants
		s.workers = max(s.workers, have)
	}
}

// readFrom reads from a disk that serves all workers, or from memory for the zero one.
func (l *loader) readFrom(d theory.DiskSpec) {
	l.disk, l.wait, l.latency = d, 0, 0
	if d.Emulated() {
		l.wait = d.Time(l.stored, l.reads)
	}
	if !d.Seek {
		l.latency = d.Latency.Seconds() * l.reads
	}
}

// scaleReads makes a batch take so many times the bytes.
func (s *scenario) scaleReads(by float64) {
	s.stored, s.readCPU, s.wait = by*s.stored, by*s.readCPU, by*s.wait
	if s.disk.Emulated() {
		s.readFrom(s.disk)
	}
}

// readRecords makes batches of records that take so much CPU time, from the page cache,
// as it was measured, or from the disk that is assumed.
func (s *scenario) readRecords(work float64) {
	b := s.m.batch
	s.readCPU, s.preprocess = 0, work
	s.stored, s.reads = float64(b.Images*b.Height*b.Width*b.Channels), float64(b.Images)
	s.readFrom(s.disk)
}

// predict is images/s at top speed, or the time of a step where the device has one. The
// loader may be by a relative error slower or faster than the model has it; the device's
// step is what it is.
func (s *scenario) predict(e float64) results.Prediction {
	slower, faster := math.Hypot(e, 1/s.down-1), math.Hypot(e, s.up-1)
	l := s.crowded()
	p := results.Prediction{Metric: "step_time", Unit: results.Seconds, Assumed: s.m.base.Assumed}
	value, lo, hi := l.stepTime(), l.slowed(1/(1+faster)), l.slowed(1+slower)
	if l.step == 0 {
		p.Metric, p.Unit = "throughput", results.PerSecond
		n := float64(s.m.batch.Images)
		value, lo, hi = n/value, n/hi, n/lo
	}
	p.Value, p.Lo, p.Hi = results.Finite(value), results.Finite(lo), results.Finite(hi)
	return p
}
