package pipeline

import (
	"context"
	"time"
)

// underLoad calls f beside the threads that the step keeps busy, and returns the CPU
// time that these used.
func (r *pipelineRunner) underLoad(f func() error) (used time.Duration, err error) {
	r.load = keepBusy(r.env.Step.CPU, r.cpus)
	defer func() { used, r.load = r.load.end(), nil }()
	return 0, f()
}

// leastPause is what passes between samples in a row at most, with what is done there,
// and pauseShare how much of the last sample's time it may be: what was loaded meanwhile
// then matters no more than that.
const (
	leastPause = 20 * time.Millisecond
	pauseShare = 0.01
)

// resume gets the pipeline going again after a pause in which the device did everything.
// Serial steps go on from now. Others follow batches that were loaded meanwhile, which
// would pass for speed: these are worked on first, beside the same load as those that
// are measured.
//
// A step to warm up leaves that to the sample after it, since it may end with what it
// handed over still on its way.
func (r *pipelineRunner) resume(ctx context.Context, warmup bool) error {
	idle, err := r.idle()
	if err != nil {
		return err
	}
	if warmup {
		r.paused = r.paused || idle && time.Since(r.ended) > leastPause
		return nil
	}
	short := time.Since(r.ended).Seconds() <= pauseShare*r.lasted.Seconds()
	if !r.paused && (!idle || short && r.prefetch > 0 && r.step == 0) {
		return nil
	}
	r.paused = false
	if r.prefetch == 0 {
		return r.sink.restart()
	}
	_, err = r.underLoad(func() error {
		for from := r.sink.next; r.sink.timed < from+r.prefetch+1; { // by the device: steps end later than they are handed over
			if err := r.run(ctx, 1); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// idle tells whether the device has done everything.
func (r *pipelineRunner) idle() (bool, error) {
	if r.sink.next == 0 {
		return true, nil
	}
	return r.device.Reached(r.sink.ended[(r.sink.next-1)%deviceRing])
}
