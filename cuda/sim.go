package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"dlbench/bench/pace"
)

// Pacer is a device whose work ends at deadlines.
type Pacer interface {
	// Late is by how much the last wait for the device (SyncEvent, SyncStream, a
	// pageable Copy) ended after its deadline; a wait that began after the
	// deadline counts 0. overrun says that a pageable Copy was late because its
	// own work took longer: this host copies slower than the assumed link.
	Late() (late time.Duration, overrun bool)
}

// bounceSize is the size of the buffer through which pageable memory passes, as
// in drivers, which stage it in pinned chunks. It stays in a core's cache.
const bounceSize = 1 << 20

// sim is an assumed link. Its streams, directions and compute engine are virtual
// clocks; waiting for one is waiting for a deadline.
type sim struct {
	info   Info
	clock  pace.Clock
	engine [3]pace.Line // host to device, device to host, compute

	mu      sync.Mutex // guards what follows
	streams []time.Duration
	events  []simEvent
	late    time.Duration
	overrun bool
	bounce  []byte
}

type simEvent struct {
	at       time.Duration
	recorded bool
}

const (
	engineIn = iota
	engineOut
	engineStep
)

// NewSim returns a device that stands in for a GPU behind the link of s, and
// waits on c.
func NewSim(s Spec, c pace.Clock) Device {
	return &sim{clock: c, info: Info{Spec: s.Text, Assumed: true, Name: "assumed " + s.Link.Title(), Backend: "sim", Link: s.Link, Rates: s.Rates, Source: s.Source()}}
}

func (d *sim) Info() Info { return d.info }

func (d *sim) Bind() (func(), error) {
	runtime.LockOSThread()
	restore := pace.Sharpen()
	return func() { restore(); runtime.UnlockOSThread() }, nil
}

func (d *sim) Alloc(k Kind, n int) (*Buffer, error) {
	if n <= 0 {
		return nil, fmt.Errorf("allocate %d bytes: %w", n, InvalidValue)
	}
	b := &Buffer{Kind: k, Size: n}
	if k == OnDevice { // its bytes come with Settle
		b.Dev = 1
		b.free = func() error { b.mem, b.pending = nil, nil; return nil }
		return b, nil
	}
	b, err := AllocHost(n)
	if err != nil {
		return nil, err
	}
	b.Kind = k
	b.mem = b.Host
	return b, nil
}

// enqueue books work of length l on an engine, after all work in s.
func (d *sim) enqueue(s Stream, engine int, l time.Duration) (end time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, err := d.stream(s)
	if err != nil {
		return 0, err
	}
	*free = d.engine[engine].Reserve(max(d.clock.Now(), *free), l)
	return *free, nil
}

func (d *sim) Copy(dst, src *Buffer, s Stream) error {
	if err := checkCopy(dst, src); err != nil {
		return err
	}
	host, engine := src, engineIn
	if src.Kind == OnDevice {
		host, engine = dst, engineOut
	}
	rate := d.info.Rates.Pinned
	if host.Kind == Pageable {
		rate = d.info.Rates.Pageable
	}
	end, err := d.enqueue(s, engine, pace.Length(src.Size, rate))
	if err != nil {
		return err
	}
	dst.pending, dst.made = src, nil
	if host.Kind == Pageable {
		d.stage(host.Host[:src.Size], engine)
		overrun := d.clock.Now() > end
		d.clock.Until(end)
		d.setLate(d.clock.Now()-end, overrun)
	}
	return nil
}

// stage does what a driver's CPU does with pageable memory: it carries host
// through a bounce buffer.
func (d *sim) stage(host []byte, engine int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bounce == nil {
		d.bounce = make([]byte, bounceSize)
	}
	for len(host) > 0 {
		n := min(len(host), bounceSize)
		if engine == engineIn {
			copy(d.bounce, host[:n])
		} else {
			copy(host[:n], d.bounce)
		}
		host = host[n:]
	}
}

func (d *sim) Step(l time.Duration, s Stream) error {
	_, err := d.enqueue(s, engineStep, max(l, 0))
	return err
}

// Settle moves what finished copies into b would have brought.
func (d *sim) Settle(b *Buffer) error {
	src := b.pending
	if src == nil {
		return nil
	}
	b.pending = nil
	if src == b {
		return errors.New("settle: a buffer was copied to itself")
	}
	if err := d.Settle(src); err != nil {
		return err
	}
	if b.mem == nil {
		b.mem = make([]byte, b.Size)
	}
	if src.mem == nil { // device memory that nothing was copied to
		src.mem = make([]byte, src.Size)
	}
	if b.made != nil {
		b.made.Apply(b.mem, src.mem)
		return nil
	}
	copy(b.mem, src.mem[:src.Size])
	return nil
}

// Normalise has Settle do n.
func (d *sim) Normalise(dst, src *Buffer, n Normalisation, s Stream) error {
	if err := n.check(dst, src); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.stream(s); err != nil {
		return err
	}
	dst.pending, dst.made = src, &n
	return nil
}

var _ Pacer = (*sim)(nil)
