package pcie

import (
	"context"
	"errors"
	"time"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// hostBlock is the size of the bounce buffer, as in cuda's assumed links.
const hostBlock = 1 << 20

func hostCase(env bench.Env, ev *evictor, p params) (bench.Case, error) {
	list, err := axes.Params(p, nil)
	if err != nil {
		return bench.Case{}, err
	}
	h := &hostCopier{ev: ev, bytes: p.Bytes, images: int64(env.Batch.Images), seed: env.Seed, cold: p.Source == results.SourceCold, bounce: p.Mem == results.Bounce}
	time := bench.MetricTime
	time.Resolution = 1e-7
	return bench.Case{Params: list, Group: results.HostDevice, Metrics: []bench.MetricDef{time, bench.MetricBandwidth, metricCPU},
		Open: func(context.Context, bench.Env) (bench.Runner, error) { return h, h.open() }}, nil
}

// hostCopier copies a batch in host memory: into a second buffer, or through a
// bounce buffer as a driver does with pageable memory.
type hostCopier struct {
	ev           *evictor
	bytes        int64
	images       int64
	seed         uint64
	cold, bounce bool
	src, dst     *cuda.Buffer
}

func (h *hostCopier) open() (err error) {
	if h.src, err = cuda.AllocHost(int(h.bytes)); err != nil {
		return err
	}
	bench.Randomize(h.src.Host, h.seed)
	size := h.bytes
	if h.bounce {
		size = min(size, hostBlock)
	}
	if h.dst, err = cuda.AllocHost(int(size)); err != nil {
		return errors.Join(err, h.src.Free())
	}
	bench.Randomize(h.dst.Host, h.seed+1)
	return nil
}

func (h *hostCopier) Sample(ctx context.Context, n int, r *bench.Recorder) error {
	var cpu time.Duration
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if h.cold {
			h.ev.evict()
		}
		cpu0 := bench.ThreadCPU()
		t := time.Now()
		for from := h.src.Host; len(from) > 0; {
			from = from[copy(h.dst.Host, from):]
		}
		r.Add(time.Since(t), h.images, h.bytes)
		cpu += bench.ThreadCPU() - cpu0
	}
	r.Set("cpu", cpu.Seconds()/float64(n))
	return nil
}

func (h *hostCopier) Report(r *results.Result) {
	p := &results.PCIeProof{EvictedWith: new(0)}
	r.Proof = results.RecordOf(p)
	pagesOf(h.src.Host, 0).report(r, p, -1)
	if h.cold {
		p.EvictedWith = &h.ev.size
		if w := h.ev.short(); w != "" {
			r.Warnings = append(r.Warnings, w)
		}
	}
}

func (h *hostCopier) Close() error {
	return errors.Join(h.src.Free(), h.dst.Free())
}
