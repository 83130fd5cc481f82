package cuda

import (
	"errors"
	"sync"
	"time"

	"dlbench/bench/pace"
)

// LinkLoader is a GPU whose copies can be made to last as long as those over a slower
// link: a real copy is repeated whole, and the last time cut short, until the time
// is full. What arrives is what one copy brings; the bus and the host's memory work
// for as long as they would, and harder, since they carry more bytes.
type LinkLoader interface {
	// Load measures the real copy, and has later copies of that many bytes, between
	// that kind of host memory and the device, in that direction, last as long as
	// the assumed link takes for them. Copies of other kinds and sizes stay as they
	// are. Its error wraps ErrTooSlow where the real link is the slower one.
	Load(dst, src *Buffer) (Load, error)
	// Achieved are the times of the loaded copies that ended since it was last
	// called, by the device's clock, and the host's for pageable memory.
	Achieved() []time.Duration
}

// ErrTooSlow says that a real link is slower than the one it is to stand in for.
var ErrTooSlow = errors.New("the real link is slower than the link asked for")

// Load is what a copy over a loaded link is made of.
type Load struct {
	Target time.Duration // that a copy has to last
	Real   time.Duration // that the real one lasts
	Copies int           // whole ones
	Rest   int           // B of the last one; with pageable memory it is cut as the time is left, and this is the first guess
}

// Bytes is what a copy of n bytes carries in all.
func (l Load) Bytes(n int) int64 { return int64(l.Copies)*int64(n) + int64(l.Rest) }

// Copies in flight whose times are kept, and times kept until Achieved is called.
const (
	loadRing     = 64
	mostAchieved = 4096
)

// leastRest is the least copy that is worth making: below, a copy's time hardly
// depends on its size.
const leastRest = 4 << 10

// loaded is a device behind a loaded link.
type loaded struct {
	Device
	spec Spec

	mu       sync.Mutex // guards what follows
	loads    map[loadKey]Load
	ring     [loadRing]struct{ begun, ended Event } // of the copies from page-locked memory, in turn
	next     int                                    // copy whose events come next
	taken    int                                    // copies whose times were taken
	achieved []time.Duration
	short    [2]Buffer // destination and source of a copy that is cut short
	stream   Stream    // for Load
}

type loadKey struct {
	kind  Kind // of the host's memory
	out   bool // to the host
	bytes int
}

// NewLoaded returns d behind the link of s, whose Loaded is true. Closing it closes d.
func NewLoaded(d Device, s Spec) Device {
	return &loaded{Device: d, spec: s, loads: map[loadKey]Load{}}
}

func (d *loaded) Info() Info {
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
func (d *loaded) Copy(dst, src *Buffer, s Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := keyOf(dst, src)
	l, ok := d.loads[k]
	if !ok {
		return d.Device.Copy(dst, src, s)
	}
	if err := checkCopy(dst, src); err != nil {
		return err
	}
	if k.kind == Pageable {
		return d.hold(l, dst, src, s)
	}
	return d.repeat(l, dst, src, s)
}

// cut copies the first n bytes. It wants d.mu held, and allocates nothing.
func (d *loaded) cut(n int, dst, src *Buffer, s Stream) error {
	d.short = [2]Buffer{*dst, *src}
	for i := range d.short {
		b := &d.short[i]
		b.Size = n
		if b.Host != nil {
			b.Host = b.Host[:n]
		}
	}
	return d.Device.Copy(&d.short[0], &d.short[1], s)
}

// repeat queues the copies that l is made of between two events.
func (d *loaded) repeat(l Load, dst, src *Buffer, s Stream) error {
	if d.next-d.taken == loadRing {
		if err := d.take(); err != nil {
			return err
		}
		if d.next-d.taken == loadRing {
			d.taken++ // still in flight: its time is not kept
		}
	}
	e := &d.ring[d.next%loadRing]
	for _, e := range []*Event{&e.begun, &e.ended} {
		if *e == 0 {
			var err error
			if *e, err = d.NewEvent(); err != nil {
				return err
			}
		}
	}
	if err := d.Record(e.begun, s); err != nil {
		return err
	}
	for range l.Copies {
		if err := d.Device.Copy(dst, src, s); err != nil {
			return err
		}
	}
	if l.Rest > 0 {
		if err := d.cut(l.Rest, dst, src, s); err != nil {
			return err
		}
	}
	if err := d.Record(e.ended, s); err != nil {
		return err
	}
	d.next++
	return nil
}

// take notes the times of the copies that have ended, in their order.
func (d *loaded) take() error {
	for ; d.taken < d.next; d.taken++ {
		e := d.ring[d.taken%loadRing]
		if ok, err := d.Reached(e.ended); err != nil || !ok {
			return err
		}
		t, err := d.Elapsed(e.begun, e.ended)
		if err != nil {
			return err
		}
		d.keep(t)
	}
	return nil
}

func (d *loaded) keep(t time.Duration) {
	if len(d.achieved) < mostAchieved {
		d.achieved = append(d.achieved, t)
	}
}

// shortLeft is how much time may be left that no copy fills: about what a small
// copy takes with its call.
const shortLeft = 50 * time.Microsecond

// hold copies pageable memory, which holds its caller anyway, until the time that
// the assumed link takes is over.
func (d *loaded) hold(l Load, dst, src *Buffer, s Stream) error {
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
		err := d.cut(min(max(n, leastRest), src.Size), dst, src, s)
		if err == nil {
			err = d.SyncStream(s)
		}
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
	d.keep(pace.Real.Now() - start)
	return nil
}

func (d *loaded) Achieved() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.take() != nil { // whoever uses the device next will know
		return nil
	}
	a := d.achieved
	d.achieved = nil
	return a
}

// Close frees what the device holds; what was loaded is forgotten.
func (d *loaded) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.loads)
	clear(d.ring[:])
	d.stream, d.next, d.taken, d.achieved = 0, 0, 0, nil
	return d.Device.Close()
}

var _ LinkLoader = (*loaded)(nil)
