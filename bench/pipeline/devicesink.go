package pipeline

import (
	"errors"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// deviceSink copies batches to a device and has it work on each: a loader.Sink over
// cuda. Copies run on a stream of their own, steps on another, and events between them
// make no one wait on the host.
type deviceSink struct {
	device cuda.Device
	mem    cuda.Kind     // of the slots
	step   time.Duration // that the device works on a batch
	null   bool          // nothing is copied

	slots   []*cuda.Buffer
	staging []*cuda.Buffer // of memStaged: a pinned one behind each slot
	target  [deviceSlots]*cuda.Buffer
	copies  cuda.Stream
	compute cuda.Stream
	copied  []cuda.Event           // by slot
	begun   [deviceRing]cuda.Event // of step n at n modulo deviceRing
	ended   [deviceRing]cuda.Event //
	next    int                    // step that Submit queues
	timed   int                    // steps whose times were taken
	loaded  bench.LinkLoad         // of a device behind a loaded link
	took    func(stepTimes)        // is given each step's times, in order
	bytes   int
}

// Batches on the device, and steps whose events are kept: the last that ended, to
// measure from, and those that are queued.
const (
	deviceSlots = 2
	deviceRing  = deviceSlots + 2
)

// stepTimes is a step by the device's own clock.
type stepTimes struct {
	Step  int
	Busy  time.Duration // from its start to its end
	Since time.Duration // from the end of the step before; 0 for the first
}

// newDeviceSink allocates depth slots of so many bytes, bound to the device.
func newDeviceSink(d cuda.Device, mem string, bytes, depth int, step time.Duration, null bool, took func(stepTimes)) (_ *deviceSink, err error) {
	s := &deviceSink{device: d, step: step, null: null, took: took, bytes: bytes}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	switch mem {
	case "pinned":
		s.mem = cuda.Pinned
	case "registered":
		s.mem = cuda.Registered
	case "pageable", results.Staged:
		s.mem = cuda.Pageable
	default:
		return nil, fmt.Errorf("no memory is called %q", mem)
	}
	if s.copies, err = d.NewStream(); err != nil {
		return nil, err
	}
	if s.compute, err = d.NewStream(); err != nil {
		return nil, err
	}
	for i := range deviceRing {
		for _, e := range []*cuda.Event{&s.begun[i], &s.ended[i]} {
			if *e, err = d.NewEvent(); err != nil {
				return nil, err
			}
		}
	}
	for i := range depth {
		e, err := d.NewEvent()
		if err != nil {
			return nil, err
		}
		s.copied = append(s.copied, e)
		b, err := d.Alloc(s.mem, bytes)
		if err != nil {
			return nil, err
		}
		s.slots = append(s.slots, b)
		bench.Randomize(b.Host, uint64(i)) // touched, and not zeros
		if mem != results.Staged {
			continue
		}
		if b, err = d.Alloc(cuda.Pinned, bytes); err != nil {
			return nil, err
		}
		s.staging = append(s.staging, b)
		bench.Touch(b.Host)
	}
	for i := range s.target {
		if s.target[i], err = d.Alloc(cuda.OnDevice, bytes); err != nil {
			return nil, err
		}
	}
	if !null {
		from := s.slots
		if s.staging != nil {
			from = s.staging
		}
		if s.loaded, err = bench.NewLinkLoad(d, bench.CopyPair{Dst: s.target[0], Src: from[0]}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Slots implements loader.Sink.
func (s *deviceSink) Slots() [][]byte {
	var all [][]byte
	for _, b := range s.slots {
		all = append(all, b.Host)
	}
	return all
}

// Submit implements loader.Sink: it waits while the device has two batches.
func (s *deviceSink) Submit(slot int) error {
	if s.next >= deviceSlots { // that step's batch lies where this one goes
		if err := s.finish(s.next - deviceSlots + 1); err != nil {
			return err
		}
	}
	if !s.null {
		src := s.slots[slot]
		if s.staging != nil {
			copy(s.staging[slot].Host, src.Host)
			src = s.staging[slot]
		}
		if err := s.device.Copy(s.target[s.next%deviceSlots], src, s.copies); err != nil {
			return err
		}
	}
	if err := s.device.Record(s.copied[slot], s.copies); err != nil {
		return err
	}
	if err := s.device.WaitEvent(s.compute, s.copied[slot]); err != nil {
		return err
	}
	i := s.next % deviceRing
	if err := s.device.Record(s.begun[i], s.compute); err != nil {
		return err
	}
	if err := s.device.Step(s.step, s.compute); err != nil {
		return err
	}
	if err := s.device.Record(s.ended[i], s.compute); err != nil {
		return err
	}
	s.next++
	return nil
}

// Copied implements loader.Sink.
func (s *deviceSink) Copied(slot int) error { return s.device.SyncEvent(s.copied[slot]) }

// Done implements loader.Sink.
func (s *deviceSink) Done() error { return s.finish(s.next) }

// restart has the next step measured from now, and not from the end of the step before.
// The device must have nothing to do.
func (s *deviceSink) restart() error {
	if s.next == 0 {
		return nil
	}
	return s.device.Record(s.ended[(s.next-1)%deviceRing], s.compute)
}

// finish waits until the steps before n are done and takes their times.
func (s *deviceSink) finish(n int) error {
	for ; s.timed < n; s.timed++ {
		i := s.timed % deviceRing
		if err := s.device.SyncEvent(s.ended[i]); err != nil {
			return err
		}
		t := stepTimes{Step: s.timed}
		var err error
		if t.Busy, err = s.device.Elapsed(s.begun[i], s.ended[i]); err != nil {
			return err
		}
		if s.timed > 0 {
			if t.Since, err = s.device.Elapsed(s.ended[(s.timed-1)%deviceRing], s.ended[i]); err != nil {
				return err
			}
		}
		if s.took != nil {
			s.took(t)
		}
	}
	return nil
}

// late is by how much the last wait for an assumed device missed its deadline.
func (s *deviceSink) late() time.Duration {
	if p, ok := s.device.(cuda.Pacer); ok {
		late, _ := p.Late()
		return late
	}
	return 0
}

// close gives everything back; the device must be done.
func (s *deviceSink) close() error {
	var err error
	for _, b := range append(append(s.slots, s.staging...), s.target[:]...) {
		err = errors.Join(err, b.Free())
	}
	for _, e := range append(append(s.copied, s.begun[:]...), s.ended[:]...) {
		if e != 0 {
			err = errors.Join(err, s.device.CloseEvent(e))
		}
	}
	for _, q := range []cuda.Stream{s.copies, s.compute} {
		if q != 0 {
			err = errors.Join(err, s.device.CloseStream(q))
		}
	}
	return err
}
