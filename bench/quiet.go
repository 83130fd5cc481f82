package bench

import (
	"slices"
	"time"
)

// Limits of the spin control: a round in which more than noisyShare of a spin was
// lost to others is noisy.
const (
	spinChunks = 20
	chunkWork  = 50 * time.Microsecond
	noisyShare = 0.05
)

// Sink keeps the spin's result alive.
var Sink uint64

// spin does the same small piece of arithmetic spinChunks times and returns the
// share of the time that went elsewhere: interrupts, other processes, and on
// cloud machines the time that the hypervisor steals and hides.
func spin() float64 {
	chunks := make([]time.Duration, spinChunks)
	work := spinWork
	for i := range chunks {
		t := time.Now()
		x := Sink + 1
		for range work {
			x = x*6364136223846793005 + 1442695040888963407
		}
		Sink = x
		chunks[i] = time.Since(t)
	}
	return lost(chunks)
}

// spinWork is how many multiplications make a chunk of about chunkWork.
var spinWork = func() int {
	n := 1 << 10
	for {
		t := time.Now()
		x := Sink + 1
		for range n {
			x = x*6364136223846793005 + 1442695040888963407
		}
		Sink = x
		if time.Since(t) >= chunkWork || n >= 1<<24 {
			return n
		}
		n *= 2
	}
}()

// lost is the share of the total that lies above what it would be if every chunk
// took as long as the quarter-quantile one. The minimum would take a turbo clock
// that lasts one chunk for the norm.
func lost(chunks []time.Duration) float64 {
	if len(chunks) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(chunks))
	var total, excess time.Duration
	norm := sorted[len(sorted)/4]
	for _, c := range chunks {
		total += c
		excess += max(0, c-norm)
	}
	if total <= 0 {
		return 0
	}
	return float64(excess) / float64(total)
}
