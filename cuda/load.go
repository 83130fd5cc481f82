package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"dlbench/bench/pace"
	"dlbench/bench/theory"
)

// Load is what a copy over a loaded link is made of.
type Load struct {
	Target time.Duration // that a copy has to last
	Real   time.Duration // that the real one lasts
	Copies int           // whole ones
	Rest   int           // B of the last one; for pageable memory a first guess, as the time that is left decides
}

// Bytes is what a copy of n bytes carries in all.
func (l Load) Bytes(n int) int64 { return int64(l.Copies)*int64(n) + int64(l.Rest) }

// fill makes l of n bytes in all, in copies of size.
func (l *Load) fill(n, size int) {
	n = max(n, size)
	l.Copies, l.Rest = n/size, n%size
	if l.Rest < leastRest/2 {
		l.Rest = 0
	}
}

// Limits of Load.
const (
	mostRepeats  = 512                    // copies of one: drivers' queues hold about a thousand
	loadSpan     = 4 * time.Millisecond   // that copies are measured over
	loadWithin   = 0.002                  // share of the target that is near enough
	loadPromise  = 0.01                   // beyond this share the link cannot be loaded
	loadTries    = 8                      // corrections
	loadWarm     = 20                     // measurements until the real copy is steady: an idle link wakes up
	longestBlock = 100 * time.Millisecond // before measured copies
)

// Limits of loaded copies.
const (
	loadRing  = 64                    // copies in flight whose times are kept
	leastRest = 4 << 10               // B of the least copy worth making: below, its time hardly depends on its size
	shortLeft = 50 * time.Microsecond // left that no copy fills: about what a small copy takes with its call
)

// Loaded is a GPU whose copies can be made to last as long as those over a slower
// link: a real copy is repeated whole, and the last time cut short, until the time
// is full. What arrives is what one copy brings; the bus and the host's memory work
// for as long as they would, and harder, since they carry more bytes.
type Loaded struct {
	Device
	spec theory.Device

	mu       sync.Mutex // guards what follows
	loads    map[loadKey]Load
	ring     [loadRing]struct{ begun, ended Event } // of the copies from page-locked memory, as a ring
	next     int                                    // copy whose events come next
	timed    int                                    // copies whose times were taken
	achieved []time.Duration
	short    [2]Buffer // destination and source of a copy that is cut short
	stream   Stream    // for Load
}

type loadKey struct {
	kind  Kind // of the host's memory
	out   bool // to the host
	bytes int
}

// newLoaded returns d behind the link of s, whose Loaded is true. Closing it closes d.
func newLoaded(d Device, s theory.Device) Device {
	return &Loaded{Device: d, spec: s, loads: map[loadKey]Load{}}
}

func (d *Loaded) Info() Info {
	i := d.Device.Info()
	i.Spec, i.Loaded, i.Link, i.Rates, i.Source = d.spec.Text, true, d.spec.Link, d.spec.Rates, d.spec.Source()
	return i
}

func keyOf(dst, src *Buffer) loadKey {
	if src.Kind == OnDevice {
		return loadKey{dst.Kind, true, src.Size}
	}
	return loadKey{src.Kind, false, src.Size}
}

// Copy queues a copy, as often as Load found that it takes.
func (d *Loaded) Copy(dst, src *Buffer, s Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := keyOf(dst, src)
	l, ok := d.loads[k]
	if !ok {
		return d.Device.Copy(dst, src, s)
	}
	if k.kind == Pageable {
		return d.stretch(l, dst, src, s)
	}
	return d.repeat(l, dst, src, s)
}

// cut copies the first n bytes. It wants d.mu held, and allocates nothing.
func (d *Loaded) cut(n int, dst, src *Buffer, s Stream) error {
	d.short = [2]Buffer{*dst, *src}
	for i := range d.short {
		b := &d.short[i]
		b.Size, b.Host = n, b.Host[:min(n, len(b.Host))]
	}
	return d.Device.Copy(&d.short[0], &d.short[1], s)
}

// repeat queues the copies that l is made of between two events.
func (d *Loaded) repeat(l Load, dst, src *Buffer, s Stream) error {
	if d.next-d.timed == loadRing {
		if err := d.collect(); err != nil {
			return err
		}
		d.timed = max(d.timed, d.next-loadRing+1) // one still in flight: its time is not kept
	}
	e := &d.ring[d.next%loadRing]
	if e.ended == 0 {
		begun, err1 := d.NewEvent()
		ended, err2 := d.NewEvent()
		if err := cmp.Or(err1, err2); err != nil {
			return err
		}
		e.begun, e.ended = begun, ended
	}
	err := d.Record(e.begun, s)
	for range l.Copies {
		err = cmp.Or(err, d.Device.Copy(dst, src, s))
	}
	if l.Rest > 0 {
		err = cmp.Or(err, d.cut(l.Rest, dst, src, s))
	}
	if err = cmp.Or(err, d.Record(e.ended, s)); err == nil {
		d.next++
	}
	return err
}

// collect notes the times of the copies that have ended, in their order.
func (d *Loaded) collect() error {
	for ; d.timed < d.next; d.timed++ {
		e := d.ring[d.timed%loadRing]
		if ok, err := d.Reached(e.ended); err != nil || !ok {
			return err
		}
		t, err := d.Elapsed(e.begun, e.ended)
		if err != nil {
			return err
		}
		d.achieved = append(d.achieved, t)
	}
	return nil
}

// stretch copies pageable memory, for which its caller waits anyway, until the time that
// the simulated link takes is over.
func (d *Loaded) stretch(l Load, dst, src *Buffer, s Stream) error {
	if err := d.SyncStream(s); err != nil { // which a pageable copy waits for
		return err
	}
	start := pace.Real.Now()
	deadline := start + l.Target
	each := l.Real
	for now := start; now == start || deadline-now > shortLeft; {
		n := src.Size
		if left := deadline - now; left < each {
			n = int(float64(n) * float64(left) / float64(each))
		}
		err := cmp.Or(d.cut(min(max(n, leastRest), src.Size), dst, src, s), d.SyncStream(s))
		if err != nil {
			return err
		}
		end := pace.Real.Now()
		if n == src.Size {
			each = end - now
		}
		now = end
	}
	pace.Real.Until(deadline)
	d.achieved = append(d.achieved, pace.Real.Now()-start)
	return nil
}

// Achieved are the times of the loaded copies that ended since it was last
// called, by the device's clock, and the host's for pageable memory.
func (d *Loaded) Achieved() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.collect() != nil { // whoever uses the device next will know
		return nil
	}
	a := d.achieved
	d.achieved = nil
	return a
}

// Load measures the real copy, and has later copies of that many bytes, between
// that kind of host memory and the device, in that direction, last as long as
// the simulated link takes for them. Copies of other kinds and sizes stay as they
// are.
func (d *Loaded) Load(dst, src *Buffer) (l Load, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := keyOf(dst, src)
	delete(d.loads, k)
	if d.stream == 0 {
		if d.stream, err = d.NewStream(); err != nil {
			return l, err
		}
	}
	l = Load{Target: pace.Length(src.Size, d.spec.Rates.Of(k.kind.String())), Copies: 1}
	if err = d.find(&l, k.kind, dst, src); err != nil {
		return l, fmt.Errorf("%s: a copy of %d bytes of %s memory takes %v, over the link asked for %v: %w",
			d.spec.Text, src.Size, k.kind, l.Real, l.Target, err)
	}
	d.timed, d.achieved = d.next, nil // those were trials
	d.loads[k] = l
	return l, nil
}

// find measures the real copy, of which l is one, and makes l of as many as fill its target.
func (d *Loaded) find(l *Load, kind Kind, dst, src *Buffer) (err error) {
	measure := d.queued
	if kind == Pageable {
		measure = d.waited
	}
	if l.Real, err = steady(func() (time.Duration, error) { return measure(*l, dst, src) }); err != nil {
		return err
	}
	switch n := l.Target / l.Real; {
	case float64(l.Real) > float64(l.Target)*(1+loadWithin):
		return errors.New("the real link is slower than the link asked for")
	case n > mostRepeats:
		return fmt.Errorf("that is %d real copies, at most %d can be queued: ask for a faster link or a higher gbps=",
			n, mostRepeats)
	}
	l.fill(int(float64(src.Size)*float64(l.Target)/float64(l.Real)), src.Size)
	if kind == Pageable {
		return nil
	}
	return d.correct(l, dst, src)
}

// correct measures what l comes to and mends its last copy until it is near enough.
func (d *Loaded) correct(l *Load, dst, src *Buffer) error {
	half, err := d.queued(Load{Rest: max(1, src.Size/2)}, dst, src)
	if err != nil {
		return err
	}
	perByte := max(float64(l.Real-half), 1) / float64(src.Size-src.Size/2)
	for try := 0; ; try++ {
		t, err := d.queued(*l, dst, src)
		off := float64(l.Target - t)
		share := math.Abs(off) / float64(l.Target)
		switch {
		case err != nil:
			return err
		case share <= loadWithin || try == loadTries && share <= loadPromise:
			return nil
		case try == loadTries:
			return fmt.Errorf("%d copies and %d bytes took %v: its time does not hold still", l.Copies, l.Rest, t)
		}
		l.fill(int(l.Bytes(src.Size))+int(off/perByte), src.Size)
	}
}

// steady measures until two in a row agree, and returns the least: what is longer waited
// for something else.
func steady(measure func() (time.Duration, error)) (least time.Duration, err error) {
	least = time.Hour
	for last, tries := time.Duration(0), 0; tries < loadWarm; tries++ {
		t, err := measure()
		if err != nil {
			return 0, err
		}
		least = min(least, t)
		if (t - last).Abs() < t/100 {
			break
		}
		last = t
	}
	return max(least, 1), nil
}

// queued is how long one of several copies made as l takes by the device's clock,
// queued behind a step so that no host delay is in it; the median of three.
func (d *Loaded) queued(l Load, dst, src *Buffer) (time.Duration, error) {
	n := max(1, min(16, int(loadSpan/max(l.Target, l.Real, 1)), mostRepeats/max(1, l.Copies)))
	block := time.Millisecond
	return median(func() (time.Duration, error) {
		for ; ; block *= 2 {
			t, late, err := d.behind(block, n, l, dst, src)
			if err != nil || !late || block >= longestBlock {
				return t / time.Duration(n), err
			}
		}
	})
}

// behind is how long n copies made as l take behind a step of block. late says that the
// step was over before all were queued.
func (d *Loaded) behind(block time.Duration, n int, l Load, dst, src *Buffer) (t time.Duration, late bool, err error) {
	first := d.next
	// The small copy starts the copy engine.
	err = cmp.Or(d.Step(block, d.stream), d.cut(min(leastRest, src.Size), dst, src, d.stream))
	for range n {
		err = cmp.Or(err, d.repeat(l, dst, src, d.stream))
	}
	if err != nil {
		return 0, false, err
	}
	begun, ended := d.ring[first%loadRing].begun, d.ring[(d.next-1)%loadRing].ended
	late, err1 := d.Reached(begun)
	err2 := d.SyncEvent(ended)
	t, err3 := d.Elapsed(begun, ended)
	return t, late, cmp.Or(err1, err2, err3)
}

// waited is how long the caller of a real copy of pageable memory waits until it is
// complete; the median of three.
func (d *Loaded) waited(_ Load, dst, src *Buffer) (time.Duration, error) {
	return median(func() (time.Duration, error) {
		start := time.Now()
		err := cmp.Or(d.Device.Copy(dst, src, d.stream), d.SyncStream(d.stream))
		return time.Since(start), err
	})
}

// median is the median of three measurements.
func median(measure func() (time.Duration, error)) (time.Duration, error) {
	var times [3]time.Duration
	for i := range times {
		var err error
		if times[i], err = measure(); err != nil {
			return 0, err
		}
	}
	slices.Sort(times[:])
	return times[1], nil
}
