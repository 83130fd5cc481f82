package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"dlbench/cuda"
	"dlbench/results"
)

// linkLoad is what a case knows of the loaded link that it copies over. Without such a
// device loader is nil, and nothing is checked or reported.
type LinkLoad struct {
	Loader   cuda.LinkLoader
	Load     cuda.Load
	bytes    int64           // of a copy
	achieved []time.Duration // by the copies of samples
}

// loadLink has copies like p last as long as over the link of d, if d is loaded.
func NewLinkLoad(d cuda.Device, p CopyPair) (l LinkLoad, err error) {
	loader, ok := d.(cuda.LinkLoader)
	if !ok {
		return l, nil
	}
	l.Loader, l.bytes = loader, int64(p.Src.Size)
	l.Load, err = loader.Load(p.Dst, p.Src)
	return l, err
}

// harvest takes the times of the copies that have ended; those of warm-ups are not kept.
func (l *LinkLoad) Harvest(keep bool) {
	if l.Loader == nil {
		return
	}
	if a := l.Loader.Achieved(); keep {
		l.achieved = append(l.achieved, a...)
	}
}

// loadShare is the share of the target time by which the median of loaded copies may
// miss it.
const loadShare = 0.01

// check fails when the last copies did not take as long as over the link that they stand
// for, within 1 %.
func (l *LinkLoad) Check() error {
	if missed := l.missed(l.achieved[max(0, len(l.achieved)-LateSamples):]); missed != "" {
		return fmt.Errorf("the loaded link missed its time: %s: the real link or its device was busy with something else, or the link's speed changed", missed)
	}
	return nil
}

// missed says by how much the median of times misses the target; "" within 1 %.
func (l *LinkLoad) missed(times []time.Duration) string {
	if len(times) == 0 {
		return ""
	}
	m := medianTime(times)
	off := m.Seconds()/l.Load.Target.Seconds() - 1
	if math.Abs(off) <= loadShare {
		return ""
	}
	return fmt.Sprintf("copies took %v (median) instead of %v, %+.1f %%", m, l.Load.Target, 100*off)
}

func medianTime(times []time.Duration) time.Duration {
	var seconds []float64
	for _, t := range times {
		seconds = append(seconds, t.Seconds())
	}
	return time.Duration(math.Round(1e9 * results.Median(seconds)))
}

// Report returns what loading the link took: above all the bytes that were really carried.
// It warns where the last copies kept their time and all together did not.
func (l *LinkLoad) Report(r *results.Result) (p results.LoadedLink) {
	if l.Loader == nil {
		return p
	}
	carried := l.Load.Bytes(int(l.bytes))
	p.TimeLoaded = &results.TimeLoaded{Target: l.Load.Target.Seconds(), Real: l.Load.Real.Seconds(), Copies: l.Load.Copies, RestBytes: l.Load.Rest, BytesCarried: carried}
	if len(l.achieved) > 0 {
		p.TimeLoaded.Achieved = new(medianTime(l.achieved).Seconds())
	}
	if missed := l.missed(l.achieved); missed != "" {
		r.Warnings = append(r.Warnings, "of all samples, busy ones among them, "+missed)
	}
	p.MemoryReads = fmt.Sprintf("each copy carries its bytes %.2f times: main memory works that much harder than over such a link", float64(carried)/float64(l.bytes))
	return p
}

type CopyPair struct{ Dst, Src *cuda.Buffer }

// Limits of a case's self-checks.
const (
	LateShare   = 0.01 // of the copy's time: a later end is too late
	LatePart    = 0.05 // of all copies that may be too late (the p95)
	LateSamples = 40   // the last samples, which the check looks at: a burst of noise may pass
)

// tooLate counts what is above limit, in seconds.
func TooLate(late []time.Duration, limit float64) (n int) {
	for _, l := range late {
		if l.Seconds() > limit {
			n++
		}
	}
	return n
}

// touch reads one word of each cache line.
func Touch(b []byte) {
	var x byte
	for i := 0; i < len(b); i += 64 {
		x += b[i]
	}
	Sink += uint64(x)
}

// paceMargin is the share of its own time by which what is paced may be late.
const PaceMargin = 0.01

// shortestLoaded is the shortest copy over a loaded link: 1 % of it is about what an
// event resolves.
const ShortestLoaded = 50 * time.Microsecond

const TooShortToLoad = "too short for a link to be loaded within 1 %"

// randomize fills b with bytes that follow from seed.
func Randomize(b []byte, seed uint64) {
	r := rand.NewPCG(seed, 0x9e3779b97f4a7c15)
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, r.Uint64())
	}
	for i := range b {
		b[i] = byte(r.Uint64())
	}
}
