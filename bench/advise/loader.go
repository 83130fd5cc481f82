package advise

import "dlbench/results"

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

	oneDisk  bool // all workers wait for the same disk, one after the other
	prefetch int  // batches made ahead; with 0 each part waits for the one before
	workers  int  // that read and preprocess pieces of the same batch
	busy     int  // further threads, that the step keeps busy
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
	return l
}

// share is how much of a core each thread has.
func (l loader) share() float64 { return min(1, l.cores/float64(l.workers+l.busy)) }

// loading is the time in which the workers make a batch.
func (l loader) loading() float64 {
	t := (l.wait + l.latency + (l.readCPU+l.preprocess)/l.share()) / float64(l.workers)
	if l.oneDisk {
		return max(t, l.wait)
	}
	return t
}

// stepTime is the time from the end of a step to the end of the next: that of all parts
// without prefetch, and that of the slowest with it.
func (l loader) stepTime() float64 {
	if l.prefetch == 0 {
		return l.loading() + l.copy + l.step
	}
	return max(l.loading(), l.copy, l.step)
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

// scaled is l with every part of the loader, but not the step, by a factor slower.
func (l loader) scaled(by float64) loader {
	l.wait, l.latency = by*l.wait, by*l.latency
	l.readCPU, l.preprocess = by*l.readCPU, by*l.preprocess
	l.copy *= by
	return l
}

// without is l with a part made free.
func (l loader) without(part string) loader {
	switch part {
	case results.PartRead:
		l.wait, l.latency, l.readCPU, l.oneDisk = 0, 0, 0, false
	case results.PartPreprocess:
		l.preprocess = 0
	case results.PartCopy:
		l.copy = 0
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
