package loader

import (
	"sync"
	"sync/atomic"
)

// scanners is how many directories or shards are scanned at once: more than there
// may be processors, since scanning waits for metadata.
const scanners = 16

// inParallel calls do(0) to do(n-1), up to workers at a time; with one worker on
// the caller's thread.
func inParallel(n, workers int, do func(i int)) {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
