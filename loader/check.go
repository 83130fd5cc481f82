package loader

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"runtime"
	"time"

	"dlbench/loader/decode"
)

// CheckOptions says how samples are checked.
type CheckOptions struct {
	Decoder   string        // one of decode.Kinds; "" is decode.Auto
	Threads   int           // 0: as many as there are processors
	TimeLimit time.Duration // for an image; 0 is DefaultTimeLimit
	Samples   []int32       // which; nil: all
	Progress  func(done, total int)

	open func() (inspector, error) // for tests; nil: the decoder
}

// DefaultTimeLimit is how long an image may take to be read and decoded before it counts as bad.
const DefaultTimeLimit = 10 * time.Second

// mostHung is how many decoders may stand still before a check gives up: each keeps a
// thread and its memory.
const mostHung = 16

// checkAhead is how many samples a check goes on while one stands still.
const checkAhead = 256

// Check reads every sample whole and decodes it. A bad one is counted and named, and
// does not end the check; the error is the context's, with the census so far, or why
// it could not be done at all. good are the samples that can be used, damaged ones too,
// in their order.
func (s *Set) Check(ctx context.Context, o CheckOptions) (census *Census, good []int32, err error) {
	if o.Decoder == "" {
		o.Decoder = decode.Auto
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.TimeLimit == 0 {
		o.TimeLimit = DefaultTimeLimit
	}
	if o.open == nil {
		o.open = func() (inspector, error) { return newInspector(s, o) }
	}
	if o.Samples == nil {
		o.Samples = s.Plan(Order{}, 1).order
	}
	c := newCounting(s, len(o.Samples))
	start := time.Now()
	if len(o.Samples) > 0 {
		if good, err = c.run(ctx, o); err != nil && ctx.Err() == nil {
			return nil, nil, err
		}
	}
	census = c.finish()
	census.Seconds = time.Since(start).Seconds()
	if s.Record == nil {
		census.Decoder = DecoderName(o.Decoder)
	}
	census.Interrupted = err != nil
	return census, good, err
}

// run inspects the samples of o.
func (c *counting) run(ctx context.Context, o CheckOptions) (good []int32, err error) {
	guards := make([]guard, max(1, min(o.Threads, len(o.Samples))))
	depth := checkAhead + len(guards)
	slots := make([]inspected, depth)
	inner, cancel := context.WithCancel(ctx)
	f, err := Generate(inner, len(o.Samples), FeedOptions{Readers: len(guards), Depth: depth,
		Thread: func(thread int) func() { return guards[thread].close },
		Work: func(thread int, at Place, _ []byte) error {
			slots[at.Batch%depth] = guards[thread].inspect(inner, o, o.Samples[at.Batch])
			return nil
		}})
	if err != nil {
		cancel()
		return nil, err
	}
	defer f.Close()
	defer cancel() // before it: what is still inspected is of no use
	hung := 0
	for n, sample := range o.Samples {
		if _, err := f.Next(); err != nil {
			return good, err
		}
		found := slots[n%depth]
		f.Release()
		if found.failed != nil {
			return good, found.failed
		}
		c.add(sample, found)
		if found.err == nil {
			good = append(good, sample)
		}
		if found.hung {
			hung++
		}
		if hung == mostHung {
			return good, fmt.Errorf("%d images are not read and decoded after %v: gave up", hung, o.TimeLimit)
		}
		if o.Progress != nil {
			o.Progress(n+1, len(o.Samples))
		}
	}
	return good, nil
}

// inspected is what was found of a sample.
type inspected struct {
	info      decode.Info
	damage    string
	converted string
	err       error // why it is bad
	hung      bool  // because it took too long
	failed    error // why nothing could be found of it, or of any other
	took      time.Duration
}

// inspector reads and decodes samples.
type inspector interface {
	inspect(sample int32) inspected
	close()
}

// guard has an inspector work on a thread of its own, and gives up on one that stands
// still: another takes its place.
type guard struct {
	samples chan int32 // nil before there is an inspector
	found   chan inspected
}

func (g *guard) inspect(ctx context.Context, o CheckOptions, sample int32) (found inspected) {
	if g.samples == nil {
		g.samples, g.found = make(chan int32, 1), make(chan inspected, 1)
		go inspectAll(o.open, g.samples, g.found)
	}
	start := time.Now()
	limit := time.NewTimer(o.TimeLimit)
	defer limit.Stop()
	g.samples <- sample
	select {
	case found = <-g.found:
		found.took = time.Since(start)
		return found
	case <-limit.C:
		found = inspected{err: fmt.Errorf("not read and decoded after %v", o.TimeLimit), hung: true, took: o.TimeLimit}
	case <-ctx.Done():
		found.failed = context.Cause(ctx)
	}
	close(g.samples)
	g.samples = nil
	return found
}

// inspectAll inspects what comes until there is no more.
func inspectAll(open func() (inspector, error), samples <-chan int32, found chan<- inspected) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(found)
	i, err := open()
	if err == nil {
		defer i.close()
	}
	for sample := range samples {
		if err != nil {
			found <- inspected{failed: err}
		} else {
			found <- i.inspect(sample)
		}
	}
}

// close waits for the inspector to close what it has open.
func (g *guard) close() {
	if g.samples != nil {
		close(g.samples)
		<-g.found
	}
}

func newInspector(s *Set, o CheckOptions) (inspector, error) {
	r, err := NewReader(s, ReadOptions{Readers: o.Threads})
	if err != nil {
		return nil, err
	}
	i := &sampleInspector{set: s, reader: r}
	if s.Record == nil {
		if i.decoder, err = decode.New(o.Decoder, decode.Limits{}); err != nil {
			r.Close()
			return nil, err
		}
	}
	return i, nil
}

type sampleInspector struct {
	set     *Set
	reader  *Reader
	decoder decode.Decoder // nil for records
}

func (i *sampleInspector) close() {
	i.reader.Close()
	if i.decoder != nil {
		i.decoder.Close()
	}
}

func (i *sampleInspector) inspect(sample int32) (found inspected) {
	_, err := i.reader.Read([]int32{sample}, func(_ int32, data []byte) (err error) {
		if i.decoder == nil {
			found.damage = i.set.Record.damage(data)
			return nil
		}
		if found.info, err = decode.Probe(data); err != nil {
			return err
		}
		img, err := i.decoder.Decode(data, &found.info, image.Rect(0, 0, found.info.Width, found.info.Height))
		found.damage, found.converted = img.Damage, img.Converted
		return err
	})
	if errors.Is(err, ErrTooManyOpen) {
		found.failed = err
	} else if bad, ok := errors.AsType[*SampleError](err); ok {
		found.err = errors.New(reason(bad.Err)) // its path is named with it
	} else {
		found.err = err
	}
	return found
}

// damage says what is wrong with the numbers of a record, "" for nothing.
func (r *Record) damage(data []byte) string {
	bad := 0
	switch r.DType {
	case "float32":
		for ; len(data) >= 4; data = data[4:] {
			if binary.LittleEndian.Uint32(data)&0x7f800000 == 0x7f800000 {
				bad++
			}
		}
	case "float16":
		for ; len(data) >= 2; data = data[2:] {
			if binary.LittleEndian.Uint16(data)&0x7c00 == 0x7c00 {
				bad++
			}
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%d numbers are not finite", bad)
}
