package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeSink takes batches and writes down what happens to its slots.
type fakeSink struct {
	slots [][]byte
	log   []string
	taken [][]byte      // the bytes of each batch when it was submitted
	fails map[int]error // Submit of batches
	done  int
	next  int
}

func newFakeSink(slots, bytes int) *fakeSink {
	s := &fakeSink{}
	for range slots {
		s.slots = append(s.slots, make([]byte, bytes))
	}
	return s
}

func (s *fakeSink) Slots() [][]byte { return s.slots }

func (s *fakeSink) Submit(slot int) error {
	if err := s.fails[s.next]; err != nil {
		return err
	}
	s.log = append(s.log, fmt.Sprintf("submit %d", slot))
	s.taken = append(s.taken, bytes.Clone(s.slots[slot]))
	s.next++
	return nil
}

func (s *fakeSink) Copied(slot int) error {
	s.log = append(s.log, fmt.Sprintf("copied %d", slot))
	return nil
}

func (s *fakeSink) Done() error {
	if s.done < s.next {
		s.log = append(s.log, "done")
	}
	s.done = s.next
	return nil
}

func pipeline(t testing.TB, ctx context.Context, s *Set, p *Plan, sink Sink, o PipelineOptions) *Pipeline {
	t.Helper()
	pipe, err := NewPipeline(ctx, s, p, sink, o)
	must(t, err)
	t.Cleanup(func() { must(t, pipe.Close()) })
	return pipe
}

func steps(t testing.TB, p *Pipeline, n int) {
	t.Helper()
	for range n {
		if _, err := p.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// Batches arrive whole and in order, whatever the prefetch, the workers and how they
// share a batch; a slot is given back only when its copy is done.
func TestPipeline(t *testing.T) {
	s := store(t, Raw, 12, 1)
	p := s.Plan(Order{Shuffle: true, Seed: 4}, 3)
	for _, o := range []PipelineOptions{{}, {Workers: 3, Part: 1}, {Prefetch: 1}, {Prefetch: 2, Workers: 2},
		{Prefetch: 3, Workers: 4, Part: 1}} {
		sink := newFakeSink(Slots(o.Prefetch), 3)
		o.Work = copied
		pipe := pipeline(t, t.Context(), s, p, sink, o)
		const n = 10
		steps(t, pipe, n)
		if pipe.Next() != n || pipe.Epochs() != n/p.Len() {
			t.Errorf("%d steps, %d epochs", pipe.Next(), pipe.Epochs())
		}
		for b, got := range sink.taken {
			var want []byte
			for _, i := range p.Batch(b % p.Len()) {
				want = append(want, content(int(i), 1)...)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%+v: batch %d is wrong", o, b)
			}
		}
		if o.Prefetch == 0 && !slices.Equal(sink.log[:3], []string{"submit 0", "done", "copied 0"}) {
			t.Errorf("serial: %v", sink.log[:3])
		}
		if o.Prefetch == 1 && !slices.Equal(sink.log[:4], []string{"submit 0", "submit 1", "copied 0", "submit 0"}) {
			t.Errorf("prefetch 1: %v", sink.log[:4])
		}
	}
}

// Without prefetch nothing is made while a step runs; with it the next batches are.
func TestPipelineOverlaps(t *testing.T) {
	s := store(t, Raw, 12, 1)
	p := s.Plan(Order{}, 2)
	for _, prefetch := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var made atomic.Int64
			pipe := pipeline(t, t.Context(), s, p, newFakeSink(Slots(prefetch), 2), PipelineOptions{Prefetch: prefetch,
				Workers: 1,
				Work: func(_ int, _ Place, _, _ []byte) error {
					made.Add(1)
					return nil
				}})
			for step := 1; step <= 4; step++ {
				steps(t, pipe, 1)
				synctest.Wait()
				want := 2 * step
				if prefetch > 0 {
					want += 2 * prefetch // the slot of the batch that was just delivered is not free yet
				}
				if n := int(made.Load()); n != want {
					t.Errorf("prefetch %d: %d samples made after %d steps, want %d", prefetch, n, step, want)
				}
			}
		})
	}
}

// The error of a stage comes with its batch, after the batches before it, and leaves no
// goroutine.
func TestPipelineErrors(t *testing.T) {
	s := store(t, Raw, 12, 1)
	p := s.Plan(Order{}, 2)
	failure := errors.New("out of order")
	for _, prefetch := range []int{0, 2} {
		for _, says := range []string{"batch 3: hand over", "batch 3: "} {
			synctest.Test(t, func(t *testing.T) {
				sink := newFakeSink(Slots(prefetch), 2)
				o := PipelineOptions{Prefetch: prefetch, Workers: 2, Work: copied}
				work := says == "batch 3: "
				if work {
					o.Work = func(_ int, at Place, _, _ []byte) error {
						if at.Batch == 3 && at.At == 1 {
							return failure
						}
						return nil
					}
				} else {
					sink.fails = map[int]error{3: failure}
				}
				pipe := pipeline(t, t.Context(), s, p, sink, o)
				steps(t, pipe, 3)
				_, err := pipe.Step()
				if !errors.Is(err, failure) || !strings.Contains(err.Error(), says) {
					t.Errorf("%v", err)
				}
				if work && !strings.Contains(err.Error(), s.Name(7)) {
					t.Errorf("the sample is not named: %v", err)
				}
			})
		}
	}
}

// A stage that does not end in time is named, with what each worker is at, and ending the
// context ends the wait.
func TestPipelineIsWatched(t *testing.T) {
	s := store(t, Raw, 12, 1)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		pipe := pipeline(t, ctx, s, s.Plan(Order{}, 2), newFakeSink(Slots(1), 2), PipelineOptions{Prefetch: 1,
			Workers: 1,
			Work: func(_ int, at Place, _, _ []byte) error {
				if at.Batch == 1 {
					<-ctx.Done()
				}
				return nil
			}})
		steps(t, pipe, 1)
		defer pipe.Guard(ctx, time.Minute, cancel)()
		_, err := pipe.Step()
		if err == nil || !strings.Contains(err.Error(), "no sample, copy or step for 1m0s: load of batch 1 for ") ||
			!strings.Contains(err.Error(), "worker 0 works on sample 2 of batch 1") {
			t.Errorf("%v", err)
		}
	})
}

func TestPipelineDoesNotStart(t *testing.T) {
	s := store(t, Raw, 4, 1)
	p := s.Plan(Order{}, 2)
	for name, o := range map[string]PipelineOptions{"negative": {Prefetch: -1}, "slots": {Prefetch: 4}} {
		if _, err := NewPipeline(t.Context(), s, p, newFakeSink(2, 100), o); err == nil {
			t.Errorf("%s: it starts", name)
		}
	}
	if _, err := NewPipeline(t.Context(), s, s.Plan(Order{}, 9), newFakeSink(2, 100),
		PipelineOptions{}); !errors.Is(err,
		ErrNoSamples) {
		t.Errorf("without a batch: %v", err)
	}
	null := pipeline(t, t.Context(), nil, nil, newFakeSink(3, 100), PipelineOptions{Null: true, Prefetch: 2})
	steps(t, null, 5)
	if err := null.Close(); err != nil || null.Next() != 5 {
		t.Errorf("%d steps, %v", null.Next(), err)
	}
}

// A step of a pipeline allocates nothing.
func TestPipelineAllocatesNothing(t *testing.T) {
	s := store(t, Raw, 40, 1)
	for _, prefetch := range []int{0, 2} {
		sink := &quietSink{newFakeSink(Slots(prefetch), 2)}
		pipe := pipeline(t, t.Context(), s, s.Plan(Order{}, 2), sink, PipelineOptions{Prefetch: prefetch, Workers: 1,
			Work: copied})
		if n := testing.AllocsPerRun(100, func() { steps(t, pipe, 1) }); n != 0 {
			t.Errorf("prefetch %d: %v allocations a step", prefetch, n)
		}
	}
}

// copied is Work of a pipeline that copies samples.
func copied(_ int, _ Place, dst, data []byte) error {
	copy(dst, data)
	return nil
}

// quietSink writes nothing down.
type quietSink struct{ *fakeSink }

func (s *quietSink) Submit(int) error { return nil }
func (s *quietSink) Copied(int) error { return nil }
func (s *quietSink) Done() error      { return nil }
