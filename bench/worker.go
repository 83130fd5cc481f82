package bench

import (
	"sync"
	"time"

	"dlbench/loader"
	"dlbench/results"
)

// goCost is what Go's decoder costs where libjpeg-turbo is missing, in words.
const GoDecoderCost = "Go's decoder stands in, at less than a third of the speed"

// mostNamed is how many files a result names that went bad while it was measured.
const MostNamed = 5

// preprocessWorker is one thread's.
type Worker struct {
	Mu           sync.Mutex // held while a sample is made
	Preprocessor *loader.Preprocessor
	Err          error
	Bad          map[string]string
	_            [64]byte // of its own cache line
}

// look calls f with the worker between two samples; it gives up on one that stands
// still.
func (w *Worker) Look(f func()) {
	for range 100 {
		if w.Mu.TryLock() {
			defer w.Mu.Unlock()
			f()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// partImages is how many samples a thread takes at a time.
const PartImages = 1

// name notes why a file went bad.
func (w *Worker) Name(file string, err error) {
	if w.Bad == nil {
		w.Bad = map[string]string{}
	}
	w.Bad[file] = results.OneLine(err)
}
