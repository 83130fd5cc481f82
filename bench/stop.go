package bench

import (
	"fmt"
	"time"

	"dlbench/results"
)

// Rule decides how long a case is measured.
type Rule struct {
	Samples  int           // at least so many, from quiet rounds
	Exact    bool          // exactly Samples, come what may
	Target   float64       // half-width of the median's interval over the median
	Budget   time.Duration // soft: no more samples than Samples after it
	Timeout  time.Duration // hard, for a case
	MinTime  time.Duration // least length of a sample
	MaxNoisy int           // how many times Samples may be taken in all while rounds are noisy
	MaxCheck int           // likewise while a self-check fails
	Most     int           // samples after which no more are taken for the interval's sake; 0: no bound
}

// progress of a case, as its rule sees it.
type progress struct {
	count, quiet int
	spent        time.Duration
	metric       *results.Metric // the deciding one; nil while it has no sample
	interval     bool            // whether the deciding metric has one at all
	check        error           // from a Checker
}

// enough tells whether the case is measured well enough, or long enough; then
// why, when the target was missed, says what it came to.
func (r Rule) enough(p progress) (done bool, why string) {
	if r.Exact && p.count >= r.Samples {
		return true, ""
	}
	if p.count < r.Samples {
		if p.spent >= r.Timeout {
			return true, fmt.Sprintf("stopped by --timeout %v before %d samples", r.Timeout, r.Samples)
		}
		return false, ""
	}
	over := p.spent >= r.Budget || r.Most > 0 && p.count >= r.Most
	if p.quiet < r.Samples && p.count < r.MaxNoisy*r.Samples && !over {
		return false, ""
	}
	if p.check != nil && p.count < r.MaxCheck*r.Samples && p.spent < r.Timeout && (r.Most == 0 || p.count < r.Most) {
		return false, ""
	}
	busy := ""
	if p.quiet < r.Samples {
		busy = "the machine was busy: too few samples are from quiet rounds"
	}
	if !p.interval || p.metric == nil {
		return true, busy
	}
	if w := results.HalfWidth(p.metric); w > r.Target {
		if !over {
			return false, ""
		}
		return true, fmt.Sprintf("the interval is wider than the target of ±%.0f %% after the time for a case (--timeout allows more)", 100*r.Target)
	}
	return true, busy
}

// Repetitions is how many repetitions make a sample of at least minTime when once
// took t, at most limit.
func Repetitions(t, minTime time.Duration, limit int) int {
	if t <= 0 {
		return limit
	}
	n := int((minTime + t - 1) / t)
	return max(1, min(n, limit))
}
