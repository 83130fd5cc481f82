package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

// Suite is the suite.
var Suite = bench.Suite{
	Name:      "pipeline",
	Doc:       "whether loading keeps a GPU busy: read, preprocess, copy and step, each while the next works",
	Axes:      bench.OldInfo(pipelineAxes),
	Cases:     pipelineCases,
	Derive:    pipelineFindings,
	Devices:   true,
	Simulated: "links and step",
	Data:      true,
	Decode:    true,
	Share:     30 * time.Second,
	Quick:     6 * time.Second,
	Samples:   6,
	Visit:     6,
}

// lanesAhead is the prefetch of the cases that compare links or disks: loading overlaps
// steps, and blocks of steps stay short.
const lanesAhead = "1"

var pipelineAxes = []bench.OldAxis{
	{Name: "device", Doc: "set by --device"},
	{Name: "mem", Doc: "host memory of batches; staged copies each into a pinned buffer first, as PyTorch's pin_memory",
		Values: []string{"pinned", "registered", "pageable", results.Staged}},
	{Name: "prefetch", Doc: "batches that are made ahead; 0 is serial: read, preprocess, copy and step one after the other", Parse: parsePrefetch},
	{Name: "workers", Doc: "threads that read and preprocess; auto: the CPUs that the step leaves", Parse: parseWorkers},
	{Name: "strategy", Doc: "images prepared for each batch; records of prepared images; whole batches prepared", Values: []string{results.Online, results.Offline, results.StrategyTensor}},
	{Name: "free", Doc: "parts that are made free, joined by +: data in memory, batches taken as they are, no copy",
		Parse: parseFree, Default: results.FreeNothing},
	{Name: "disk", Doc: "real, or a disk to emulate as --disk names it", Parse: parsePipelineDisk, Default: "real"},
	{Name: "cache", Doc: "page cache used; bypassed (O_DIRECT), as if none of the data were in it", Values: []string{results.CacheUsed, results.Direct}, Default: results.CacheUsed},
	{Name: "step", Doc: "time that the device works on a batch; 0 measures the loader's top speed", Parse: parseStep},
	{Name: "dtype", Doc: "of the batch", Values: []string{"float32", "float16", "uint8"}},
	{Name: "cpus", Doc: "that the loader and the step's threads run on", Parse: parseCPUs, Default: allCPUs},
}

func parsePrefetch(s string) (any, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > results.MostPrefetch {
		return nil, fmt.Errorf("want a number of batches from 0 to %d", results.MostPrefetch)
	}
	return int64(n), nil
}

func parseWorkers(s string) (any, error) {
	if s == "auto" {
		return s, nil
	}
	return bench.ParseThreads(s)
}

// allCPUs are those that this process may use.
const allCPUs = "all"

func parseCPUs(s string) (any, error) {
	if s == allCPUs {
		return s, nil
	}
	return bench.ParseThreads(s)
}

func parseFree(s string) (any, error) {
	var parts []string
	for part := range strings.SplitSeq(s, "+") {
		if s == results.FreeNothing {
			return s, nil
		}
		if !slices.Contains([]string{results.PartRead, results.PartPreprocess, results.PartCopy}, part) || slices.Contains(parts, part) {
			return nil, fmt.Errorf("want %s, or some of %s, %s, %s joined by +", results.FreeNothing, results.PartRead, results.PartPreprocess, results.PartCopy)
		}
		parts = append(parts, part)
	}
	return s, nil
}

func parsePipelineDisk(s string) (any, error) {
	if s == "real" {
		return s, nil
	}
	if _, err := theory.ParseDisk(s); err != nil {
		return nil, fmt.Errorf("real, or: %w", err)
	}
	return s, nil
}

func parseStep(s string) (any, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > bench.MostStep {
		return nil, fmt.Errorf("want a time from 0s to %v, such as 216ms", bench.MostStep)
	}
	return d.String(), nil
}

// pipelineDevice is the device over which what does not ask about links is measured:
// the first GPU, or the fastest assumed link.
func pipelineDevice(devices []cuda.Device) cuda.Info {
	best := devices[0].Info()
	for _, d := range devices {
		if i := d.Info(); best.AssumedLink() && (!i.AssumedLink() || i.Rates.Pinned > best.Rates.Pinned) {
			best = i
		}
	}
	return best
}

func pipelinePoints(env bench.Env) []map[string]string {
	var points []map[string]string
	add := func(pairs ...string) {
		p := map[string]string{"mem": "pinned", "prefetch": "2", "workers": "auto", "strategy": results.Online, "free": results.FreeNothing, "disk": "real", "cache": results.CacheUsed, "cpus": allCPUs,
			"step": env.Step.Time.String(), "dtype": env.Batch.DType}
		if env.Quick {
			p["prefetch"] = "1"
		}
		if env.Disk.Emulated() {
			p["disk"] = env.Disk.Name
		}
		for i := 0; i < len(pairs); i += 2 {
			p[pairs[i]] = pairs[i+1]
		}
		points = append(points, p)
	}
	best := pipelineDevice(env.Devices).Spec
	devices := env.Devices
	if env.Quick && len(devices) > 2 { // the widest apart
		devices = []cuda.Device{devices[0], devices[len(devices)-1]}
	}
	for _, d := range devices {
		spec := d.Info().Spec
		add("device", spec, "free", results.FreeLoading, "prefetch", "0")
		add("device", spec, "free", results.FreeLoading, "prefetch", lanesAhead)
	}
	usual := usualStrategy(env)
	chosen := slices.ContainsFunc(pipelineAxes, func(a bench.OldAxis) bool { return a.Name != "device" && len(env.Axes[a.Name]) > 0 })
	if chosen { // what was asked for, over each device and at top speed
		for _, d := range devices {
			add("device", d.Info().Spec, "strategy", usual)
		}
		add("device", best, "strategy", usual, "step", "0s")
		return points
	}
	free := []string{results.FreeNothing, results.PartRead, results.PartPreprocess, results.PartCopy, results.FreeLoading, results.PartRead + "+" + results.PartCopy, results.PartPreprocess + "+" + results.PartCopy, results.FreeAll}
	if env.Quick {
		free = free[:1]
	}
	together := checkGroup(env)
	for _, f := range free {
		group := ""
		if f == results.FreeNothing || f == results.PartRead || f == results.PartCopy {
			group = together
		}
		add("device", best, "strategy", usual, "step", "0s", "free", f, pointGroup, group)
	}
	if env.Quick {
		return points
	}
	add("device", best, "strategy", usual, "prefetch", lanesAhead)
	checkPoints(env, best, usual, together, add)
	add("device", best, "mem", "pageable", "free", results.FreeLoading, "prefetch", "0")
	if env.Data.Sets[loader.Tensor] != nil {
		if usual == results.Online {
			add("device", best, "strategy", results.StrategyTensor, "step", "0s")
		}
		disk := "stream100"
		if env.Disk.Emulated() {
			disk = env.Disk.Name
		}
		add("device", best, "strategy", results.StrategyTensor, "disk", disk, "prefetch", "0")
		add("device", best, "strategy", results.StrategyTensor, "disk", disk, "prefetch", lanesAhead)
	}
	return points
}

// usualStrategy is how the data is loaded unless the user says otherwise.
func usualStrategy(env bench.Env) string {
	switch {
	case env.Data.Images != nil:
		return results.Online
	case env.Data.Sets[loader.Raw] != nil:
		return results.Offline
	case env.Data.Sets[loader.Tensor] != nil:
		return results.StrategyTensor
	}
	return results.Online
}

func pipelineCases(env bench.Env) ([]bench.Case, error) {
	if err := env.Step.Check(); err != nil {
		return nil, err
	}
	given := maps.Clone(env.Axes)
	delete(given, "device") // opened already
	if env.Disk.Emulated() {
		delete(given, "disk")
	}
	points := pipelinePoints(env)
	var cases []bench.Case
	seen := map[string]bool{}
	for _, p := range bench.Expand(pipelineAxes, points, given) {
		if p["workers"] == "auto" {
			all, _ := bench.UsableThreads(env)
			if n, err := strconv.Atoi(p["cpus"]); err == nil {
				all = min(all, n)
			}
			p["workers"] = strconv.Itoa(max(1, all-env.Step.CPU))
		}
		point := maps.Clone(p)
		delete(point, pointGroup)
		if key := fmt.Sprint(point); !seen[key] {
			seen[key] = true
			c, err := pipelineCase(env, p)
			if err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// Metrics of the pipeline suite.
var (
	metricStepTime    = bench.MetricDef{Name: "step_time", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6}
	metricUtilisation = bench.MetricDef{Name: "utilisation", Unit: results.Ratio, Better: results.Higher}
	metricStall       = bench.MetricDef{Name: "stall", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6}
	metricWait        = bench.MetricDef{Name: "wait", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6}
	metricFirst       = bench.MetricDef{Name: "first_batch", Unit: results.Seconds, Better: results.Lower}
	metricCPUBatch    = bench.MetricDef{Name: "cpu", Unit: results.Seconds, Better: results.Lower}

	metricReading   = bench.MetricDef{Name: "read", Unit: results.Seconds, Better: results.Lower} // of all workers, a batch
	metricMemory    = bench.MetricDef{Name: "memory", Unit: results.Bytes, Better: results.Lower}
	pipelineMetrics = []bench.MetricDef{metricStepTime, bench.MetricImages, metricUtilisation, metricStall, metricWait, metricFirst, metricCPUBatch, metricReading, bench.MetricLateness, metricMemory}
)

// feedRestarts is how often the loader's top speed is measured anew: what differs
// between runs is in no interval of one run.
const feedRestarts = 3

func pipelineCase(env bench.Env, point map[string]string) (bench.Case, error) {
	axes := slices.Clone(pipelineAxes)
	for i := range axes {
		if axes[i].Name == "dtype" {
			axes[i].Default = env.Batch.DType
		}
	}
	p, err := bench.Params(axes, point)
	if err != nil {
		return bench.Case{}, err
	}
	p = append(p, results.Param{Key: "step-cpu", Value: int64(env.Step.CPU), Implied: true})
	c := bench.Case{Params: p, Group: cmp.Or(point[pointGroup], p.Name("pipeline")), Metrics: pipelineMetrics}
	r := &pipelineRunner{env: env, strategy: point["strategy"], cache: point["cache"], mem: point["mem"], prefetch: int(p.Int("prefetch")), workers: int(p.Int("workers")),
		batch: env.Batch, free: strings.Split(point["free"], "+"), doubt: new(string)}
	r.batch.DType = point["dtype"]
	if n := int(p.Int("cpus")); n > 0 {
		r.cpus = bench.SomeCPUs(env.Root, n)
		c.CPUs = r.cpus
	}
	if r.step, err = time.ParseDuration(point["step"]); err != nil {
		return bench.Case{}, err
	}
	if point["disk"] != "real" {
		if r.disk, err = theory.ParseDisk(point["disk"]); err != nil {
			return bench.Case{}, err
		}
		c.Assumed = append(c.Assumed, "disk")
	}
	for _, d := range env.Devices {
		if d.Info().Spec == point["device"] {
			r.device = d
		}
	}
	info := r.device.Info()
	c.Device = info.Spec
	if info.AssumedLink() && !r.isFree(results.PartCopy) {
		c.Assumed = append(c.Assumed, "link")
	}
	if info.Assumed && r.step > 0 {
		c.Assumed = append(c.Assumed, "step")
	}
	if r.step == 0 && point["free"] == results.FreeNothing && point["strategy"] == usualStrategy(env) {
		c.Restarts = feedRestarts
		if env.Quick {
			c.Restarts = 1
		}
	}
	for _, d := range theory.Demands {
		rate := d.Rate()
		c.References = append(c.References, results.Reference{Name: results.DemandPrefix + d.Name, Metric: "throughput", Value: &rate, Source: d.Source})
	}
	if r.step > 0 {
		step := r.step.Seconds()
		c.References = append(c.References, results.Reference{Name: "step", Metric: "step_time", Value: &step, Source: "the time that the device works on a batch"})
	}
	c.Skip = r.unable()
	if info.Loaded && !r.isFree(results.PartCopy) && theory.Time(r.batch.Bytes(), info.Rates.Pinned) < bench.ShortestLoaded.Seconds() {
		c.Skip = bench.TooShortToLoad
	}
	if c.Skip == "" {
		if err := r.fits(point["prefetch"]); err != nil {
			return bench.Case{}, err
		}
	}
	c.Open = func(ctx context.Context, env bench.Env) (bench.Runner, error) {
		fresh := *r
		if err := fresh.open(ctx); err != nil {
			return nil, errors.Join(err, fresh.Close())
		}
		return &fresh, nil
	}
	return c, nil
}
