package bench

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dlbench/bench/pace"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/results"
)

// WorkerOptions says how the workers of a case make samples.
type WorkerOptions struct {
	Set        *loader.Set
	Strategy   string // results.Online, Offline or StrategyTensor
	Preprocess loader.PreprocessOptions
	Free       bool  // samples are not made: the batch stays as it is
	CPUs       []int // on which the workers run; nil for any
	OwnCPU     bool  // worker i runs on the i-th of CPUs alone
	Paced      bool  // deadlines are kept on the workers' threads
}

// Workers are the threads of a case that make samples. Its methods Thread, Work and
// Missing are the hooks of a loader.Pipeline.
type Workers struct {
	o   WorkerOptions
	all []worker
	bad atomic.Int64
}

type worker struct {
	mutex        sync.Mutex // locked while a sample is made
	preprocessor *loader.Preprocessor
	err          error
	bad          map[int32]loader.Fault // by sample
	_            [64]byte               // of its own cache line
}

// SamplesAtATime is how many samples a worker takes at a time.
const SamplesAtATime = 1

// NewWorkers are n workers whose threads are still to be started.
func NewWorkers(n int, o WorkerOptions) *Workers { return &Workers{o: o, all: make([]worker, n)} }

// Thread prepares the thread of a worker.
func (w *Workers) Thread(i int) (restore func()) {
	one := &w.all[i]
	cpus := w.o.CPUs
	if w.o.OwnCPU && len(cpus) > 0 {
		cpus = cpus[i : i+1]
	}
	unpin, err := Pin(cpus)
	if err != nil {
		one.err = err
		return nil
	}
	undo := func() {}
	if w.o.Paced {
		undo = pace.Sharpen()
	}
	if w.o.Strategy != results.StrategyTensor {
		one.preprocessor, one.err = loader.NewPreprocessor(w.o.Preprocess)
	}
	return func() {
		undo()
		unpin()
		if one.preprocessor != nil {
			one.preprocessor.Close()
		}
	}
}

// Err is why a worker cannot work, once all threads have started.
func (w *Workers) Err() error {
	for i := range w.all {
		if err := w.all[i].err; err != nil {
			return err
		}
	}
	return nil
}

// Kind is the decoder of image files, "" where there are none.
func (w *Workers) Kind() string {
	if len(w.all) == 0 || w.all[0].preprocessor == nil || w.o.Strategy != results.Online {
		return ""
	}
	return w.all[0].preprocessor.Kind()
}

// Work makes a sample of data in dst.
func (w *Workers) Work(i int, at loader.Place, dst, data []byte) error {
	one := &w.all[i]
	one.mutex.Lock() // free, unless a report reads the counts
	defer one.mutex.Unlock()
	switch {
	case w.o.Free:
		return nil
	case one.err != nil:
		return one.err
	case w.o.Strategy == results.StrategyTensor:
		copy(dst, data)
		return nil
	case w.o.Strategy == results.Offline:
		return one.preprocessor.Record(dst, data, w.o.Set.Record, at)
	}
	if _, err := one.preprocessor.Image(dst, data, at); err != nil { // it was good when the data was checked
		w.fault(one, at, err)
	}
	return nil
}

// Missing notes an image file that could be read when the data was checked.
func (w *Workers) Missing(i int, at loader.Place, dst []byte, err error) bool {
	if w.o.Strategy != results.Online || errors.Is(err, loader.ErrNoDirect) { // of all files, probably
		return false
	}
	one := &w.all[i]
	one.mutex.Lock()
	defer one.mutex.Unlock()
	if one.preprocessor != nil {
		one.preprocessor.Missed(dst)
	}
	w.fault(one, at, err)
	return true
}

// fault notes why a sample could not be made.
func (w *Workers) fault(one *worker, at loader.Place, err error) {
	w.bad.Add(1)
	if one.bad == nil {
		one.bad = map[int32]loader.Fault{}
	}
	one.bad[at.Sample] = w.o.Set.Fault(at.Sample, results.OneLine(err))
}

// Bad is how many samples could not be made so far.
func (w *Workers) Bad() int64 { return w.bad.Load() }

// each calls f with each worker between two of its samples; it gives up on one that
// is stuck.
func (w *Workers) each(f func(*worker)) {
	for i := range w.all {
		one := &w.all[i]
		for range 100 {
			if one.mutex.TryLock() {
				f(one)
				one.mutex.Unlock()
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// Stages is what all workers did so far.
func (w *Workers) Stages() (all loader.Stages) {
	w.each(func(one *worker) {
		if one.preprocessor != nil {
			all.Add(one.preprocessor.Stages())
		}
	})
	return all
}

// mostNamed is how many files a result names that went bad while it was measured.
const mostNamed = 5

// WentBad are warnings of samples that went bad, each with why.
func WentBad(bad map[int32]loader.Fault) []string {
	byPlace := func(a, b loader.Fault) int { return cmp.Compare(a.At(), b.At()) }
	return loader.ListFaults(slices.SortedFunc(maps.Values(bad), byPlace), mostNamed,
		"went bad while measuring: %s: %s", "%d more files went bad while measuring")
}

// Warn names in a result what went bad while it was measured, and what makes its samples
// other than those of the usual training.
func (w *Workers) Warn(res *results.Result) {
	bad := map[int32]loader.Fault{}
	w.each(func(one *worker) { maps.Copy(bad, one.bad) })
	res.Warnings = append(res.Warnings, WentBad(bad)...)
	if _, err := decode.Library(); err != nil && w.Kind() == decode.Go && !w.o.Free {
		res.Warnf("Go's decoder is used, at less than a third of the speed: %s", results.OneLine(err))
	}
	if w.o.Strategy == results.Offline && !loader.Crops(w.o.Set.Record) {
		res.Warnf("not the same training as online: each epoch sees the same crops, without flips")
	}
}
