package bench

import (
	"fmt"
	"slices"
	"time"
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

// progress of a case in one run, as its rule sees it.
type progress struct {
	count  int           // samples
	judged int           // of them, from rounds whose noise is known
	quiet  int           // of those, from quiet rounds
	spent  time.Duration // in samples
	width  float64       // half of the deciding interval's over the median; 0 where there is to be none
	check  error         // from a Checker
}

// enough says whether the case is measured well enough, or long enough; then
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
	switch wide := p.width > r.Target; {
	case wide && !over:
		return false, ""
	case wide:
		why = fmt.Sprintf("not precise to ±%.0f %% within the time for a case (--timeout allows more)", 100*r.Target)
	case p.quiet < r.Samples:
		why = "the machine was busy: too few quiet samples"
	}
	return true, why
}

// inRun is how many of n samples a run takes that has lasted so long, of a case that has as many
// runs as restarts: all of them, or its part once the budget is spent, since the interval is that of
// all runs together.
func (r Rule) inRun(n, restarts int, spent time.Duration) int {
	if r.Exact || restarts < 2 || spent < r.Budget {
		return n
	}
	return (n + restarts - 1) / restarts
}

// Repetitions is how many repetitions make a sample of at least minTime when one
// lasted t, at most limit.
func Repetitions(t, minTime time.Duration, limit int) int {
	if t <= 0 {
		return limit
	}
	return max(1, min(int((minTime+t-1)/t), limit))
}

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
	for i := range chunks {
		chunks[i] = multiply(spinWork)
	}
	return lost(chunks)
}

func multiply(n int) time.Duration {
	t := time.Now()
	x := Sink + 1
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	Sink = x
	return time.Since(t)
}

// spinWork is how many multiplications make a chunk of about chunkWork.
var spinWork = func() int {
	n := 1 << 10
	for n < 1<<24 && multiply(n) < chunkWork {
		n *= 2
	}
	return n
}()

// lost is the share of the total that lies above what it would be if every chunk
// lasted as long as the quarter-quantile one. The minimum would take a turbo clock
// that lasts one chunk for the norm.
func lost(chunks []time.Duration) float64 {
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
