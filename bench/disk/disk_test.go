package disk

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/pagecache"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/results"
)

func diskEnv(t *testing.T) bench.Env {
	env := benchtest.Env()
	env.Root = "/"
	env.Batch = theory.Batch{Images: 4, Height: 8, Width: 8, Channels: 3, DType: "uint8"}
	env.Data = benchtest.Data(t)
	return env
}

func TestDiskCases(t *testing.T) {
	env := diskEnv(t)
	got, cases := benchtest.Named(t, Suite, env)
	want := []string{
		"store=files/cache=cold-data/readers=1", "store=files/cache=warm/readers=1",
		"store=files/cache=direct/readers=1",
		"store=raw/cache=cold-data/readers=1", "store=raw/cache=warm/readers=1", "store=raw/cache=direct/readers=1",
		"store=files/cache=cold-data/readers=1/order=sequential",
		"store=files/cache=cold-data/readers=4", "store=files/cache=cold-data/readers=10",
		"store=raw/cache=direct/readers=4", "store=raw/cache=direct/readers=16",
	}
	if !slices.Equal(got, want) {
		t.Errorf("cases\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	env.Disk = theory.DiskSpec{Name: "stream100", Rate: 100e6}
	cases = benchtest.Cases(t, Suite, env)
	if len(cases) != 2 {
		t.Fatalf("%d cases of an emulated disk, want one a store", len(cases))
	}
	for _, c := range cases {
		p := results.As[params](c.Params)
		if !slices.Equal(c.Assumed, []string{"disk"}) || p.Disk != "stream100" || p.Cache != results.Warm {
			t.Errorf("%s: assumed %v", c.Params.Name("disk"), c.Assumed)
		}
	}
	env.Disk = theory.DiskSpec{}
	env.Data.Disk.Kind = results.DiskMemory
	for _, c := range benchtest.Cases(t, Suite, env) {
		if cached := c.Params.Text("cache") == results.Warm; cached != (c.Skip == "") {
			t.Errorf("%s on a memory-backed file system: skip %q", c.Params.Name("disk"), c.Skip)
		}
	}
}

// The suite must read every byte that it counts, with any number of readers, and no
// case may change the data.
func TestDiskSuiteReadsWhatItCounts(t *testing.T) {
	env := diskEnv(t)
	env.Axes = map[string][]string{"cache": {results.Warm}, "readers": {"1", "3"}}
	cases := benchtest.Cases(t, Suite, env)
	cfg := benchtest.Config(3)
	cfg.Env, cfg.Rule.MinTime = env, time.Nanosecond
	got := benchtest.Measure(t, cfg, cases...)
	if len(got) != len(cases) || len(got) < 4 {
		t.Fatalf("%d results of %d cases", len(got), len(cases))
	}
	for name, r := range got {
		if r.Status != results.OK {
			t.Errorf("%s: %s %s", name, r.Status, r.Reason)
			continue
		}
		m, b := r.Metric("time"), r.Metric("bandwidth")
		for i, s := range m.Samples { // files differ by at most 39 bytes, records do not
			size := s.Value * b.Samples[i].Value
			want, margin := 4*192.0, 1e-6
			if r.Params.Text("store") == loader.Files {
				want, margin = 4*3020, 4*20
			}
			if math.Abs(size-want) > margin {
				t.Errorf("%s: %.2f bytes a batch", name, size)
			}
		}
		if least := int64(2 * results.As[results.DiskParams](r.Params).Readers); int64(m.Samples[0].N) < least {
			t.Errorf("%s: %d batches a sample, want at least %d", name, m.Samples[0].N, least)
		}
		if r.Metric("batch_latency") == nil || r.Metric("read_latency") == nil {
			t.Errorf("%s: no latencies", name)
		}
		if _, known := r.Proven(); !known {
			t.Errorf("%s: proof %v does not say whether it is one", name, r.Proof)
		}
	}
}

// measured is the case of two readers of files in a state of the cache, which are spoiled after it
// was made.
func measured(t *testing.T, cache string, repeat int, spoil func(*loader.Set) error) (*results.Result, *loader.Set) {
	t.Helper()
	env := diskEnv(t)
	env.Axes = map[string][]string{"store": {loader.Files}, "cache": {cache}, "readers": {"2"},
		"order": {results.Sequential}}
	c, set := benchtest.Cases(t, Suite, env)[0], env.Data.Sets[loader.Files]
	benchtest.Must(t, spoil(set))
	cfg := benchtest.Config(3)
	cfg.Env, cfg.Env.Repeat = env, repeat
	return benchtest.Measure(t, cfg, c)[c.Params.Name("test")], set
}

// each spoils some of the files of a set.
func each(spoil func(path string) error, files ...int) func(*loader.Set) error {
	return func(set *loader.Set) (err error) {
		for _, i := range files {
			err = errors.Join(err, spoil(filepath.Join(set.Root, set.Files[i].Path)))
		}
		return err
	}
}

func shrink(path string) error { return os.Truncate(path, 100) }

// A file that vanishes or shrinks is left out and named; the others are read and counted.
func TestFilesThatVanish(t *testing.T) {
	for _, cache := range []string{results.Warm, results.ColdData, results.Direct} {
		for want, spoil := range map[string]func(string) error{"no such file": os.Remove, "shorter than ": shrink} {
			r, set := measured(t, cache, 1, each(spoil, 0, 5))
			said := strings.Join(r.Warnings, "\n")
			if r.Status == results.Skipped || strings.Contains(r.Reason, "direct I/O") {
				continue // where nothing can be evicted, or read directly
			}
			if r.Status != results.OK || strings.Count(said, "went bad while measuring: ") != 2 ||
				strings.Count(said, want) != 2 || !strings.Contains(said, set.Files[5].Path) {
				t.Errorf("%s, %s: %s %s: %s", cache, want, r.Status, r.Reason, said)
			}
		}
	}
}

// A case that cannot read names the file below the data root, and closes.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		cache string
		spoil func(set *loader.Set) error
		want  string
	}{
		{results.Warm, func(set *loader.Set) (err error) {
			for i := range set.Files {
				err = errors.Join(err, each(shrink, i)(set))
			}
			return err
		}, "no file could be read"},
		{results.Direct, func(set *loader.Set) error { return os.RemoveAll(set.Root) }, "no such file"}, // opens nothing
	} {
		r, set := measured(t, c.cache, 2, c.spoil)
		file := filepath.Join(set.Root, set.Files[1].Path)
		if r.Status != results.Failed || !strings.Contains(r.Reason, c.want) || strings.Contains(r.Reason, file) {
			t.Errorf("%s: %q, want %q and not %s", r.Status, r.Reason, c.want, file)
		}
	}
}

// A sample that is interrupted says so, and the readers end.
func TestInterrupt(t *testing.T) {
	env := diskEnv(t)
	set := env.Data.Sets[loader.Raw]
	d := &diskRunner{params: params{Cache: results.Warm, Readers: 3}, env: env, set: set}
	d.plan = set.Plan(loader.Order{}, 4)
	benchtest.Must(t, d.Open(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := d.read(ctx, 2)
	benchtest.Must(t, err)
	for cancel(); err == nil; { // whatever is read before it is noticed
		_, err = d.read(ctx, 2)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	benchtest.Must(t, d.Close())
}

// Proofs of one runner, and what the result says of them. A count that could not be read, or of no
// sample, is not in the report: neither as 0 nor as -1.
func TestProofs(t *testing.T) {
	good := pagecache.Proof{Asked: 100, FromDevice: 100, DeviceBytes: 100}
	bad, unknown := good, pagecache.Proof{Asked: 100, Before: math.NaN(), FromDevice: pagecache.UnknownBytes,
		DeviceBytes: pagecache.UnknownBytes}
	bad.Verdict = "only 20 % of the bytes came from the disk"
	for _, c := range []struct {
		cache         string
		proofs        []pagecache.Proof
		proven, known bool
		warned        string
	}{
		{results.ColdData, []pagecache.Proof{good, good}, true, true, ""},
		{results.ColdData, []pagecache.Proof{good, bad, good}, false, true, "unproven: only 20 %"},
		{results.ColdData, nil, false, false, ""},
		{results.Direct, nil, false, false, ""},
		{results.Direct, []pagecache.Proof{unknown}, true, false, ""},
	} {
		d := &diskRunner{params: params{Cache: c.cache}, proofs: c.proofs, env: bench.Env{Data: &bench.Data{}}}
		r := results.Result{Status: results.OK}
		d.Report(&r)
		p := results.As[results.DiskProof](r.Proof)
		known := []bool{p.FromDevice != nil, p.OfDevice != nil, p.ResidentBefore != nil}
		proven, _ := r.Proven()
		if proven != c.proven || slices.Contains(known, !c.known) {
			t.Errorf("%s, %d proofs: %+v", c.cache, len(c.proofs), p)
		}
		benchtest.Says(t, c.cache, strings.Join(r.Warnings, ";"), c.warned)
	}
}

// Rates that drift are said to. The first pass over the data and later ones are told apart where
// they differ, as on volumes that fetch what is read for the first time.
func TestSteadiness(t *testing.T) {
	line := func(from, to float64) (rates []float64) {
		for i := range 12 {
			rates = append(rates, 1e6*(from+(to-from)*float64(i)/11))
		}
		return rates
	}
	usual, cold := []float64{100e6, 105e6, 110e6}, results.ColdData
	for name, c := range map[string]struct {
		cache               string
		rates, first, later []float64
		want                string // of the warning, "" for none
	}{
		"even":    {cold, line(100, 100), nil, nil, ""},
		"nearly":  {cold, line(100, 110), nil, nil, ""},
		"slower":  {cold, line(100, 50), nil, nil, "read 93.18 MB/s, the last third 56.82"},
		"faster":  {results.Direct, line(100, 200), nil, nil, "the first third of the samples read"},
		"cached":  {results.Warm, line(100, 200), nil, nil, ""},
		"too few": {cold, line(100, 50)[:8], nil, nil, ""},
		"snapshot": {cold, nil, []float64{20e6, 25e6, 22e6}, []float64{150e6, 160e6, 140e6, 155e6},
			"the first pass over the data read 22.00 MB/s, later ones 152.5 MB/s: something on the way"},
		"burst":          {cold, nil, []float64{300e6, 310e6, 290e6}, usual, "or a cloud volume have burst credit"},
		"the same":       {cold, nil, []float64{100e6, 110e6, 105e6}, usual, ""},
		"noise":          {cold, nil, []float64{20e6, 160e6, 30e6}, usual, ""},
		"too few passes": {cold, nil, []float64{20e6, 25e6}, []float64{150e6, 160e6, 140e6}, ""},
	} {
		d := &diskRunner{params: params{Cache: c.cache}, rates: c.rates, first: c.first, later: c.later}
		r := results.Result{Status: results.OK, Metrics: []results.Metric{{Name: "bandwidth", Median: 100e6, MAD: 1e6}}}
		d.steady(&r)
		benchtest.Says(t, name, strings.Join(r.Warnings, ";"), c.want)
	}
}

// What another case of the run has read is no first pass.
func TestFirstPassIsTheRuns(t *testing.T) {
	env := diskEnv(t)
	set := env.Data.Sets[loader.Raw]
	for i, want := range []bool{true, false} {
		d := &diskRunner{params: params{Cache: results.Direct, Readers: 1}, env: env, set: set}
		d.plan = set.Plan(loader.Order{}, 4)
		if first := d.touch(d.plan.Part(0, 2)) == 1; first != want {
			t.Errorf("case %d: first pass: %v", i, first)
		}
	}
}

func TestDiskReferences(t *testing.T) {
	data := &bench.Data{Disk: results.Disk{LinkRate: 1.2e9, Link: "test link"}}
	env := bench.Env{Options: bench.Options{Batch: theory.ArticleBatch}, Data: data}
	d := &diskRunner{params: params{Store: loader.Tensor}, env: env}
	r := results.Result{References: d.references(float64(benchtest.BatchBytes))}
	for name, want := range map[string]float64{"100MB/s": 0.1944, "sata3-peak": 0.0324, "nvme-peak": 0.0057176,
		"device-link": 0.0162, "article": 0.185} {
		if ref := r.Reference(name, "time"); ref == nil || math.Abs(*ref.Value-want) > 1e-6 || ref.Source == "" {
			t.Errorf("%s: %+v, want %v s", name, ref, want)
		}
	}
	d.Store = loader.Files
	r.References = d.references(3.5e6)
	if r.Reference("article", "time") != nil {
		t.Error("the article's figure is for tensors, and stands beside files")
	}
}

func TestFindingOnLoadingAhead(t *testing.T) {
	read := func(store string, around float64, proven bool) results.Result {
		point := params{Store: store, Cache: results.ColdData, Readers: 1, Order: results.UsualOrder[store]}
		p, err := axes.Params(point, nil)
		benchtest.Must(t, err)
		time := benchtest.Around(around, 0.1)
		return results.Result{Suite: "disk", Status: results.OK, Params: p,
			Proof:   results.RecordOf(results.DiskProof{Proven: &proven}),
			Metrics: []results.Metric{{Name: "time", Unit: "s", Median: time[0], Lo: &time[1], Hi: &time[2]}}}
	}
	env := bench.Env{Options: bench.Options{Batch: theory.ArticleBatch}, Data: &bench.Data{}}
	for _, c := range []struct {
		rs      []results.Result
		verdict string
	}{
		{nil, results.NotMeasured},
		{[]results.Result{read(loader.Tensor, 14e-3, true)}, results.Holds},
		{[]results.Result{read(loader.Tensor, 14e-3, false)}, results.Inconclusive},
		{[]results.Result{read(loader.Tensor, 400e-3, true)}, results.Fails},
		{[]results.Result{read(loader.Tensor, 210e-3, true)}, results.Inconclusive},
		{[]results.Result{read(loader.Files, 400e-3, true), read(loader.Tensor, 14e-3, true)}, results.Holds},
	} {
		benchtest.WantFinding(t, benchtest.Finding(Suite.Findings(env, c.rs), "A9"), c.verdict)
	}
}

// A drive is held against the peak of its own interface, other disks against none.
func TestFindingOnInterfaces(t *testing.T) {
	read := func(cache string, rate float64) results.Result {
		p, err := axes.Params(params{Store: loader.Tensor, Cache: cache, Readers: 1, Order: results.Sequential}, nil)
		benchtest.Must(t, err)
		around := benchtest.Around(rate, 0.01)
		return results.Result{Suite: "disk", Status: results.OK, Params: p,
			Metrics: []results.Metric{{Name: "bandwidth", Unit: "B/s", Median: around[0], Lo: &around[1], Hi: &around[2]}}}
	}
	for _, c := range []struct {
		kind    string
		rs      []results.Result
		verdict string
		says    string
	}{
		{results.DiskSATA, nil, results.NotMeasured, "nothing was read"},
		{results.DiskSATA, []results.Result{read(results.Warm, 9e9)}, results.NotMeasured, "nothing was read"},
		{results.DiskSATA, []results.Result{read(results.Direct, 540e6), read(results.Warm, 9e9)}, results.Holds, "600 MB/s"},
		{results.DiskSATA, []results.Result{read(results.ColdData, 100e6), read(results.Direct, 700e6)}, results.Fails, "700.0 MB/s"},
		{results.DiskNVMe, []results.Result{read(results.Direct, 700e6)}, results.Holds, "3.4 GB/s"},
		{results.DiskNVMe, []results.Result{read(results.Direct, 7e9)}, results.Fails, "7.000 GB/s"},
		{results.DiskVirtio, []results.Result{read(results.Direct, 7e9)}, results.NotMeasured, "from this disk (virtio)"},
	} {
		data := &bench.Data{Disk: results.Disk{Kind: c.kind}}
		env := bench.Env{Options: bench.Options{Batch: theory.ArticleBatch}, Data: data}
		benchtest.WantFinding(t, benchtest.Finding(Suite.Findings(env, c.rs), "A10"), c.verdict, c.says)
	}
}

// A batch whose files all vanished says nothing of how long one takes.
func TestLatencyOfLostBatches(t *testing.T) {
	r, _ := measured(t, results.Warm, 10, func(set *loader.Set) (err error) {
		for i := range set.Files {
			if batch := i / 4; batch > 1 && batch%4 > 0 {
				err = errors.Join(err, each(os.Remove, i)(set))
			}
		}
		return err
	})
	m := r.Metric("batch_latency")
	if m == nil || len(m.Quantiles) == 0 {
		t.Fatalf("%s %s: %+v", r.Status, r.Reason, m)
	}
	for _, q := range m.Quantiles {
		if !(q.Value > 0) {
			t.Errorf("quantile %g is %g s", q.P, q.Value)
		}
	}
}
