// Package pcie is the suite of copies between host memory and devices: by kind of memory,
// direction, size, element type and state of the caches.
package pcie

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

var Suite = bench.Suite{
	Name:   "pcie",
	Doc:    "how long a batch takes from host memory to the GPU, by link and kind of memory",
	Axes:   axes.Info(),
	Cases:  casesOf,
	Claims: claims,

	Devices: true,
}

type params = results.PCIeParams

var axes = bench.Axes[params]{
	{Name: "device", Set: bench.Text(func(p *params) *string { return &p.Device }),
		Doc: "cuda:N, cuda:N:link=LINK for a GPU slowed to LINK, or sim:LINK for a simulated link, as --device; " +
			"copies in main memory (device=host) are always measured"},
	{Name: "dir", Set: bench.Text(func(p *params) *string { return &p.Dir }),
		Values: []string{results.H2D, results.D2H},
		Doc:    "direction: host to device or device to host (h2h: within main memory)"},
	{Name: "mem", Set: bench.Text(func(p *params) *string { return &p.Mem }),
		Values: []string{"pinned", "pageable", "registered", results.Staged},
		Doc: "host memory: page-locked by the driver, pageable, page-locked afterwards, or copied into a reused " +
			"pinned buffer first (bounce: in main memory, through a small reused buffer as drivers do)"},
	{Name: "dtype", Set: bench.Text(func(p *params) *string { return &p.DType }),
		Values: theory.DTypes, Default: "float32",
		Doc: "element type: the same images in fewer bytes"},
	{Name: "source", Set: bench.Text(func(p *params) *string { return &p.Source }),
		Values: []string{results.SourceWarm, results.SourceCold}, Default: results.SourceWarm,
		Doc: "the batch in the CPU's caches, or evicted from them before each copy"},
	{Name: "concurrent", Set: ifAny(func(p *params) *string { return &p.Concurrent }),
		Values:  []string{results.ConcurrentNone, results.ConcurrentOpposite, results.ConcurrentDevices},
		Default: results.ConcurrentNone,
		Doc: "what else copies all the time: nothing, the same device in the other direction, or all other " +
			"CUDA devices in the same one; only the case's own device and direction are measured"},
	{Name: "numa", Set: ifAny(func(p *params) *string { return &p.NUMA }),
		Values: []string{results.NUMALocal, results.NUMARemote}, Default: results.NUMALocal,
		Doc: "the copying thread and its memory on the GPU's NUMA node, or on the one farthest from it; " +
			"only where there are several"},
	{Name: "bytes", Set: setBytes, Doc: "bytes a copy, such as 4KiB; the batch unless given"},
}

// ifAny sets a field that is a text in the points that have one.
func ifAny(field func(*params) *string) func(*params, string) error {
	return func(p *params, text string) error {
		if f := field(p); *f != "" {
			*f = text
		}
		return nil
	}
}

func setBytes(p *params, text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<40 || strings.ContainsAny(text, "-. ") {
		return errors.New("want a whole size from 1 to 1TiB, such as 4KiB, 64MiB or 19440000")
	}
	p.Bytes = int64(n)
	return nil
}

// Sizes of the sweep over real devices, and up to which size copies have their latency
// measured.
const (
	smallest     = 4 << 10
	largestSwept = 64 << 20
	small        = 64 << 10
)

// devicePoints are the curated points of a device, the first of which a quick run has.
// Cases over a simulated link whose numbers would only repeat the assumption are left out:
// registered memory is assumed to be as fast as pinned, and a cold source slows no assumed
// copy.
func devicePoints(env bench.Env, d cuda.Info) (all []params) {
	const pageable, registered, staged = "pageable", "registered", results.Staged
	const d2h, cold, remote = results.D2H, results.SourceCold, results.NUMARemote
	list := []params{{}, {Mem: staged}, {Mem: pageable}, {Mem: registered}, {Dir: d2h},
		{Concurrent: results.ConcurrentDevices}}
	background := len(others(env, d))
	if !env.Quick {
		list = append(list, params{Dir: d2h, Mem: pageable})
		for _, t := range results.Without(theory.DTypes, env.Batch.DType) {
			list = append(list, params{DType: t})
		}
		list = append(list,
			params{Concurrent: results.ConcurrentOpposite}, params{Dir: d2h, Concurrent: results.ConcurrentOpposite},
			params{NUMA: remote}, params{Mem: pageable, NUMA: remote},
			params{Source: cold}, params{Mem: staged, Source: cold}, params{Mem: pageable, Source: cold})
		for n := int64(smallest); n <= largestSwept; n *= 2 {
			list = append(list, params{Bytes: n})
		}
		for n := int64(smallest); n <= largestSwept; n *= 4 {
			list = append(list, params{Mem: pageable, Bytes: n})
		}
	}
	_, far := placeFar(env, d)
	for _, p := range list {
		repeats := p.Mem == registered || p.Source == cold || p.Concurrent == results.ConcurrentOpposite || p.Bytes > 0
		switch {
		case repeats && d.AssumedLink(), p.NUMA == remote && !far,
			p.Concurrent == results.ConcurrentDevices && background == 0:
			continue
		}
		p.Device, p.Dir, p.Mem = d.Spec, cmp.Or(p.Dir, results.H2D), cmp.Or(p.Mem, "pinned")
		p.DType, p.Source = cmp.Or(p.DType, env.Batch.DType), cmp.Or(p.Source, results.SourceWarm)
		p.Concurrent = cmp.Or(p.Concurrent, results.ConcurrentNone)
		if far {
			p.NUMA = cmp.Or(p.NUMA, results.NUMALocal)
		}
		all = append(all, p)
	}
	return all
}

// hostPoints are copies in the host's memory: the batch into a second buffer, and
// through the bounce buffer that a driver uses for pageable memory.
func hostPoints(env bench.Env) (all []params) {
	for _, mem := range []string{"pageable", results.Bounce} {
		for _, source := range []string{results.SourceWarm, results.SourceCold} {
			all = append(all, params{Device: results.HostDevice, Dir: results.H2H, Mem: mem,
				DType: env.Batch.DType, Source: source})
		}
	}
	return all
}

// expand gives points the values that the user gave, but for fixed axes, and those without a
// size the batch's.
func expand(env bench.Env, points []params, fixed ...string) ([]params, error) {
	points, err := axes.Expand(points, env.Axes, fixed...)
	for i := range points {
		if points[i].Bytes == 0 {
			b := env.Batch
			b.DType = points[i].DType
			points[i].Bytes = b.Bytes()
		}
	}
	return points, err
}

func casesOf(env bench.Env) (all []bench.Case, err error) {
	var unfit *bench.UsageError
	// add adds the cases of points, but skips those for whose buffers there is no memory.
	add := func(pool *bufferPool, d cuda.Info, points []params, hosts int64, caseOf func(params) (bench.Case, error)) {
		cases, bad := bench.CasesOf(points, func(p params) (bench.Case, error) {
			c, err := caseOf(p)
			if why := fits(env, d, p.Bytes, hosts); why != nil {
				unfit, c.Skip = cmp.Or(unfit, why), cmp.Or(c.Skip, why.Want)
			} else {
				pool.largest = max(pool.largest, p.Bytes)
			}
			return c, err
		})
		all, err = append(all, cases...), cmp.Or(err, bad)
	}
	ev := evictorFor(env)
	inHost, err := expand(env, hostPoints(env), "device", "dir", "mem")
	const hostCopies = 2 // buffers of copies within host memory
	add(&bufferPool{}, cuda.Info{}, inHost, hostCopies,
		func(p params) (bench.Case, error) { return hostCase(env, ev, p) })
	room := len(env.Devices) == 0
	for _, d := range env.Devices {
		info, pool := d.Info(), &bufferPool{device: d, evictor: ev, seed: env.Seed}
		points, bad := expand(env, devicePoints(env, info), "device") // opened from it already
		if bad != nil {
			return nil, bad
		}
		hosts := hostBuffers(points, len(others(env, info)))
		add(pool, info, points, hosts, func(p params) (bench.Case, error) { return copyCase(env, pool, info, p) })
		room = room || fits(env, info, points[0].Bytes, hosts) == nil
	}
	if err == nil && !room && env.Named { // none of those that were asked for
		return all, unfit
	}
	return all, err
}

// others are the devices that copy in the background of d: all real ones over links of
// their own.
func others(env bench.Env, d cuda.Info) []cuda.Device {
	return slices.DeleteFunc(slices.Clone(env.Devices), func(o cuda.Device) bool {
		i := o.Info()
		return d.AssumedLink() || i.AssumedLink() || i.Spec == d.Spec
	})
}

// point is a point of the suite over a device.
type point struct {
	params
	info  cuda.Info
	batch theory.Batch // as elements of the point's type
	place placement
}

// hostTimed reports whether the host's clock times the copy, because its CPU takes
// part in it. Others are timed by the device's events.
func (p point) hostTimed() bool { return p.Mem == "pageable" || p.Mem == results.Staged }

// kinds are those of the host's side of the copy.
var kinds = map[string]cuda.Kind{
	"pinned": cuda.Pinned, results.Staged: cuda.Pinned, "pageable": cuda.Pageable, "registered": cuda.Registered,
}

// metrics are what the case measures. Of single copies to a real device with nothing beside them
// that is also what page-locking the batch takes, or for small ones the time to their end by
// the host's clock, and for uint8 images the copy with the kernel that makes float32 of them.
func (p point) metrics() []bench.MetricDef {
	time, bandwidth := bench.MetricTime, bench.MetricBandwidth
	time.NoInterval, bandwidth.NoInterval = p.info.AssumedLink(), p.info.AssumedLink()
	defs := []bench.MetricDef{time, bandwidth, metricSubmit}
	whole := p.Bytes == p.batch.Bytes() && !p.Cold()
	switch {
	case p.info.Assumed:
		return append(defs, bench.MetricLateness)
	case p.hostTimed():
		return append(defs, metricCPU)
	case p.info.Loaded || !p.Alone() || p.Dir == results.D2H || !whole && p.Bytes > small:
		return defs
	case !whole:
		return append(defs, metricLatency)
	}
	if p.Mem == "pinned" && p.NUMA != results.NUMARemote && p.DType == "uint8" && p.batch.Channels == 3 {
		defs = append(defs, metricNormalised)
	}
	return append(defs, metricPin)
}

// shortestAssumed is the shortest copy over a simulated link: 1 % of it is about what
// reading the clock takes.
const shortestAssumed = 10 * time.Microsecond

// skip says why the case cannot run with so many other devices; "" is that it can.
func (p point) skip(others int) string {
	if why := bench.TooShortToLoad(p.info, p.Bytes); why != "" {
		return why
	}
	switch {
	case p.info.Assumed && theory.Time(p.Bytes, p.info.Rates.Pinned) < shortestAssumed.Seconds():
		return "too short for a simulated link to keep within 1 %"
	case p.Dir == results.D2H && (p.Cold() || p.Mem == results.Staged):
		return "only copies from host to device are staged or have a cold source"
	case p.Concurrent == results.ConcurrentDevices && others == 0:
		return "there is no other CUDA device"
	case !p.Alone() && p.info.AssumedLink():
		return "no other copy slows a simulated link: that is part of the simulation"
	case !p.Alone() && p.hostTimed():
		return "copies next to others need memory that the device reaches itself: pinned or registered"
	}
	return ""
}

func newPoint(env bench.Env, d cuda.Info, p params) point {
	x := point{params: p, info: d, batch: env.Batch, place: placeNear(env, d)}
	x.batch.DType = p.DType
	if p.NUMA == results.NUMARemote {
		x.place, _ = placeFar(env, d)
	}
	return x
}

func copyCase(env bench.Env, shared *bufferPool, d cuda.Info, of params) (bench.Case, error) {
	p := newPoint(env, d, of)
	list, err := axes.Params(of, nil)
	c := bench.Case{Params: list, Group: p.Device, Device: p.Device, Mode: p.Mem, CPUs: p.place.cpus,
		Metrics: p.metrics(), Skip: cmp.Or(p.skip(len(others(env, p.info))), shared.evictor.skip(of))}
	if p.info.AssumedLink() {
		c.Assumed = []string{"link"}
	}
	c.Open = func(_ context.Context, env bench.Env) (bench.Runner, error) {
		k, err := openCopier(env, shared, p)
		if err != nil {
			return nil, err // and no runner
		}
		if p.Alone() {
			return k, nil
		}
		return openBackground(env, k)
	}
	return c, err
}
