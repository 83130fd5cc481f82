package bench

import (
	"dlbench/loader"
	"sync"
	"time"
)

// goCost is what Go's decoder costs where libjpeg-turbo is missing, in words.
const goCost = "Go's decoder stands in, at less than a third of the speed"

// mostNamed is how many files a result names that went bad while it was measured.
const mostNamed = 5

// preprocessWorker is one thread's.
type preprocessWorker struct {
	mu  sync.Mutex // held while a sample is made
	p   *loader.Preprocessor
	err error
	bad map[string]string
	_   [64]byte // of its own cache line
}

// look calls f with the worker between two samples; it gives up on one that stands
// still.
func (w *preprocessWorker) look(f func()) {
	for range 100 {
		if w.mu.TryLock() {
			defer w.mu.Unlock()
			f()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// partImages is how many samples a thread takes at a time.
const partImages = 1

// name notes why a file went bad.
func (w *preprocessWorker) name(file string, err error) {
	if w.bad == nil {
		w.bad = map[string]string{}
	}
	w.bad[file] = oneLine(err)
}
