package pcie

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// Suite is the suite.
var Suite = bench.Suite{
	Name:   "pcie",
	Doc:    "how long a batch takes from host memory to the GPU, by link and kind of memory",
	Axes:   axes.Info(),
	Cases:  pcieCases,
	Derive: pcieFindings,

	Devices: true,
}

type params = results.PCIeParams

var axes = bench.Axes[params]{
	{Name: "device", Set: bench.Text(func(p *params) *string { return &p.Device }),
		Doc: "cuda:N, cuda:N:link=LINK for a loaded link, or sim:LINK for an assumed one, as --device; copies in main memory (device=host) are always measured"},
	{Name: "dir", Set: bench.Text(func(p *params) *string { return &p.Dir }), Values: []string{results.H2D, results.D2H},
		Doc: "direction: host to device or device to host (h2h: within main memory)"},
	{Name: "mem", Set: bench.Text(func(p *params) *string { return &p.Mem }), Values: []string{"pinned", "pageable", "registered", results.Staged},
		Doc: "host memory: page-locked by the driver, pageable, page-locked afterwards, or copied into a reused pinned buffer first " +
			"(bounce: in main memory, through a small reused buffer as drivers do)"},
	{Name: "dtype", Set: bench.Text(func(p *params) *string { return &p.DType }), Values: theory.DTypes, Default: "float32",
		Doc: "element type: the same images in fewer bytes"},
	{Name: "source", Set: bench.Text(func(p *params) *string { return &p.Source }), Values: []string{results.SourceWarm, results.SourceCold}, Default: results.SourceWarm,
		Doc: "the batch in the CPU's caches, or evicted from them before each copy"},
	{Name: "concurrent", Set: setConcurrent, Values: []string{results.ConcurrentNone, results.ConcurrentOpposite, results.ConcurrentDevices}, Default: results.ConcurrentNone,
		Doc: "what else copies from before the first to after the last measured copy: nothing, the same device in the other direction, " +
			"or all other CUDA devices in the same one; only the device and direction of the case are measured, as nvbandwidth does"},
	{Name: "numa", Set: setNUMA, Values: []string{results.NUMALocal, results.NUMARemote}, Default: results.NUMALocal,
		Doc: "the copying thread and its memory on the GPU's NUMA node, or on the one farthest from it; only where there are several"},
	{Name: "bytes", Set: setBytes, Doc: "bytes a copy, such as 4KiB; the batch unless given"},
}

// setConcurrent leaves copies within the host's memory alone.
func setConcurrent(p *params, text string) error {
	if p.Device != results.HostDevice {
		p.Concurrent = text
	}
	return nil
}

// setNUMA leaves devices alone that have no far node.
func setNUMA(p *params, text string) error {
	if p.NUMA != "" {
		p.NUMA = text
	}
	return nil
}

func setBytes(p *params, text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<40 || strings.ContainsAny(text, "-. ") {
		return errors.New("want a whole size from 1 to 1TiB, such as 4KiB, 64MiB or 19440000")
	}
	p.Bytes = int64(n)
	return nil
}

// sweep is the sizes of copies over real devices, 4 KiB to 64 MiB, by a factor.
func sweep(factor int64) (sizes []int64) {
	for n := int64(smallest); n <= 64<<20; n *= factor {
		sizes = append(sizes, n)
	}
	return sizes
}

// smallest is the least copy of the sweep; small copies have their latency
// measured.
const (
	smallest = 4 << 10
	small    = 64 << 10
)

// points are the curated points of a device. Cases over an assumed link whose numbers
// would only repeat the assumption are left out: registered memory is assumed to be as
// fast as pinned, and a cold source slows no assumed copy.
func points(env bench.Env, d cuda.Info) []params {
	base := params{Device: d.Spec, Dir: results.H2D, Mem: "pinned", DType: env.Batch.DType, Source: results.SourceWarm, Concurrent: results.ConcurrentNone}
	_, far := placeFar(env, d)
	if far {
		base.NUMA = results.NUMALocal
	}
	var all []params
	add := func(change func(*params)) {
		p := base
		change(&p)
		all = append(all, p)
	}
	memory := func(mem string) { add(func(p *params) { p.Mem = mem }) }
	memory("pinned")
	memory(results.Staged)
	memory("pageable")
	if !d.AssumedLink() {
		memory("registered")
	}
	add(func(p *params) { p.Dir = results.D2H })
	if len(others(env, d)) > 0 {
		add(func(p *params) { p.Concurrent = results.ConcurrentDevices })
	}
	if env.Quick {
		return all
	}
	add(func(p *params) { p.Dir, p.Mem = results.D2H, "pageable" })
	for _, t := range theory.DTypes {
		if t != env.Batch.DType {
			add(func(p *params) { p.DType = t })
		}
	}
	if d.AssumedLink() {
		return all
	}
	for _, dir := range []string{results.H2D, results.D2H} {
		add(func(p *params) { p.Dir, p.Concurrent = dir, results.ConcurrentOpposite })
	}
	if far {
		for _, mem := range []string{"pinned", "pageable"} {
			add(func(p *params) { p.Mem, p.NUMA = mem, results.NUMARemote })
		}
	}
	for _, mem := range []string{"pinned", results.Staged, "pageable"} {
		add(func(p *params) { p.Mem, p.Source = mem, results.SourceCold })
	}
	room := roomFor(env, d, mostHosts+int64(len(others(env, d)))) // the sweep is an extra: it ends where memory does
	for _, s := range []struct {
		mem    string
		factor int64
	}{{"pinned", 2}, {"pageable", 4}} {
		for _, n := range sweep(s.factor) {
			if n <= room {
				add(func(p *params) { p.Mem, p.Bytes = s.mem, n })
			}
		}
	}
	return all
}

// hostPoints are copies in the host's memory: the batch into a second buffer, and
// through the bounce buffer that a driver uses for pageable memory.
func hostPoints(env bench.Env) (all []params) {
	for _, mem := range []string{"pageable", results.Bounce} {
		for _, source := range []string{results.SourceWarm, results.SourceCold} {
			all = append(all, params{Device: results.HostDevice, Dir: results.H2H, Mem: mem, DType: env.Batch.DType, Source: source})
		}
	}
	return all
}

// expand gives points the values that the user gave, and those without a size the
// batch's.
func expand(env bench.Env, points []params, given map[string][]string) ([]params, error) {
	points, err := axes.Expand(points, given)
	for i := range points {
		if points[i].Bytes == 0 {
			b := env.Batch
			b.DType = points[i].DType
			points[i].Bytes = b.Bytes()
		}
	}
	return points, err
}

func pcieCases(env bench.Env) ([]bench.Case, error) {
	given := maps.Clone(env.Axes)
	delete(given, "device") // devices were opened from it already
	ofHost := maps.Clone(given)
	delete(ofHost, "dir") // not the user's to choose
	delete(ofHost, "mem")
	host, err := expand(env, hostPoints(env), ofHost)
	if err != nil {
		return nil, err
	}
	ev := newEvictor(env.Host.CPU.LastCache)
	var cases []bench.Case
	for _, p := range host {
		c, err := hostCase(env, ev, p)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	need := []demand{{largest: largest(host), hosts: 2}} // copies within host memory
	for _, d := range env.Devices {
		points, err := expand(env, points(env, d.Info()), given)
		if err != nil {
			return nil, err
		}
		shared := &pool{device: d, seed: env.Seed, largest: largest(points)}
		for _, p := range points {
			c, err := copyCase(env, shared, ev, p)
			if err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
		need = append(need, demand{d.Info(), shared.largest, hostBuffers(points, d.Info(), len(others(env, d.Info())))})
	}
	return cases, fits(env, need)
}

func largest(points []params) (n int64) {
	for _, p := range points {
		n = max(n, p.Bytes)
	}
	return n
}

// others are the devices that copy beside d: all real ones over links of their own.
func others(env bench.Env, d cuda.Info) (list []cuda.Device) {
	if d.AssumedLink() {
		return nil
	}
	for _, o := range env.Devices {
		if i := o.Info(); !i.AssumedLink() && i.Spec != d.Spec {
			list = append(list, o)
		}
	}
	return list
}

// shortestAssumed is the shortest copy over an assumed link: 1 % of it is about what
// reading the clock takes.
const shortestAssumed = 10 * time.Microsecond

// Metrics of the pcie suite.
var (
	metricSubmit  = bench.MetricDef{Name: "submit", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-7}
	metricCPU     = bench.MetricDef{Name: "cpu", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6}
	metricLatency = bench.MetricDef{Name: "latency", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-7}
	metricPin     = bench.MetricDef{Name: "pin", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6}
)

// copyCase makes the case of one point of a device.
func copyCase(env bench.Env, shared *pool, ev *evictor, p params) (bench.Case, error) {
	info := shared.device.Info()
	list, err := axes.Params(p, nil)
	if err != nil {
		return bench.Case{}, err
	}
	c := bench.Case{Params: list, Group: info.Spec, Device: info.Spec}
	spec := copySpec{dir: p.Dir, mem: p.Mem, cold: p.Source == results.SourceCold, concurrent: p.Concurrent, remote: p.NUMA == results.NUMARemote, bytes: p.Bytes,
		images: int64(env.Batch.Images), article: env.Batch}
	spec.article.DType = p.DType
	first, second := bench.MetricTime, bench.MetricBandwidth
	if info.AssumedLink() {
		c.Assumed = []string{"link"}
		first.NoInterval, second.NoInterval = true, true
	}
	c.Metrics = []bench.MetricDef{first, second, metricSubmit}
	switch {
	case info.Assumed:
		c.Metrics = append(c.Metrics, bench.MetricLateness)
	case spec.hostTimed():
		c.Metrics = append(c.Metrics, metricCPU)
	case info.Loaded || spec.concurrent != results.ConcurrentNone:
	case spec.bytes == spec.article.Bytes() && spec.dir == results.H2D && !spec.cold:
		spec.pin = true
		c.Metrics = append(c.Metrics, metricPin)
	case spec.bytes <= small && spec.dir == results.H2D:
		spec.latency = true
		c.Metrics = append(c.Metrics, metricLatency)
	}
	if spec.normalise = spec.normalises(info); spec.normalise {
		c.Metrics = append(c.Metrics, metricNormalised)
	}
	if spec.concurrent != results.ConcurrentNone && spec.hostTimed() {
		c.Skip = "copies beside others are defined for memory that the device reaches itself: pinned or registered"
	}
	if spec.concurrent != results.ConcurrentNone && info.AssumedLink() {
		c.Skip = "an assumed link is disturbed by no other copy: that is part of the assumption"
	}
	if spec.concurrent == results.ConcurrentDevices && len(others(env, info)) == 0 {
		c.Skip = "there is no other CUDA device"
	}
	if spec.dir == results.D2H && spec.mem == results.Staged {
		c.Skip = "staging is defined for host to device"
	}
	if spec.dir == results.D2H && spec.cold {
		c.Skip = "a cold source is defined for copies from the host"
	}
	if info.Assumed && theory.Time(spec.bytes, info.Rates.Pinned) < shortestAssumed.Seconds() {
		c.Skip = "too short for an assumed link to hold within 1 %"
	}
	if info.Loaded && theory.Time(spec.bytes, info.Rates.Pinned) < bench.ShortestLoaded.Seconds() {
		c.Skip = bench.TooShortToLoad
	}
	place := placeNear(env, info)
	if spec.remote {
		place, _ = placeFar(env, info)
	}
	c.CPUs = place.cpus
	c.Open = func(_ context.Context, env bench.Env) (bench.Runner, error) {
		if spec.concurrent != results.ConcurrentNone {
			return openBeside(env, shared, ev, spec, place)
		}
		return openCopy(env, shared, ev, spec, place)
	}
	return c, nil
}
