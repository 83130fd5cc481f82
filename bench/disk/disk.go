package disk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/results"
)

// Suite is the suite.
var Suite = bench.Suite{
	Name:     "disk",
	Doc:      "how long a batch takes from storage, by store, state of the page cache and number of readers",
	Axes:     bench.OldInfo(diskAxes),
	Cases:    diskCases,
	Derive:   diskFindings,
	Data:     true,
	Measured: "CPU, memory and disk",
	Share:    22 * time.Second,
	Quick:    5 * time.Second,
}

var diskAxes = []bench.OldAxis{
	{Name: "disk", Doc: "an emulated disk: set by --disk"},
	{Name: "store", Doc: "form of the data: image files, tar shards, one record a sample, one record a batch", Values: loader.Stores},
	{Name: "cache", Doc: "the data evicted from the page cache; all caches dropped (root); the data cached; the cache bypassed (O_DIRECT)",
		Values: []string{results.ColdData, results.ColdAll, results.Warm, results.Direct}},
	{Name: "readers", Doc: "threads that read, each a batch at a time", Parse: parseReaders},
	{Name: "order", Doc: "of the samples; shards are shuffled as a whole", Values: []string{results.Sequential, results.Shuffled}},
}

// mostReaders bounds the readers axis.
const mostReaders = 1024

func parseReaders(s string) (any, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > mostReaders {
		return nil, fmt.Errorf("want a number of readers from 1 to %d", mostReaders)
	}
	return int64(n), nil
}

// usual stands for a store's usual order in points whose store may still change.
const usual = "usual"

func diskPoints(env bench.Env) []map[string]string {
	var points []map[string]string
	add := func(store, cache, readers, order string) {
		if env.Data.Sets[store] == nil {
			return
		}
		p := map[string]string{"store": store, "cache": cache, "readers": readers, "order": order}
		if env.Disk.Emulated() {
			p["disk"] = env.Disk.Name
		}
		points = append(points, p)
	}
	if env.Disk.Emulated() {
		for _, store := range loader.Stores {
			add(store, results.Warm, "1", usual)
		}
		return points
	}
	for _, store := range loader.Stores {
		if env.Quick && (store == loader.Raw || store == loader.Tar) && env.Data.Sets[loader.Files] != nil {
			continue
		}
		for _, cache := range []string{results.ColdData, results.Warm, results.Direct} {
			add(store, cache, "1", usual)
		}
	}
	if env.Quick {
		return points
	}
	add(loader.Files, results.ColdData, "1", results.Sequential)
	for _, readers := range []string{"4", "10"} { // the set of our own has 20 batches
		add(loader.Files, results.ColdData, readers, usual)
	}
	for _, readers := range []string{"4", "16"} {
		add(loader.Raw, results.Direct, readers, usual)
		add(loader.Tensor, results.Direct, readers, usual)
	}
	return points
}

func diskCases(env bench.Env) ([]bench.Case, error) {
	given := maps.Clone(env.Axes)
	delete(given, "disk") // in the environment already
	var cases []bench.Case
	seen := map[string]bool{}
	for _, p := range bench.Expand(diskAxes, diskPoints(env), given) {
		if p["order"] == usual {
			p["order"] = results.UsualOrder[p["store"]]
		}
		key := fmt.Sprint(p)
		if seen[key] {
			continue
		}
		seen[key] = true
		c, err := diskCase(env, p)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// Metrics of the disk suite.
var (
	metricBatchLatency = bench.MetricDef{Name: "batch_latency", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6, Distribution: true}
	metricReadLatency  = bench.MetricDef{Name: "read_latency", Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6, Distribution: true}
	metricAmplified    = bench.MetricDef{Name: "amplification", Unit: results.Ratio, Better: results.Lower}
	metricDepth        = bench.MetricDef{Name: "queue_depth", Unit: results.Ratio}
	metricCPUPerGB     = bench.MetricDef{Name: "cpu_per_gb", Unit: results.Seconds, Better: results.Lower}
)

func diskCase(env bench.Env, point map[string]string) (bench.Case, error) {
	axes := make([]bench.OldAxis, len(diskAxes))
	copy(axes, diskAxes)
	axes[len(axes)-1].Default = results.UsualOrder[point["store"]]
	p, err := bench.Params(axes, point)
	if err != nil {
		return bench.Case{}, err
	}
	set := env.Data.Sets[point["store"]]
	c := bench.Case{Params: p, Group: p.Name("disk")}
	if set == nil {
		c.Skip = "the data given has no such store"
		return c, nil
	}
	r := &diskRunner{env: env, set: set, store: point["store"], cache: point["cache"], readers: int(p.Int("readers")), emulated: env.Disk}
	r.plan = set.Plan(loader.Order{Shuffle: point["order"] == results.Shuffled, Seed: env.Seed}, env.Batch.Images)
	cold := r.cache == results.ColdData || r.cache == results.ColdAll
	first := bench.MetricTime
	first.Resolution = 1e-6
	second, third := bench.MetricBandwidth, bench.MetricImages
	if env.Disk.Emulated() {
		c.Assumed = []string{"disk"}
		first.NoInterval, second.NoInterval, third.NoInterval = true, true, true
		if point["cache"] != results.Warm {
			c.Skip = "an emulated disk reads from the page cache: cache=warm"
		}
	}
	c.Metrics = []bench.MetricDef{first, second, third, metricBatchLatency, metricReadLatency, metricAmplified, metricDepth, metricCPUPerGB}
	if env.Disk.Emulated() {
		c.Metrics = []bench.MetricDef{first, second, third, bench.MetricLateness, metricCPUPerGB}
	}
	buffers := int64(r.readers) * r.bufferBytes()
	switch have := env.Host.Memory.Available; {
	case have > 0 && buffers > have/2:
		c.Skip = fmt.Sprintf("the buffers of %d readers take %s, of %s that are available", r.readers, results.FormatBytes(buffers), results.FormatBytes(have))
	case r.plan.Len() < 1:
		c.Skip = fmt.Sprintf("%d samples are less than one batch of %d", len(set.Samples), env.Batch.Images)
	case env.Data.Disk.Kind == results.DiskMemory && point["cache"] != results.Warm:
		c.Skip = pagecache.InMemoryOnly(env.Data.Disk)
	case !pagecache.Controlled && point["cache"] != results.Warm:
		c.Skip = pagecache.NotControlled
	}
	if c.Skip == "" && cold && r.plan.Len() < r.readers {
		c.Skip = fmt.Sprintf("the data has %d batches, fewer than %d readers: not each would read", r.plan.Len(), r.readers)
	}
	c.Open = func(ctx context.Context, env bench.Env) (bench.Runner, error) {
		fresh := r.anew(env)
		if err := fresh.open(ctx); err != nil {
			if cerr := fresh.Close(); cerr != nil {
				err = errors.Join(err, cerr)
			}
			return nil, err
		}
		return fresh, nil
	}
	return c, nil
}
