// Package disk is the suite of disk reads: batches from each store, cold, warm and direct,
// by number of readers, from the data's disk or a simulated one.
package disk

import (
	"cmp"
	"fmt"
	"time"

	"dlbench/bench"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/results"
)

var Suite = bench.Suite{
	Name:   "disk",
	Doc:    "how long a batch takes from storage, by store, state of the page cache and number of readers",
	Axes:   axes.Info(),
	Cases:  diskCases,
	Claims: claims,
	Data:   true,
	Share:  22 * time.Second,
	Quick:  5 * time.Second,
}

type params = results.DiskParams

// mostReaders bounds the readers axis.
const mostReaders = 1024

var axes = bench.Axes[params]{
	{Name: "disk", Set: bench.Text(func(p *params) *string { return &p.Disk }), Doc: "a simulated disk: set by --disk"},
	{Name: "store", Set: bench.Text(func(p *params) *string { return &p.Store }), Values: loader.Stores,
		Doc: "form of the data: image files, tar shards, one record a sample, one record a batch"},
	{Name: "cache", Set: bench.Text(func(p *params) *string { return &p.Cache }),
		Values: []string{results.ColdData, results.ColdAll, results.Warm, results.Direct, results.Remote},
		Doc: "the data evicted from the page cache; all caches dropped (root); the data cached; " +
			"the cache bypassed (O_DIRECT); an object store, whose caches are unknown"},
	{Name: "readers", Set: bench.Count(func(p *params) *int { return &p.Readers }, "readers", 1, mostReaders),
		Doc: "number of threads that read; each reads a batch at a time"},
	{Name: "order", Set: bench.Text(func(p *params) *string { return &p.Order }),
		Values: []string{results.Sequential, results.Shuffled}, Doc: "order of the samples; shards are shuffled as a whole"},
}

// points are the curated points. Those without an order have the usual one of their
// store, which the user may still change.
func points(env bench.Env) (all []params) {
	add := func(store, cache string, readers int, order string) {
		if env.Data.Sets[store] != nil {
			all = append(all, params{Disk: env.Disk.Name, Store: store, Cache: cache, Readers: readers, Order: order})
		}
	}
	if env.Disk.Emulated() {
		for _, store := range loader.Stores {
			add(store, results.Warm, 1, "")
		}
		return all
	}
	if env.Data.Remote != nil {
		return remotePoints(env)
	}
	for _, store := range loader.Stores {
		if env.Quick && (store == loader.Raw || store == loader.Tar) && env.Data.Sets[loader.Files] != nil {
			continue
		}
		for _, cache := range []string{results.ColdData, results.Warm, results.Direct} {
			add(store, cache, 1, "")
		}
	}
	if env.Quick {
		return all
	}
	add(loader.Files, results.ColdData, 1, results.Sequential)
	for _, readers := range []int{4, 10} { // the set of our own has 20 batches
		add(loader.Files, results.ColdData, readers, "")
	}
	for _, readers := range []int{4, 16} {
		add(loader.Raw, results.Direct, readers, "")
		add(loader.Tensor, results.Direct, readers, "")
	}
	return all
}

func diskCases(env bench.Env) ([]bench.Case, error) {
	expanded, err := axes.Expand(points(env), env.Axes, "disk") // which is in the environment
	if err != nil {
		return nil, err
	}
	for i, p := range expanded {
		expanded[i].Order = cmp.Or(p.Order, results.UsualOrder[p.Store])
	}
	return bench.CasesOf(expanded, func(p params) (bench.Case, error) { return diskCase(env, p) })
}

// metrics are those of a case: of a real disk also its latencies and what it read.
func metrics(emulated bool) []bench.MetricDef {
	all := []bench.MetricDef{bench.MetricTime, bench.MetricBandwidth, bench.MetricImages}
	all[0].Resolution = 1e-6
	for i := range all {
		all[i].NoInterval = emulated
	}
	if emulated {
		all = append(all, bench.MetricLateness)
	} else {
		all = append(all, latency("batch_latency"), latency("read_latency"),
			bench.MetricDef{Name: "amplification", Unit: results.Ratio, Better: results.Lower},
			bench.MetricDef{Name: "queue_depth", Unit: results.Ratio})
	}
	return append(all, metricCPU)
}

var metricCPU = bench.MetricDef{Name: "cpu_per_gb", Unit: results.Seconds, Better: results.Lower}

func latency(name string) bench.MetricDef {
	return bench.MetricDef{Name: name, Unit: results.Seconds, Better: results.Lower, Resolution: 1e-6, Distribution: true}
}

func diskCase(env bench.Env, p params) (bench.Case, error) {
	list, err := axes.Params(p, map[string]string{"order": results.UsualOrder[p.Store]})
	if err != nil {
		return bench.Case{}, err
	}
	c := bench.Case{Params: list, Group: list.Name("disk")}
	set := env.Data.Sets[p.Store]
	if set == nil {
		c.Skip = "the data given has no such store"
		return c, nil
	}
	c.Metrics = metrics(env.Disk.Emulated())
	if set.Remote != nil {
		c.Metrics = remoteMetrics
	}
	if looksAtFiles(env, p) {
		c.Metrics = append(c.Metrics, metadataMetrics()...)
	}
	if env.Disk.Emulated() {
		c.Assumed = []string{"disk"}
	}
	plan := set.Plan(loader.Order{Shuffle: p.Order == results.Shuffled, Seed: env.Seed}, env.Batch.Images)
	c.Skip = whyNot(env, p, set, plan.Len())
	c.Open = bench.OpenCopy(diskRunner{params: p, env: env, set: set, plan: plan})
	return c, nil
}

// whyNot says why a case cannot be measured here, over a plan of so many batches; "" for
// one that can.
func whyNot(env bench.Env, p params, set *loader.Set, batches int) string {
	buffers := int64(p.Readers) * (set.BufferBytes() + 2*loader.BlockSize)
	cached := p.Cache == results.Warm
	switch {
	case !env.Fits(buffers):
		return fmt.Sprintf("the buffers of %d readers take %s, of %s that are available in %s",
			p.Readers, results.FormatBytes(buffers), results.FormatBytes(env.Host.Memory.Available), env.Host.Memory.Where())
	case batches < 1:
		return fmt.Sprintf("%d samples are less than one batch of %d", len(set.Samples), env.Batch.Images)
	case set.Remote != nil || p.Cache == results.Remote:
		return env.Data.WhyNotRemote(p.Cache == results.Remote, env.Disk.Emulated())
	case !cached && pagecache.CachedOnly(env.Data.Disk) != "":
		return pagecache.CachedOnly(env.Data.Disk)
	case env.Disk.Emulated() && !cached:
		return "a simulated disk reads from the page cache: cache=warm"
	case cold(p) && batches < p.Readers:
		return fmt.Sprintf("the data has %d batches, fewer than %d readers: some would have nothing to read",
			batches, p.Readers)
	}
	return ""
}

// cold says whether a batch that was read must be evicted before it is read again.
func cold(p params) bool { return p.Cache == results.ColdData || p.Cache == results.ColdAll }
