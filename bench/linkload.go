package bench

import (
	"fmt"
	"math"
	"time"

	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// LinkLoad is what a case knows of the loaded link that it copies over. Without such a
// device Loader is nil, and nothing is checked or reported.
type LinkLoad struct {
	Loader   *cuda.Loaded
	Load     cuda.Load
	bytes    int64     // of a copy
	achieved []float64 // s, by the copies of samples
}

// NewLinkLoad has copies like that of src last as long as over the link of d, if d is loaded.
func NewLinkLoad(d cuda.Device, dst, src *cuda.Buffer) (l LinkLoad, err error) {
	loader, ok := d.(*cuda.Loaded)
	if !ok {
		return l, nil
	}
	l.Loader, l.bytes = loader, int64(src.Size)
	l.Load, err = loader.Load(dst, src)
	return l, err
}

// Harvest takes the times of the copies that have ended; those of warm-ups are not kept.
func (l *LinkLoad) Harvest(keep bool) {
	if l.Loader == nil {
		return
	}
	for _, t := range l.Loader.Achieved() {
		if keep {
			l.achieved = append(l.achieved, t.Seconds())
		}
	}
}

// loadShare is the share of the target time by which the median of loaded copies may
// miss it.
const loadShare = 0.01

// Check fails when the last copies did not take as long as over the link that is
// emulated, within 1 %.
func (l *LinkLoad) Check() error {
	if missed := l.missed(l.achieved[max(0, len(l.achieved)-LateSamples):]); missed != "" {
		return fmt.Errorf("the loaded link missed its time: %s: the real link or its device was busy with "+
			"something else, or the link's speed changed", missed)
	}
	return nil
}

// missed says by how much the median of times, in s, misses the target; "" within 1 %.
func (l *LinkLoad) missed(times []float64) string {
	median := results.Median(times)
	off := median/l.Load.Target.Seconds() - 1
	if len(times) == 0 || math.Abs(off) <= loadShare {
		return ""
	}
	return fmt.Sprintf("copies took %v (median) instead of %v, %+.1f %%",
		time.Duration(math.Round(1e9*median)), l.Load.Target, 100*off)
}

// Report returns what loading the link needed: above all the bytes that were really carried.
// It warns where the last copies kept their time and all together did not.
func (l *LinkLoad) Report(r *results.Result) (p results.LoadedLink) {
	if l.Loader == nil {
		return p
	}
	carried := l.Load.Bytes(int(l.bytes))
	p.TimeLoaded = &results.TimeLoaded{Target: l.Load.Target.Seconds(), Real: l.Load.Real.Seconds(),
		Copies: l.Load.Copies, RestBytes: l.Load.Rest, BytesCarried: carried}
	if len(l.achieved) > 0 {
		p.TimeLoaded.Achieved = new(results.Median(l.achieved))
	}
	r.Warnf("%s", results.After("of all samples, busy ones among them, ", l.missed(l.achieved)))
	p.MemoryReads = fmt.Sprintf("each copy carries its bytes %.2f times: main memory works that much harder "+
		"than over such a link", float64(carried)/float64(l.bytes))
	return p
}

// shortestLoaded is the shortest copy over a loaded link: 1 % of it is about what an
// event resolves.
const shortestLoaded = 50 * time.Microsecond

// TooShortToLoad says why copies of so many bytes over the link of a device cannot be
// measured, if it is loaded; "" if they can.
func TooShortToLoad(d cuda.Info, bytes int64) string {
	if d.Loaded && theory.Time(bytes, d.Rates.Pinned) < shortestLoaded.Seconds() {
		return "too short for a link to be loaded within 1 %"
	}
	return ""
}

// Limits of the self-checks of what is paced.
const (
	PaceMargin  = 0.01 // of its own time, by which the median may be late
	LateShare   = 0.01 // of a copy's time: a later end is too late
	latePart    = 0.05 // of all copies that may be too late (the p95)
	LateSamples = 40   // the last samples, which are checked: a burst of noise may pass
)

// TooLate counts what is above limit, in seconds, where that is too many of them; else it is 0.
func TooLate(late []time.Duration, limit float64) (n int) {
	for _, l := range late {
		if l.Seconds() > limit {
			n++
		}
	}
	if n <= 1 || float64(n) <= latePart*float64(len(late)) {
		return 0
	}
	return n
}
