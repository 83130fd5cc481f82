package bench

import (
	"context"
	"errors"
	"time"

	"dlbench/cuda"
	"dlbench/results"
)

// hostAxes are the pcie suite's axes as they hold for copies in host memory, whose
// direction and kind of memory are not the user's to choose.
var hostAxes = func() []Axis {
	var axes []Axis
	for _, a := range pcieAxes {
		switch a.Name {
		case "dir":
			a.Values = []string{dirHost}
		case "mem":
			a.Values = []string{"pageable", memBounce}
		}
		axes = append(axes, a)
	}
	return axes
}()

// hostBlock is the size of the bounce buffer, as in cuda's assumed links.
const hostBlock = 1 << 20

func hostCase(env Env, ev *evictor, point map[string]string) (Case, error) {
	p, err := params(hostAxes, point)
	if err != nil {
		return Case{}, err
	}
	h := &hostCopier{ev: ev, bytes: p.Int("bytes"), images: int64(env.Batch.Images), seed: env.Seed,
		cold: point["source"] == sourceCold, bounce: point["mem"] == memBounce}
	time := metricTime
	time.Resolution = 1e-7
	return Case{Params: p, Group: hostDevice, Metrics: []MetricDef{time, metricBandwidth, metricCPU},
		Open: func(context.Context, Env) (Runner, error) { return h, h.open() }}, nil
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
	randomize(h.src.Host, h.seed)
	size := h.bytes
	if h.bounce {
		size = min(size, hostBlock)
	}
	if h.dst, err = cuda.AllocHost(int(size)); err != nil {
		return errors.Join(err, h.src.Free())
	}
	randomize(h.dst.Host, h.seed+1)
	return nil
}

func (h *hostCopier) Sample(ctx context.Context, n int, r *Recorder) error {
	var cpu time.Duration
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if h.cold {
			h.ev.evict()
		}
		cpu0 := threadCPU()
		t := time.Now()
		for from := h.src.Host; len(from) > 0; {
			from = from[copy(h.dst.Host, from):]
		}
		r.Add(time.Since(t), h.images, h.bytes)
		cpu += threadCPU() - cpu0
	}
	r.Set("cpu", cpu.Seconds()/float64(n))
	return nil
}

func (h *hostCopier) Report(r *results.Result) {
	r.Proof = map[string]any{"evicted_with": 0}
	pagesOf(h.src.Host, 0).report(r, -1)
	if h.cold {
		r.Proof["evicted_with"] = h.ev.size
		if w := h.ev.short(); w != "" {
			r.Warnings = append(r.Warnings, w)
		}
	}
}

func (h *hostCopier) Close() error {
	return errors.Join(h.src.Free(), h.dst.Free())
}
