package pcie

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// hostBlock is the size of the bounce buffer, as in cuda's simulated links.
const hostBlock = 1 << 20

// hostCase makes the case of one point in the host's memory.
func hostCase(env bench.Env, ev *evictor, p params) (bench.Case, error) {
	list, err := axes.Params(p, nil)
	h := hostCopier{params: p, images: int64(env.Batch.Images), seed: env.Seed, evictor: ev}
	time := bench.MetricTime
	time.Resolution = 1e-7
	return bench.Case{Params: list, Group: results.HostDevice, Skip: ev.skip(p),
		Metrics: []bench.MetricDef{time, bench.MetricBandwidth, metricCPU}, Open: bench.OpenCopy(h)}, err
}

// hostCopier copies a batch in host memory: into a second buffer, or through a
// bounce buffer as a driver does with pageable memory.
type hostCopier struct {
	params
	images   int64
	seed     uint64
	evictor  *evictor
	src, dst *cuda.Buffer
}

// Open allocates both buffers.
func (h *hostCopier) Open(context.Context) (err error) {
	size := h.Bytes
	if h.Mem == results.Bounce {
		size = min(size, hostBlock)
	}
	h.src = bench.Unless(&err, func() (*cuda.Buffer, error) { return cuda.AllocHost(int(h.Bytes)) })
	h.dst = bench.Unless(&err, func() (*cuda.Buffer, error) { return cuda.AllocHost(int(size)) })
	if err == nil {
		bench.Randomize(h.src.Host, h.seed)
		bench.Randomize(h.dst.Host, h.seed+1)
	}
	return err
}

func (h *hostCopier) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	var cpu time.Duration
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if h.Cold() {
			h.evictor.evict()
		}
		cpu0 := bench.ThreadCPU()
		t := time.Now()
		for from := h.src.Host; len(from) > 0; {
			from = from[copy(h.dst.Host, from):]
		}
		r.Add(time.Since(t), h.images, h.Bytes)
		cpu += bench.ThreadCPU() - cpu0
	}
	r.SetKnown("cpu", cpu.Seconds()/float64(n))
	return nil
}

func (h *hostCopier) Report(r *results.Result) {
	p := &results.PCIeProof{EvictedWith: new(0)}
	r.Proof = results.RecordOf(p)
	addPages(p, h.src.Host, 0)
	if h.Cold() {
		h.evictor.report(r, p)
	}
}

func (h *hostCopier) Close() error { return errors.Join(h.src.Free(), h.dst.Free()) }

// evictor empties the caches that one core reaches by reading through a buffer
// twice their size.
type evictor struct {
	size int    // B, 0 where there is no memory for the buffer
	none string // why there is none
	warm string // why sources may not be as cold as they are called, "" when they are
	buf  []byte
}

// Sizes of the evicting buffer: where the cache's size is unknown, and at most; and the share
// of the memory that is available, one in evictShare, that it may take.
const (
	evictUnknown = 64 << 20
	evictMost    = 512 << 20
	evictShare   = 4
)

// evictorFor is the evictor of a machine.
func evictorFor(env bench.Env) *evictor {
	wanted := 2 * int(env.Host.CPU.LastCache)
	e := &evictor{size: min(cmp.Or(wanted, evictUnknown), evictMost)}
	size := results.FormatBytes(int64(e.size))
	if e.size != wanted {
		e.warm = fmt.Sprintf("cold sources were evicted by reading %s, which may not be twice the last-level cache: "+
			"they may be partly warm", size)
	}
	if have := env.Host.Memory.Available; have > 0 && int64(e.size) > have/evictShare {
		e.size = 0
		e.none = fmt.Sprintf("the buffer that evicts the last-level cache takes %s, of %s that are available in %s",
			size, results.FormatBytes(have), env.Host.Memory.Where())
	}
	return e
}

// skip says why a case cannot be measured, "" if it can.
func (e *evictor) skip(p params) string {
	if p.Cold() {
		return e.none
	}
	return ""
}

// evict reads the buffer.
func (e *evictor) evict() {
	if e.buf == nil {
		e.buf = make([]byte, e.size)
		for i := 0; i < len(e.buf); i += 4096 { // untouched pages all map to one page of zeros
			e.buf[i] = 1
		}
	}
	touch(e.buf)
}

func (e *evictor) report(r *results.Result, p *results.PCIeProof) {
	p.EvictedWith = &e.size
	r.Warnf("%s", e.warm)
}

// touch reads a byte of each cache line.
func touch(b []byte) {
	var x byte
	for i := 0; i < len(b); i += 64 {
		x += b[i]
	}
	bench.Sink += uint64(x)
}
