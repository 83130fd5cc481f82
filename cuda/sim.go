package cuda

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"dlbench/bench/pace"
	"dlbench/bench/theory"
)

// bounceSize is the size of the buffer through which pageable memory passes, as
// in drivers, which stage it in pinned chunks. It stays in a core's cache.
const bounceSize = 1 << 20

// sim is a simulated link. Its streams, directions and compute engine are virtual
// clocks; waiting for one is waiting for a deadline.
type sim struct {
	info   Info
	clock  pace.Clock
	engine [3]pace.Line // host to device, device to host, compute

	mu     sync.Mutex      // guards what follows
	points []time.Duration // by the handles of streams and events, which are numbers from 1
	waited time.Duration   // for this deadline, last
	late   time.Duration   // by how much that was missed
	bounce [bounceSize]byte
}

const (
	engineIn = iota
	engineOut
	engineStep
)

// NewSim returns a device that stands in for a GPU behind the link of s, and
// waits on c.
func NewSim(s theory.Device, c pace.Clock) Device {
	return &sim{clock: c, info: Info{Spec: s.Text, Assumed: true, Name: "simulated " + s.Link.Title(), Backend: "sim",
		Link: s.Link, Rates: s.Rates, Source: s.Source()}}
}

func (d *sim) Info() Info { return d.info }

func (d *sim) Bind() (func(), error) {
	runtime.LockOSThread()
	restore := pace.Sharpen()
	return func() { restore(); runtime.UnlockOSThread() }, nil
}

func (d *sim) Alloc(k Kind, n int) (*Buffer, error) {
	if k == OnDevice { // its bytes come with Settle
		b := &Buffer{Kind: k, Size: n, Dev: 1}
		b.free = func() error { b.mem, b.pending = nil, nil; return nil }
		return b, nil
	}
	b, err := AllocHost(n)
	if err != nil {
		return nil, err
	}
	b.Kind, b.mem = k, b.Host
	return b, nil
}

// enqueue books work of length l on an engine, after all work in s, and returns when it
// ends.
func (d *sim) enqueue(s Stream, engine int, l time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	end := d.engine[engine].Reserve(max(d.clock.Now(), d.points[s-1]), l)
	d.points[s-1] = end
	return end
}

func (d *sim) Copy(dst, src *Buffer, s Stream) error {
	if err := checkCopy(dst, src); err != nil {
		return err
	}
	host, engine := src, engineIn
	if src.Kind == OnDevice {
		host, engine = dst, engineOut
	}
	end := d.enqueue(s, engine, pace.Length(src.Size, d.info.Rates.Of(host.Kind.String())))
	dst.pending = src
	if host.Kind == Pageable {
		d.stage(host.Host[:src.Size], engine)
		return d.await(end)
	}
	return nil
}

// stage does what a driver's CPU does with pageable memory: it copies host
// through a bounce buffer.
func (d *sim) stage(host []byte, engine int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(host) > 0 {
		if engine == engineIn {
			host = host[copy(d.bounce[:], host):]
		} else {
			host = host[copy(host, d.bounce[:]):]
		}
	}
}

func (d *sim) Step(l time.Duration, s Stream) error {
	d.enqueue(s, engineStep, max(l, 0))
	return nil
}

// Settle copies the bytes that finished copies into b would have brought.
func (d *sim) Settle(b *Buffer) error {
	src := b.pending
	if src == nil {
		return nil
	}
	b.pending = nil
	err := d.Settle(src)
	for _, x := range []*Buffer{b, src} {
		if x.mem == nil { // device memory that nothing was copied to
			x.mem = make([]byte, x.Size)
		}
	}
	copy(b.mem, src.mem[:src.Size])
	return err
}

// Normalise does nothing: no time is assumed for it.
func (d *sim) Normalise(_, _ *Buffer, _ Normalisation, _ Stream) error { return NotSupported }

// Work does nothing: no clock is assumed.
func (d *sim) Work(int, *Buffer, Stream) error { return NotSupported }

// newPoint returns the handle of a new stream or event.
func (d *sim) newPoint() uintptr {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.points = append(d.points, 0)
	return uintptr(len(d.points))
}

func (d *sim) NewStream() (Stream, error) { return Stream(d.newPoint()), nil }
func (d *sim) NewEvent() (Event, error)   { return Event(d.newPoint()), nil }
func (d *sim) CloseStream(Stream) error   { return nil }
func (d *sim) CloseEvent(Event) error     { return nil }
func (d *sim) Close() error               { return nil }

// NewBlockingEvent returns an event: all waits sleep until shortly before the deadline.
func (d *sim) NewBlockingEvent() (Event, error) { return d.NewEvent() }

// at is when a stream's work ends, or an event is reached, by the device's clock.
func (d *sim) at(handle uintptr) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.points[handle-1]
}

func (d *sim) Record(e Event, s Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.points[e-1] = max(d.clock.Now(), d.points[s-1])
	return nil
}

func (d *sim) WaitEvent(s Stream, e Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.points[s-1] = max(d.points[s-1], d.points[e-1])
	return nil
}

func (d *sim) Reached(e Event) (bool, error) { return d.clock.Now() >= d.at(uintptr(e)), nil }
func (d *sim) SyncEvent(e Event) error       { return d.await(d.at(uintptr(e))) }
func (d *sim) SyncStream(s Stream) error     { return d.await(d.at(uintptr(s))) }

func (d *sim) await(deadline time.Duration) error {
	late := time.Duration(0)
	if d.clock.Now() < deadline {
		d.clock.Until(deadline)
		late = d.clock.Now() - deadline
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if deadline != d.waited {
		d.waited, d.late = deadline, late
	}
	return nil
}

func (d *sim) Late() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.late
}

func (d *sim) Elapsed(start, stop Event) (time.Duration, error) {
	from, to := d.at(uintptr(start)), d.at(uintptr(stop))
	if d.clock.Now() < max(from, to) {
		return 0, fmt.Errorf("elapsed: %w", NotReady)
	}
	return to - from, nil
}
