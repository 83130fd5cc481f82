package pcie

import (
	"context"
	"fmt"
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
	Axes:   pcieAxes,
	Cases:  pcieCases,
	Derive: pcieFindings,

	Devices: true,
}

var pcieAxes = []bench.Axis{
	{Name: "device", Doc: "cuda:N, cuda:N:link=LINK for a loaded link, or sim:LINK for an assumed one, as --device; copies in main memory (device=host) are always measured"},
	{Name: "dir", Doc: "direction: host to device or device to host (h2h: within main memory)", Values: []string{results.H2D, results.D2H}},
	{Name: "mem", Doc: "host memory: page-locked by the driver, pageable, page-locked afterwards, or copied into a reused pinned buffer first (bounce: in main memory, through a small reused buffer as drivers do)",
		Values: []string{"pinned", "pageable", "registered", results.Staged}},
	{Name: "dtype", Doc: "element type: the same images in fewer bytes", Values: theory.DTypes, Default: "float32"},
	{Name: "source", Doc: "the batch in the CPU's caches, or evicted from them before each copy", Values: []string{results.SourceWarm, results.SourceCold}, Default: results.SourceWarm},
	{Name: "concurrent", Doc: "what else copies from before the first to after the last measured copy: nothing, the same device in the other direction, or all other CUDA devices in the same one; " +
		"only the device and direction of the case are measured, as nvbandwidth does", Values: []string{results.ConcurrentNone, results.ConcurrentOpposite, results.ConcurrentDevices}, Default: results.ConcurrentNone},
	{Name: "numa", Doc: "the copying thread and its memory on the GPU's NUMA node, or on the one farthest from it; only where there are several", Values: []string{results.NUMALocal, results.NUMARemote}, Default: results.NUMALocal},
	{Name: "bytes", Doc: "bytes a copy, such as 4KiB; the batch unless given", Parse: parseBytes},
}

func parseBytes(s string) (any, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > 1<<40 || strings.ContainsAny(s, "-. ") {
		return nil, fmt.Errorf("want a whole size from 1 to 1TiB, such as 4KiB, 64MiB or 19440000")
	}
	return int64(n), nil
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

// pciePoints are the curated points of a device. Cases over an assumed link whose
// numbers would only repeat the assumption are left out: registered memory is
// assumed to be as fast as pinned, and a cold source slows no assumed copy.
func pciePoints(env bench.Env, d cuda.Info) []map[string]string {
	point := func(dir, mem string, more ...string) map[string]string {
		p := map[string]string{"device": d.Spec, "dir": dir, "mem": mem, "dtype": env.Batch.DType, "source": results.SourceWarm, "concurrent": results.ConcurrentNone, "bytes": wholeBatch}
		if _, ok := placeFar(env, d); ok {
			p["numa"] = results.NUMALocal
		}
		for i := 0; i+1 < len(more); i += 2 {
			p[more[i]] = more[i+1]
		}
		return p
	}
	points := []map[string]string{point(results.H2D, "pinned"), point(results.H2D, results.Staged), point(results.H2D, "pageable")}
	if !d.AssumedLink() {
		points = append(points, point(results.H2D, "registered"))
	}
	points = append(points, point(results.D2H, "pinned"))
	if len(others(env, d)) > 0 {
		points = append(points, point(results.H2D, "pinned", "concurrent", results.ConcurrentDevices))
	}
	if env.Quick {
		return points
	}
	points = append(points, point(results.D2H, "pageable"))
	for _, t := range theory.DTypes {
		if t != env.Batch.DType {
			points = append(points, point(results.H2D, "pinned", "dtype", t))
		}
	}
	if d.AssumedLink() {
		return points
	}
	for _, dir := range []string{results.H2D, results.D2H} {
		points = append(points, point(dir, "pinned", "concurrent", results.ConcurrentOpposite))
	}
	if _, ok := placeFar(env, d); ok {
		for _, mem := range []string{"pinned", "pageable"} {
			points = append(points, point(results.H2D, mem, "numa", results.NUMARemote))
		}
	}
	for _, mem := range []string{"pinned", results.Staged, "pageable"} {
		points = append(points, point(results.H2D, mem, "source", results.SourceCold))
	}
	room := roomFor(env, d, mostHosts+int64(len(others(env, d)))) // the sweep is an extra: it ends where memory does
	for _, n := range sweep(2) {
		if n <= room {
			points = append(points, point(results.H2D, "pinned", "bytes", fmt.Sprint(n)))
		}
	}
	for _, n := range sweep(4) {
		if n <= room {
			points = append(points, point(results.H2D, "pageable", "bytes", fmt.Sprint(n)))
		}
	}
	return points
}

// hostPoints are copies in the host's memory: the batch into a second buffer, and
// through the bounce buffer that a driver uses for pageable memory.
func hostPoints(env bench.Env) []map[string]string {
	var points []map[string]string
	for _, mem := range []string{"pageable", results.Bounce} {
		for _, source := range []string{results.SourceWarm, results.SourceCold} {
			points = append(points, map[string]string{"device": results.HostDevice, "dir": results.H2H, "mem": mem,
				"dtype": env.Batch.DType, "source": source, "bytes": wholeBatch})
		}
	}
	return points
}

func pcieCases(env bench.Env) ([]bench.Case, error) {
	given := map[string][]string{}
	for k, v := range env.Axes {
		if k != "device" { // devices were opened from it already
			given[k] = v
		}
	}
	ev := newEvictor(env.Host.CPU.LastCache)
	hosts := maps.Clone(given)
	delete(hosts, "dir") // not the host's
	delete(hosts, "mem")
	var cases []bench.Case
	for _, p := range sized(env, bench.Expand(hostAxes, hostPoints(env), hosts)) {
		c, err := hostCase(env, ev, p)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	var need []demand
	for _, d := range env.Devices {
		shared := &pool{device: d, seed: env.Seed}
		from := len(cases)
		for _, p := range sized(env, bench.Expand(pcieAxes, pciePoints(env, d.Info()), given)) {
			c, err := copyCase(env, shared, ev, p)
			if err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
		shared.largest = largest(cases[from:])
		need = append(need, demand{d.Info(), shared.largest, hostBuffers(cases[from:], d.Info(), len(others(env, d.Info())))})
	}
	return cases, fits(env, need, cases)
}

// wholeBatch stands for the bytes of a batch of the point's dtype.
const wholeBatch = "batch"

// sized returns points with their bytes as a number.
func sized(env bench.Env, points []map[string]string) []map[string]string {
	for _, p := range points {
		if p["bytes"] == wholeBatch {
			b := env.Batch
			b.DType = p["dtype"]
			p["bytes"] = fmt.Sprint(b.Bytes())
		}
	}
	return points
}

func largest(cases []bench.Case) (n int64) {
	for _, c := range cases {
		n = max(n, c.Params.Int("bytes"))
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
func copyCase(env bench.Env, shared *pool, ev *evictor, point map[string]string) (bench.Case, error) {
	info := shared.device.Info()
	p, err := bench.Params(pcieAxes, point)
	if err != nil {
		return bench.Case{}, err
	}
	c := bench.Case{Params: p, Group: info.Spec, Device: info.Spec}
	spec := copySpec{dir: point["dir"], mem: point["mem"], cold: point["source"] == results.SourceCold, concurrent: point["concurrent"], remote: point["numa"] == results.NUMARemote, bytes: p.Int("bytes"),
		images: int64(env.Batch.Images), article: env.Batch}
	spec.article.DType = point["dtype"]
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
