package bench

import "time"

// Limits of the self-checks of what is paced.
const (
	PaceMargin  = 0.01 // of its own time, by which the median may be late
	LateShare   = 0.01 // of a copy's time: a later end is too late
	LatePart    = 0.05 // of all copies that may be too late (the p95)
	LateSamples = 40   // the last samples, which the check looks at: a burst of noise may pass
)

// TooLate counts what is above limit, in seconds.
func TooLate(late []time.Duration, limit float64) (n int) {
	for _, l := range late {
		if l.Seconds() > limit {
			n++
		}
	}
	return n
}
