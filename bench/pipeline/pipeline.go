// Package pipeline is the suite of the whole loader: it reads, preprocesses and copies
// batches, each stage while the next one works, against a GPU's step.
package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dlbench/bench"
	"dlbench/bench/theory"
	"dlbench/results"
)

var Suite = bench.Suite{
	Name:    "pipeline",
	Doc:     "whether loading keeps a GPU busy: read, preprocess, copy and step, each while the next works",
	Axes:    axes.Info(),
	Cases:   pipelineCases,
	Claims:  claims,
	Devices: true,
	Data:    true,
	Decode:  true,
	Share:   30 * time.Second,
	Quick:   6 * time.Second,
	Samples: 6,
}

var axes = bench.Axes[params]{
	{Name: "device", Set: bench.Text(func(p *params) *string { return &p.Device }), Doc: "set by --device"},
	{Name: "mem", Set: bench.Text(func(p *params) *string { return &p.Mem }),
		Values: []string{"pinned", "registered", "pageable", results.Staged},
		Doc:    "host memory of batches; staged copies each into a pinned buffer first, as PyTorch's pin_memory"},
	{Name: "prefetch",
		Set: bench.Count(func(p *params) *int { return &p.Prefetch }, "batches", 0, results.MostPrefetch),
		Doc: "batches prepared ahead; 0 is serial: read, preprocess, copy and step one after the other"},
	{Name: "workers", Set: orZero("auto", func(p *params) *int { return &p.Workers }),
		Doc: "number of threads that read and preprocess; auto: the CPUs that the step leaves"},
	{Name: "strategy", Set: bench.Text(func(p *params) *string { return &p.Strategy }),
		Values: []string{results.Online, results.Offline, results.StrategyTensor},
		Doc:    "online: prepare images for each batch; offline: read images prepared before; tensor: read whole batches"},
	{Name: "free", Set: setFree, Default: results.FreeNothing,
		Doc: "parts that are removed, joined by +: read (data in memory), preprocess (batches taken as they are), copy"},
	{Name: "disk", Set: setDisk, Default: results.RealDisk, Doc: "real, or a disk to simulate, named as for --disk"},
	{Name: "cache", Set: bench.Text(func(p *params) *string { return &p.Cache }),
		Values: []string{results.CacheUsed, results.Direct, results.Remote}, Default: results.CacheUsed,
		Doc: "used: read through the page cache; direct: past it (O_DIRECT), as if none of the data were in it; " +
			"remote: from an object store"},
	{Name: "step", Set: bench.StepTime(func(p *params) *results.Duration { return &p.Step }),
		Doc: "time that the device works on a batch; 0 measures what the loader feeds"},
	{Name: "dtype", Set: bench.Text(func(p *params) *string { return &p.DType }), Values: theory.DTypes,
		Doc: "element type of the batch"},
	{Name: "cpus", Set: orZero("all", func(p *params) *int { return (*int)(&p.CPUs) }), Default: "all",
		Doc: "CPUs that the loader and the step's threads run on"},
	{Name: "step-cpu", Set: bench.Count(func(p *params) *int { return &p.StepCPU }, "threads", 0, results.MostThreads),
		Doc: "threads that the step keeps busy, as --step-cpu"},
}

// orZero sets a number of threads, which is 0 for a word.
func orZero(word string, field func(*params) *int) func(*params, string) error {
	set := bench.Count(field, "threads", 1, results.MostThreads)
	return func(p *params, text string) error {
		if text == word {
			*field(p) = 0
			return nil
		}
		return set(p, text)
	}
}

func setFree(p *params, text string) error {
	parts := strings.Split(text, "+")
	known := []string{results.PartRead, results.PartPreprocess, results.PartCopy}
	for i, part := range parts {
		if text != results.FreeNothing && (!slices.Contains(known, part) || slices.Contains(parts[:i], part)) {
			return fmt.Errorf("want %s, or some of %s joined by +", results.FreeNothing, strings.Join(known, ", "))
		}
	}
	p.Free = text
	return nil
}

func setDisk(p *params, text string) error {
	if _, err := theory.ParseDisk(text); err != nil && text != results.RealDisk {
		return fmt.Errorf("real, or: %w", err)
	}
	p.Disk = text
	return nil
}

func pipelineCases(env bench.Env) ([]bench.Case, error) {
	if err := env.Step.Check(); err != nil {
		return nil, err
	}
	fixed := []string{"device"} // opened already
	if env.Disk.Emulated() {
		fixed = append(fixed, "disk")
	}
	all, err := axes.Expand(points(env), env.Axes, fixed...)
	if err != nil {
		return nil, err
	}
	all = append(all, soakPoints(env)...)
	usable, _ := bench.UsableThreads(env)
	for i, p := range all {
		if env.Data.Remote != nil && !p.IsFree(results.PartRead) && len(env.Axes["cache"]) == 0 {
			all[i].Cache = results.Remote
		}
		if p.Workers > 0 {
			continue
		}
		all[i].Workers = max(1, min(usable, cmp.Or(int(p.CPUs), usable))-p.StepCPU)
	}
	return bench.CasesOf(all, func(p params) (bench.Case, error) { return pipelineCase(env, p) })
}

var pipelineMetrics = []bench.MetricDef{
	{Name: "step_time", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6},
	bench.MetricImages,
	{Name: "utilisation", Unit: results.Ratio, Better: results.Higher},
	{Name: "stall", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6},
	{Name: "wait", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6},
	{Name: "first_batch", Unit: results.Seconds, Better: results.Lower},
	{Name: "cpu", Unit: results.Seconds, Better: results.Lower},
	{Name: "read", Unit: results.Seconds, Better: results.Lower}, // of all workers, a batch
	bench.MetricLateness,
	{Name: "memory", Unit: results.Bytes, Better: results.Lower},
	{Name: metricPolling, Unit: results.Ratio, Better: results.Lower},
	{Name: metricBlocking, Unit: results.Ratio, Better: results.Lower},
}

// feedRestarts is how often the loader's top speed is measured anew: what differs
// between runs is in no interval of one run.
const feedRestarts = 3

func pipelineCase(env bench.Env, p params) (bench.Case, error) {
	list, err := axes.Params(p, map[string]string{"dtype": env.Batch.DType, "step-cpu": strconv.Itoa(env.Step.CPU)})
	if err != nil {
		return bench.Case{}, err
	}
	for i := range list {
		if list[i].Key == "soak" { // which is no axis
			list[i].Implied = false
		}
	}
	r, err := newRunner(env, p)
	if err != nil {
		return bench.Case{}, err
	}
	info := r.device.Info()
	c := bench.Case{Params: list, Group: cmp.Or(checkGroup(env, p), list.Name("pipeline")),
		Device: info.Spec, Mode: p.Mem, CPUs: r.cpus, Metrics: pipelineMetrics, References: bench.Demands()}
	if r.disk.Emulated() {
		c.Assumed = append(c.Assumed, "disk")
	}
	if info.AssumedLink() && !p.IsFree(results.PartCopy) {
		c.Assumed = append(c.Assumed, "link")
	}
	if info.Assumed && r.step > 0 {
		c.Assumed = append(c.Assumed, "step")
	}
	if r.step == 0 && p.Free == results.FreeNothing && p.Strategy == env.Data.UsualStrategy() && !env.Quick {
		c.Restarts = feedRestarts
	}
	c.Least = time.Duration(p.Soak)
	if r.step > 0 && p.Soak == 0 {
		c.References = append(c.References, results.Reference{Name: "step", Metric: "step_time",
			Value: new(r.step.Seconds()), Source: "the time that the device works on a batch"})
	}
	c.Skip = r.unable()
	if !p.IsFree(results.PartCopy) {
		c.Skip = cmp.Or(bench.TooShortToLoad(info, r.batch.Bytes()), c.Skip)
	}
	if c.Skip == "" {
		if err := r.fits(); err != nil {
			return bench.Case{}, err
		}
	}
	c.Open = bench.OpenCopy(*r)
	return c, nil
}
