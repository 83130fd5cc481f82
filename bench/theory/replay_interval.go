package theory

import (
	"math/rand/v2"
	"slices"
)

// Resamples is how often Interval replays, fewResamples with many workers, where it takes
// long and they even out what differs between batches.
const (
	Resamples    = 24
	fewResamples = 8
	manyWorkers  = 16
)

// stretch is how many batches in a row a resample keeps together: neighbours are
// alike, on a machine that is busy for a while.
const stretch = 4

// Interval replays the loader Resamples times, each with other stretches of the parts
// drawn at random, and returns the least and the most that stat is: what the spread of
// the measured parts leaves open, an interval of about 92 %. The draws are the same
// each time.
func (r Replay) Interval(stat func(Replayed) float64) (lo, hi float64) {
	random := rand.New(rand.NewPCG(1, 1))
	n := r.Batches
	if n < 1 {
		n = replayedBatches
	}
	times := Resamples
	if r.Workers > manyWorkers {
		times = fewResamples
	}
	var values []float64
	for range times {
		x := r
		x.Read, x.Work, x.Copy, x.Hold = resample(random, r.Read, n), resample(random, r.Work, n), resample(random, r.Copy, n), resample(random, r.Hold, n)
		values = append(values, stat(x.Run()))
	}
	slices.Sort(values)
	return values[0], values[len(values)-1]
}

// resample draws about n values of part in stretches.
func resample(random *rand.Rand, part []float64, n int) (drawn []float64) {
	if len(part) < 2 {
		return part
	}
	for len(drawn) < min(n, 4*len(part)) {
		from := random.IntN(len(part))
		for i := range stretch {
			drawn = append(drawn, part[(from+i)%len(part)])
		}
	}
	return drawn
}

// Times returns part with every time multiplied.
func Times(part []float64, by float64) []float64 {
	x := make([]float64, len(part))
	for i := range part {
		x[i] = by * part[i]
	}
	return x
}
