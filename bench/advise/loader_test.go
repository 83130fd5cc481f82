package advise

import (
	"math"
	"testing"

	"dlbench/bench/theory"
	"dlbench/results"
)

func TestStepTime(t *testing.T) {
	usual := loader{readCPU: 2e-3, preprocess: 38e-3, copy: 3e-3, prefetch: 2, workers: 1, busy: 1, cores: 2}
	disk := theory.DiskSpec{Rate: 1}
	with := func(change func(*loader)) loader {
		l := usual
		change(&l)
		return l
	}
	for _, c := range []struct {
		name    string
		loader  loader
		want    float64
		slowest string
	}{
		{"preprocessing", usual, 40e-3, results.PartPreprocess},
		{"a longer step", with(func(l *loader) { l.step = 50e-3 }), 50e-3, partStep},
		{"a longer copy", with(func(l *loader) { l.copy = 90e-3 }), 90e-3, results.PartCopy},
		{"two workers on two cores", with(func(l *loader) { l.workers, l.busy = 2, 0 }), 20e-3, results.PartPreprocess},
		{"two workers on a core each, with a busy thread", with(func(l *loader) { l.workers, l.cores = 2, 3 }), 20e-3,
			results.PartPreprocess},
		{"two workers share a core with a busy thread", with(func(l *loader) { l.workers, l.cores = 2, 1 }), 60e-3,
			results.PartPreprocess},
		{"more workers than cores", with(func(l *loader) { l.workers, l.busy = 4, 0 }), 20e-3, results.PartPreprocess},
		{"waits take no core", with(func(l *loader) { l.wait, l.workers, l.cores = 60e-3, 2, 3 }), 50e-3,
			results.PartRead},
		{"one disk serves all", with(func(l *loader) { l.wait, l.workers, l.cores, l.disk = 60e-3, 2, 3, disk }),
			60e-3, results.PartRead},
		{"one worker waits, then works", with(func(l *loader) { l.wait, l.disk = 30e-3, disk }), 70e-3,
			results.PartPreprocess},
		{"latencies overlap", with(func(l *loader) {
			l.wait, l.latency, l.workers, l.cores, l.disk = 1e-3, 79e-3, 2, 3, disk
		}), 60e-3, results.PartRead},
		{"no prefetch", with(func(l *loader) { l.prefetch, l.step = 0, 50e-3 }), 93e-3, partStep},
		{"no prefetch, no step", with(func(l *loader) { l.prefetch = 0 }), 43e-3, results.PartPreprocess},
	} {
		if got := c.loader.stepTime(); math.Abs(got-c.want) > 1e-9 || c.loader.slowest() != c.slowest {
			t.Errorf("%s: %g s, bound by %s, want %g s, %s", c.name, got, c.loader.slowest(), c.want, c.slowest)
		}
	}
	for part, want := range map[string]float64{results.PartRead: 38e-3, results.PartPreprocess: 3e-3,
		results.PartCopy: 40e-3} {
		if got := usual.without(part).stepTime(); math.Abs(got-want) > 1e-9 {
			t.Errorf("without %s: %g s, want %g", part, got, want)
		}
	}
	slower := with(func(l *loader) { l.step = 50e-3 })
	if got := slower.slowed(1.5); math.Abs(got-60e-3) > 1e-9 {
		t.Errorf("half as slow again beside the same step: %g s", got)
	}
}

// The parts, measured one by one, take as long together as all of them did.
func TestCalibrate(t *testing.T) {
	for _, l := range []loader{
		{readCPU: 2e-3, preprocess: 38e-3, copy: 3e-3, prefetch: 2, workers: 1, busy: 1, cores: 2},
		{readCPU: 2e-3, wait: 5e-3, preprocess: 38e-3, copy: 3e-3, workers: 2, busy: 1, cores: 2},
		{readCPU: 2e-3, preprocess: 38e-3, copy: 90e-3, prefetch: 2, workers: 1, busy: 1, cores: 2},
	} {
		for _, by := range []float64{0.8, 1, 2} {
			want := by * l.stepTime()
			calibrated := l.calibrated(want)
			if got := calibrated.stepTime(); math.Abs(got/want-1) > 1e-9 || calibrated.wait != l.wait {
				t.Errorf("%+v: %g s, want %g", calibrated, got, want)
			}
		}
		if c := l.calibrated(100 * l.stepTime()); c.stepTime() > mostCalibrated*1.01*l.stepTime() {
			t.Errorf("what is no drift changes the parts: %+v", c)
		}
	}
}
