package pcie

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// Copies beside: how long the queue lasts that a device is given at a time, and how
// many copies it has at most; how long a device may take to begin and to come to an
// end.
const (
	besideSpan  = 30 * time.Millisecond
	mostBeside  = 64
	besideLimit = 10 * time.Second
)

// beside copies over a device, on a thread of its own, for as long as it is told to:
// what is measured meanwhile is measured under that load. Its queue is never empty,
// and it counts the times that it was.
type beside struct {
	device cuda.Device
	dir    string
	turns  chan chan struct{} // each is closed to end a turn
	begun  chan struct{}      // one for each turn, when its first copy has ended
	ended  chan error         // one for opening, and one for each turn; closed when the thread ends
	limit  time.Duration      // for the device to begin, and to come to an end
	stuck  bool               // it did not: nothing more is waited for
	gaps   atomic.Int64
	copies atomic.Int64

	pair   bench.CopyPair
	stream cuda.Stream
	events [mostBeside]cuda.Event
	depth  int // copies queued at a time
	each   time.Duration
}

// newBeside starts the thread, which allocates what it copies. It returns what it
// started with an error, too.
func newBeside(d cuda.Device, dir string, bytes int64, seed uint64, cpus []int, limit time.Duration) (*beside, error) {
	b := &beside{device: d, dir: dir, limit: limit, turns: make(chan chan struct{}), begun: make(chan struct{}, 1), ended: make(chan error, 1), depth: 4}
	go b.thread(int(bytes), seed, cpus)
	return b, b.wait()
}

var errBesideStuck = fmt.Errorf("a copy beside another %w", bench.ErrStuck)

// wait is for the end of opening, of a turn, or of the thread.
func (b *beside) wait() error {
	if b.stuck {
		return errBesideStuck
	}
	select {
	case err := <-b.ended:
		return err
	case <-time.After(b.limit):
		b.stuck = true
		return errBesideStuck
	}
}

func (b *beside) thread(bytes int, seed uint64, cpus []int) {
	defer close(b.ended)
	unbind, err := b.device.Bind() // locks the thread
	if err != nil {
		b.ended <- err
		return
	}
	defer unbind()
	restore, err := bench.Pin(cpus)
	if err == nil {
		defer restore()
		err = b.open(bytes, seed)
	}
	b.ended <- err
	for stop := range b.turns {
		err := b.turn(stop)
		b.ended <- err
	}
	b.ended <- b.close()
}

func (b *beside) open(bytes int, seed uint64) (err error) {
	d := b.device
	if b.stream, err = d.NewStream(); err != nil {
		return err
	}
	for i := range b.events {
		if b.events[i], err = d.NewEvent(); err != nil {
			return err
		}
	}
	onHost, err := d.Alloc(cuda.Pinned, bytes)
	if err != nil {
		return err
	}
	b.pair.Src = onHost
	bench.Randomize(onHost.Host, seed)
	if b.pair.Dst, err = d.Alloc(cuda.OnDevice, bytes); err != nil {
		return err
	}
	if b.dir == results.D2H {
		b.pair.Dst, b.pair.Src = b.pair.Src, b.pair.Dst
	}
	return nil
}

func (b *beside) close() error {
	errs := []error{b.pair.Src.Free(), b.pair.Dst.Free()}
	for _, e := range b.events {
		if e != 0 {
			errs = append(errs, b.device.CloseEvent(e))
		}
	}
	if b.stream != 0 {
		errs = append(errs, b.device.CloseStream(b.stream))
	}
	return errors.Join(errs...)
}

// queue puts copy number n into the stream, and its event behind it.
func (b *beside) queue(n int) error {
	if err := b.device.Copy(b.pair.Dst, b.pair.Src, b.stream); err != nil {
		return err
	}
	return b.device.Record(b.events[n%mostBeside], b.stream)
}

// turn copies until stop is closed. It sleeps between looks at its queue: a wait in
// the driver would take a CPU from whoever measures.
func (b *beside) turn(stop <-chan struct{}) error {
	d := b.device
	done, queued := 0, 0
	for ; queued < b.depth; queued++ {
		if err := b.queue(queued); err != nil {
			return err
		}
	}
	if err := d.SyncEvent(b.events[0]); err != nil {
		return err
	}
	b.begun <- struct{}{}
	for {
		select {
		case <-stop:
			b.copies.Add(int64(done))
			return d.SyncStream(b.stream)
		default:
		}
		from := done
		for ; done < queued; done++ {
			ok, err := d.Reached(b.events[done%mostBeside])
			if err != nil {
				return err
			}
			if !ok {
				break
			}
		}
		if done == queued {
			b.gaps.Add(1)
		}
		if done >= from+2 {
			if err := b.measure(done); err != nil {
				return err
			}
		}
		for ; queued < done+b.depth; queued++ {
			if err := b.queue(queued); err != nil {
				return err
			}
		}
		time.Sleep(max(50*time.Microsecond, min(2*time.Millisecond, time.Duration(b.depth)*b.each/8)))
	}
}

// measure sets the depth of the queue by the time between the last two copies that
// ended.
func (b *beside) measure(done int) error {
	t, err := b.device.Elapsed(b.events[(done-2)%mostBeside], b.events[(done-1)%mostBeside])
	if err != nil || t <= 0 {
		return err
	}
	b.each = t
	b.depth = max(4, bench.Repetitions(t, besideSpan, mostBeside-2))
	return nil
}
