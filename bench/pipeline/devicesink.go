package pipeline

import (
	"cmp"
	"errors"
	"math"
	"slices"
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
	o      sinkOptions

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
	rounds  int                    // of work that make a step; 0 where a step lasts a time
	out     *cuda.Buffer           // of work
}

// sinkOptions says what a sink does with batches.
type sinkOptions struct {
	mem   string // of the slots, as the suite's axis names it
	bytes int    // of a batch
	depth int    // slots
	step  time.Duration
	work  bool            // steps are so much work as takes that time at first
	null  bool            // nothing is copied
	ended func(stepTimes) // is given each step's times, in order; nil for none
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

// newDeviceSink allocates the slots of a sink to a device, which is bound. The sink is to be
// closed even where there is an error.
func newDeviceSink(d cuda.Device, o sinkOptions) (s *deviceSink, err error) {
	s = &deviceSink{device: d, o: o}
	kind := map[string]cuda.Kind{"pinned": cuda.Pinned, "registered": cuda.Registered,
		"pageable": cuda.Pageable, results.Staged: cuda.Pageable}[o.mem]
	alloc := func(kind cuda.Kind) *cuda.Buffer {
		return bench.Unless(&err, func() (*cuda.Buffer, error) { return d.Alloc(kind, o.bytes) })
	}
	s.copies, s.compute = bench.Unless(&err, d.NewStream), bench.Unless(&err, d.NewStream)
	for i := range deviceRing {
		s.begun[i], s.ended[i] = bench.Unless(&err, d.NewEvent), bench.Unless(&err, d.NewEvent)
	}
	for range o.depth {
		s.copied = append(s.copied, bench.Unless(&err, d.NewEvent))
		s.slots = append(s.slots, alloc(kind))
		if o.mem == results.Staged {
			s.staging = append(s.staging, alloc(cuda.Pinned))
		}
	}
	for i := range s.target {
		s.target[i] = alloc(cuda.OnDevice)
	}
	if err != nil {
		return s, err
	}
	for i, b := range slices.Concat(s.slots, s.staging) {
		bench.Randomize(b.Host, uint64(i)) // touched, and not zeros
	}
	if o.work {
		err = s.setWork()
	}
	if err == nil && !o.null {
		s.loaded, err = bench.NewLinkLoad(d, s.target[0], slices.Concat(s.staging, s.slots)[0])
	}
	return s, err
}

func (s *deviceSink) Slots() [][]byte {
	var all [][]byte
	for _, b := range s.slots {
		all = append(all, b.Host)
	}
	return all
}

// Submit implements loader.Sink: it waits while the device has two batches.
func (s *deviceSink) Submit(slot int) error {
	if err := s.finish(s.next - deviceSlots + 1); err != nil { // whose batch lies where this one goes
		return err
	}
	if !s.o.null {
		src := s.slots[slot]
		if s.staging != nil {
			copy(s.staging[slot].Host, src.Host)
			src = s.staging[slot]
		}
		if err := s.device.Copy(s.target[s.next%deviceSlots], src, s.copies); err != nil {
			return err
		}
	}
	d, i := s.device, s.next%deviceRing
	err := errors.Join(d.Record(s.copied[slot], s.copies), d.WaitEvent(s.compute, s.copied[slot]),
		d.Record(s.begun[i], s.compute), s.queueStep(), d.Record(s.ended[i], s.compute))
	if err == nil {
		s.next++
	}
	return err
}

// queueStep queues what the device does with a batch.
func (s *deviceSink) queueStep() error {
	if s.o.work {
		return s.device.Work(s.rounds, s.out, s.compute)
	}
	return s.device.Step(s.o.step, s.compute)
}

// trialRounds of work are timed to tell how many make a step: 25 ms of an H100. They are done
// more than once, since the clock of a GPU that was idle rises.
const trialRounds = 100_000

// setWork finds how many rounds of work last as long as a step.
func (s *deviceSink) setWork() (err error) {
	if s.out, err = s.device.Alloc(cuda.OnDevice, cuda.WorkBytes); err != nil {
		return err
	}
	from, to := s.begun[0], s.ended[0]
	for range 3 {
		err = cmp.Or(err, s.device.Record(from, s.compute), s.device.Work(trialRounds, s.out, s.compute),
			s.device.Record(to, s.compute), s.device.SyncEvent(to))
	}
	took := bench.Unless(&err, func() (time.Duration, error) { return s.device.Elapsed(from, to) })
	s.rounds = max(1, min(math.MaxInt32, int(trialRounds*s.o.step.Seconds()/max(took, 1).Seconds())))
	return err
}

func (s *deviceSink) Copied(slot int) error { return s.device.SyncEvent(s.copied[slot]) }

func (s *deviceSink) Done() error { return s.finish(s.next) }

// restart has the next step measured from now, and not from the end of the step before.
// The device must have nothing to do, after a first step.
func (s *deviceSink) restart() error {
	return s.device.Record(s.ended[(s.next-1)%deviceRing], s.compute)
}

// finish waits until the steps before n are done and takes their times.
func (s *deviceSink) finish(n int) error {
	for ; s.timed < n; s.timed++ {
		i := s.timed % deviceRing
		err := s.device.SyncEvent(s.ended[i])
		elapsed := func(from cuda.Event) time.Duration {
			return bench.Unless(&err, func() (time.Duration, error) { return s.device.Elapsed(from, s.ended[i]) })
		}
		t := stepTimes{Step: s.timed, Busy: elapsed(s.begun[i])}
		if s.timed > 0 {
			t.Since = elapsed(s.ended[(s.timed-1)%deviceRing])
		}
		if err != nil {
			return err
		}
		if s.o.ended != nil {
			s.o.ended(t)
		}
	}
	return nil
}

// idle tells whether the device has done everything, after a first step.
func (s *deviceSink) idle() (bool, error) {
	return s.device.Reached(s.ended[(s.next-1)%deviceRing])
}

// close gives everything back; the device must be done.
func (s *deviceSink) close() error {
	err := errors.Join(s.device.CloseStream(s.copies), s.device.CloseStream(s.compute))
	for _, b := range slices.Concat(s.slots, s.staging, s.target[:], []*cuda.Buffer{s.out}) {
		err = errors.Join(err, b.Free())
	}
	for _, e := range slices.Concat(s.copied, s.begun[:], s.ended[:]) {
		err = errors.Join(err, s.device.CloseEvent(e))
	}
	return err
}
