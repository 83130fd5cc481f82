package pcie

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// copySpec is one point of the pcie suite over a device.
type copySpec struct {
	dir, mem   string
	cold       bool
	concurrent string // what else copies
	remote     bool   // the thread and its memory are on another NUMA node than the device
	bytes      int64
	images     int64        // in a copy; reported as items
	article    theory.Batch // the batch with this point's dtype
	pin        bool         // also measure what page-locking the buffer takes
	latency    bool         // also measure single copies by the host's clock
	normalise  bool         // also measure copies with the kernel that makes float32 of uint8
}

// hostTimed tells whether the host's clock times the copy, because its CPU takes
// part in it. Others are timed by the device's events.
func (s copySpec) hostTimed() bool { return s.mem == "pageable" || s.mem == results.Staged }

func (s copySpec) kind() cuda.Kind {
	switch s.mem {
	case "pageable":
		return cuda.Pageable
	case "registered":
		return cuda.Registered
	}
	return cuda.Pinned // staged copies end in pinned memory
}

// Blockers: the least and the longest work queued before a timed group of copies,
// and how many copies one group has at most (the driver's queue is bounded).
const (
	leastBlock = 200 * time.Microsecond
	mostBlock  = 20 * time.Millisecond
	mostGroup  = 256

	primerBytes = 4 << 10
)

// copier runs copies over a device.
type copier struct {
	copySpec
	normaliser
	device  cuda.Device
	pool    *pool
	ev      *evictor
	link    *linkSource
	before  results.Link // before anything was copied
	place   placement
	in, out bench.CopyPair // by direction
	primer  bench.CopyPair // a small copy between blocker and start event
	wires   bench.CopyPair // what is copied while the link is read
	wired   int            // copies of wires under one read
	unread  error          // why the link cannot be read while copying
	source  *cuda.Buffer   // staged: where the bytes are copied from
	stream  cuda.Stream
	event   [2]cuda.Event // start, stop
	block   time.Duration
	read    []results.Link // while copying
	gaps    int            // groups that the blocker did not cover
	groups  int
	pinned  int             // measurements of page-locking done
	late    []time.Duration // of copies over an assumed link
	lateAt  []int           // where each sample begins in late
	overrun int             // copies whose own work was slower than the assumed link

	loaded bench.LinkLoad
	pages  pageReport // of the host's buffer
}

// openCopy allocates what the case needs and checks that bytes arrive.
func openCopy(env bench.Env, p *pool, ev *evictor, spec copySpec, place placement) (_ bench.Runner, err error) {
	unbind, err := p.device.Bind()
	if err != nil {
		return nil, err
	}
	defer unbind()
	p.open++
	c := &copier{copySpec: spec, device: p.device, pool: p, ev: ev, place: place, block: leastBlock}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if pci := p.device.Info().PCI; pci != "" {
		c.link = newLinkSource(env.Root, pci)
		c.before = c.link.read()
	}
	if c.stream, err = c.device.NewStream(); err != nil {
		return nil, err
	}
	for i := range c.event {
		if c.event[i], err = c.device.NewEvent(); err != nil {
			return nil, err
		}
	}
	if err := c.buffers(&c.in, &c.out); err != nil {
		return nil, c.registration(err)
	}
	c.primer = c.in
	if c.in.Dst == nil {
		c.primer = c.out
	}
	small := int(min(c.bytes, primerBytes))
	c.primer = bench.CopyPair{Dst: c.primer.Dst.View(small), Src: c.primer.Src.View(small)}
	if c.link != nil {
		n := min(max(p.largest, c.bytes), wireBytes)
		if c.wires.Dst, err = p.get(cuda.OnDevice, 0, n); err != nil {
			return nil, err
		}
		if c.wires.Src, c.unread = p.get(cuda.Pinned, 0, n); c.unread != nil {
			c.link = nil // pageable copies do not need page-locked memory, so they do without the link
		}
	}
	if c.mem == results.Staged {
		no := 0
		if c.remote {
			no = remoteBuffers
		}
		if c.source, err = p.get(cuda.Pageable, no, c.bytes); err != nil {
			return nil, err
		}
	}
	if err := c.verify(); err != nil {
		return nil, err
	}
	moved := c.in
	if c.dir == results.D2H {
		moved = c.out
	}
	c.pages = pagesOf(c.hostBuffer().Host, env.Host.CPU.NUMANodes)
	if c.loaded, err = bench.NewLinkLoad(c.device, moved); err != nil {
		return nil, err
	}
	return c, nil
}

// hostBuffer is what the case copies from or to in the host's memory.
func (c *copier) hostBuffer() *cuda.Buffer {
	switch {
	case c.source != nil:
		return c.source
	case c.dir == results.D2H:
		return c.out.Dst
	}
	return c.in.Src
}

// registration makes a skip of a refusal to register memory, which is the machine's
// nature: claims about it cannot be measured there.
func (c *copier) registration(err error) error {
	if c.mem == "registered" && errors.Is(err, cuda.NotSupported) {
		return &bench.SkipError{Reason: registrationRefused + ": " + results.OneLine(err)}
	}
	return err
}

const registrationRefused = "this driver registers no host memory"

// buffers fills in the pairs of the directions that the case copies in.
func (c *copier) buffers(in, out *bench.CopyPair) (err error) {
	get := func(k cuda.Kind, no int) (b *cuda.Buffer) {
		if c.remote {
			no += remoteBuffers
		}
		if err == nil {
			b, err = c.pool.get(k, no, c.bytes)
		}
		return b
	}
	if c.dir != results.D2H {
		*in = bench.CopyPair{Dst: get(cuda.OnDevice, 0), Src: get(c.kind(), 0)}
	}
	if c.dir != results.H2D {
		*out = bench.CopyPair{Dst: get(c.kind(), 1), Src: get(cuda.OnDevice, 1)}
	}
	return err
}

// verify sends bytes the way that the case does and compares what arrives.
func (c *copier) verify() error {
	var in, out bench.CopyPair // of its own, so that a stand-in's bytes are dropped with them
	if err := c.buffers(&in, &out); err != nil {
		return err
	}
	check, err := c.device.Alloc(cuda.Pageable, int(c.bytes))
	if err != nil {
		return err
	}
	defer check.Free()
	send := func(dst, src *cuda.Buffer) error {
		if err := c.device.Copy(dst, src, c.stream); err != nil {
			return err
		}
		if err := c.device.SyncStream(c.stream); err != nil {
			return err
		}
		return c.device.Settle(dst)
	}
	if in.Dst != nil {
		want := in.Src.Host
		if c.source != nil {
			want = c.source.Host
			copy(in.Src.Host, want)
		}
		for i := range check.Host { // something else on the device first
			check.Host[i] = ^want[i]
		}
		if err := errors.Join(send(in.Dst, check), send(in.Dst, in.Src), send(check, in.Dst)); err != nil {
			return err
		}
		if !bytes.Equal(check.Host, want) {
			return fmt.Errorf("%s %s: other bytes arrived on the device than were sent", c.dir, c.mem)
		}
	}
	if out.Dst != nil {
		bench.Randomize(check.Host, c.pool.seed+2)
		clear(out.Dst.Host)
		if err := errors.Join(send(out.Src, check), send(out.Dst, out.Src)); err != nil {
			return err
		}
		if !bytes.Equal(check.Host, out.Dst.Host) {
			return fmt.Errorf("%s %s: other bytes arrived on the host than were sent", c.dir, c.mem)
		}
	}
	return nil
}

func (c *copier) Close() error {
	unbind, err := c.device.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	return c.close()
}

func (c *copier) close() error {
	var errs []error
	if c.stream != 0 {
		errs = append(errs, c.device.CloseStream(c.stream))
	}
	for _, e := range c.event {
		if e != 0 {
			errs = append(errs, c.device.CloseEvent(e))
		}
	}
	return errors.Join(append(errs, c.pool.release())...)
}

func (c *copier) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	unbind, err := c.device.Bind()
	if err != nil {
		return err
	}
	defer unbind()
	if !r.Warmup {
		c.lateAt = append(c.lateAt, len(c.late))
	}
	if c.hostTimed() {
		err = c.sampleHost(ctx, n, r)
	} else {
		err = c.sampleEvents(ctx, n, r)
	}
	c.loaded.Harvest(!r.Warmup)
	if err != nil || r.Warmup {
		return err
	}
	if err := c.readLink(); err != nil {
		return err
	}
	if err := c.measureLatency(r); err != nil {
		return err
	}
	if err := c.measureNormalised(n, r); err != nil {
		return err
	}
	return c.measurePin(r)
}
