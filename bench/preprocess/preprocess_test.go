package preprocess

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/theory"
	"dlbench/loader"
	"dlbench/loader/decode"
	"dlbench/results"
)

func TestThreadCounts(t *testing.T) {
	for _, c := range []struct {
		all, cores int
		quick      bool
		want       []int
	}{
		{1, 1, false, []int{1}},
		{2, 2, false, []int{1, 2}},
		{4, 4, false, []int{1, 2, 3, 4}},
		{4, 2, false, []int{1, 2, 3, 4}},
		{8, 8, false, []int{1, 2, 3, 4, 6, 8}},
		{64, 32, true, []int{1, 2, 32, 64}},
	} {
		if got := threadCounts(c.all, c.cores, c.quick); !slices.Equal(got, c.want) {
			t.Errorf("%d CPUs on %d cores, quick %v: %v, want %v", c.all, c.cores, c.quick, got, c.want)
		}
	}
	for all := 1; all <= 300; all++ {
		for _, cores := range []int{(all + 1) / 2, all} {
			got := threadCounts(all, cores, false)
			if !slices.IsSorted(got) || got[0] != 1 || got[len(got)-1] != all || !slices.Contains(got, cores) ||
				len(got) > 8 || all >= theory.AmdahlCounts && len(got) < theory.AmdahlCounts ||
				all >= 8 && len(got) < theory.USLCounts {
				t.Errorf("%d CPUs on %d cores: %v", all, cores, got)
			}
		}
	}
}

func TestPreprocessCases(t *testing.T) {
	env := benchtest.ImagesEnv(t, true)
	all, cases := benchtest.Named(t, Suite, env)
	skipped := func(c bench.Case) bool { return c.Skip != "" }
	layout := func(name string) bool { return strings.HasSuffix(name, "/strategy=online/layout=nchw") }
	if slices.ContainsFunc(cases, skipped) || !slices.Contains(all, "threads=1/strategy=offline") ||
		!slices.ContainsFunc(all, layout) {
		t.Errorf("cases %v", all)
	}
	env.Axes = map[string][]string{"threads": {"3"}, "decoder": {"go"}, "strategy": {"online"}, "layout": {"nchw"},
		"dtype": {"float16"}, "antialias": {"off"}, "clock": {"2.50"}}
	want := "threads=3/decoder=go/strategy=online/layout=nchw/dtype=float16/antialias=off/clock=2.5"
	if all, _ := benchtest.Named(t, Suite, env); !slices.Equal(all, []string{want}) {
		t.Errorf("with every axis given: %v", all)
	}
	env.Axes = map[string][]string{"strategy": {"offline"}}
	delete(env.Data.Sets, loader.Raw)
	if cases := benchtest.Cases(t, Suite, env); !strings.Contains(cases[0].Skip, "no raw store: dlbench dataset pack") {
		t.Errorf("offline without a raw store: %+v", cases)
	}
	env.Batch.Images = 100
	env.Axes = nil
	cases = benchtest.Cases(t, Suite, env)
	if !strings.Contains(cases[0].Skip, "20 good samples are less than one batch of 100") {
		t.Errorf("a batch of 100: %+v", cases)
	}
	env.Host.Memory.Available = 1 << 10
	env.Batch.Images = 4
	if _, err := preprocessCases(env); err == nil || !strings.Contains(err.Error(), "--batch 4") {
		t.Errorf("without memory: %v", err)
	}
}

// The whole suite over small images: each case has all its metrics, stages are parts
// of the time, and what follows from several cases is added.
func TestPreprocessSuite(t *testing.T) {
	env := benchtest.ImagesEnv(t, true)
	env.Axes = map[string][]string{"threads": {"1", "2"}, "decoder": {"go"}}
	rs := benchtest.Run(t, Suite, env, 2)
	fs := Suite.Findings(env, rs)
	for _, r := range rs {
		if r.Status != results.OK {
			t.Fatalf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
		p := results.As[params](r.Params)
		want := []string{"throughput", "control", "efficiency", "control_efficiency", "read", "collate"}
		if p.Strategy == results.Online {
			want = append(want, "decode", "resample")
		}
		if p.Threads > 1 {
			want = append(want, "gain")
		}
		for _, name := range want {
			m := r.Metric(name)
			if m == nil || math.IsNaN(m.Median) || m.Median <= 0 && name != "gain" && name != "collate" {
				t.Errorf("%s: %s is %+v", r.Name, name, m)
			}
		}
		linear := r.Reference("linear", "throughput")
		if linear == nil || *linear.Value <= 0 || r.Reference("demand: ResNet-152", "throughput") == nil {
			t.Errorf("%s: references %+v", r.Name, r.References)
		}
		for i, x := range r.Metric("throughput").Samples { // stages fill a sample's time
			sum := 0.0
			for _, stage := range []string{"read", "decode", "resample", "collate"} {
				if m := r.Metric(stage); m != nil {
					sum += m.Samples[i].Value
				}
			}
			if p.Threads == 1 && sum < 0.999/x.Value {
				t.Errorf("%s: stages take %g of %g s", r.Name, sum, 1/x.Value)
			}
		}
		if !r.Fit.IsZero() {
			t.Errorf("%s: a fit to two thread counts: %v", r.Name, r.Fit)
		}
	}
	if len(fs) != 2 || fs[0].Claim != "A7" || fs[0].Verdict == results.NotMeasured ||
		fs[1].Claim != "A8" || fs[1].Verdict != results.NotMeasured {
		t.Errorf("findings %+v", fs)
	}
}

// A file that goes bad after it was checked costs its place in the batch, is named,
// and is not counted.
func TestPreprocessNamesWhatWentBad(t *testing.T) {
	env := benchtest.ImagesEnv(t, false)
	env.Axes = map[string][]string{"threads": {"2"}, "decoder": {"go"}, "layout": {results.NHWC},
		"dtype": {"float32"}, "antialias": {results.On}}
	set := env.Data.Images
	victim := filepath.Join(set.Root, set.Files[set.Samples[5].File].Path)
	benchtest.Must(t, os.WriteFile(victim, bytes.Repeat([]byte{7}, int(set.Samples[5].Len)), 0o644))
	benchtest.Must(t, os.Remove(filepath.Join(set.Root, set.Files[set.Samples[7].File].Path)))
	rs := benchtest.Run(t, Suite, env, 2)
	if len(rs) != 1 || rs[0].Status != results.OK {
		t.Fatalf("%+v", rs)
	}
	for _, i := range []int{5, 7} { // what turned to garbage, and what vanished
		named := func(w string) bool { return strings.HasPrefix(w, "went bad while measuring: "+set.Name(i)+": ") }
		if !slices.ContainsFunc(rs[0].Warnings, named) {
			t.Errorf("%s is not in the warnings %v", set.Name(i), rs[0].Warnings)
		}
	}
	if results.As[results.PreprocessProof](rs[0].Proof).Bad == 0 {
		t.Errorf("proof %v", rs[0].Proof)
	}
}

// finished is results of online cases with these rates by threads.
func finished(rates map[int]float64, clock float64) (rs []results.Result) {
	for _, n := range slices.Sorted(maps.Keys(rates)) {
		x := rates[n]
		lo, hi := 0.99*x, 1.01*x
		p, _ := axes.Params(params{Threads: n, Decoder: decode.Turbo, Strategy: results.Online, Clock: clock}, nil)
		m := results.Metric{Name: "throughput", Unit: results.PerSecond, Median: x, Min: lo, Max: hi, Lo: &lo, Hi: &hi}
		rs = append(rs, results.Result{Suite: "preprocess", Name: p.Name("preprocess"), Params: p, Status: results.OK,
			Metrics: []results.Metric{m}})
	}
	return rs
}

func TestFindings(t *testing.T) {
	rates := func(all map[int]float64) []results.Result { return finished(all, 0) }
	clocks := func(slow, x, fast, y float64) []results.Result {
		return append(finished(map[int]float64{1: x}, slow), finished(map[int]float64{1: y}, fast)...)
	}
	for _, c := range []struct {
		claim   string
		rs      []results.Result
		verdict string
		says    string
	}{
		{"A7", rates(map[int]float64{1: 800, 2: 1600}), results.Holds, "2 threads prepared 1600"},
		{"A7", rates(map[int]float64{1: 800, 2: 1600}), results.Holds,
			"2 for ResNet-50 on A100 (920 images/s, emulated), 3 or more (extrapolated) for ResNet-50 on H100"},
		{"A7", rates(map[int]float64{1: 800}), results.Holds, "1 thread prepared 800"},
		{"A7", rates(map[int]float64{1: 50, 2: 100}), results.Fails,
			"2 threads prepared 100 images/s (99 to 101), ResNet-152 needs 148. "},
		{"A7", rates(map[int]float64{1: 50}), results.Inconclusive, ""},
		{"A7", rates(map[int]float64{1: 75, 2: 148.15}), results.Inconclusive, "prepared 148 images/s (147 to 150)"},
		{"A7", rates(map[int]float64{8: 500}), results.NotMeasured,
			"Threads needed to prepare images online: 3 for ResNet-152"},
		{"A7", rates(map[int]float64{1: 500, 2: 1000, 4: 2000}), results.Holds,
			"4 for ResNet-50 on H100 (1786 images/s, emulated)"},
		{"A7", nil, results.NotMeasured, ""},
		{"A8", rates(map[int]float64{1: 800}), results.NotMeasured, "a CPU quota does not change it"},
		{"A8", finished(map[int]float64{1: 800}, 2), results.NotMeasured, ""},
		{"A8", clocks(2, 500, 4, 1000), results.Fails, "at 2.00 instead of 4.00 GHz (50 % lower)"},
		{"A8", clocks(2, 985, 4, 1000), results.Holds, ""},
		{"A8", clocks(2, 800, 4, 1000), results.Inconclusive, ""},
		{"A8", clocks(3.9, 800, 4, 1000), results.NotMeasured, ""},
	} {
		benchtest.WantFinding(t, benchtest.Finding(Suite.Findings(bench.Env{}, c.rs), c.claim), c.verdict, c.says)
	}
}

// Nothing is fitted to fewer than four counts; of a line the last result has the fit.
func TestFits(t *testing.T) {
	rs := finished(map[int]float64{1: 100, 2: 181.8, 4: 307.7}, 0)
	Suite.Findings(bench.Env{}, rs)
	if slices.ContainsFunc(rs, func(r results.Result) bool { return !r.Fit.IsZero() }) {
		t.Errorf("three counts are fitted: %v", rs)
	}
	rs = finished(map[int]float64{1: 100, 2: 181.8, 4: 307.7, 8: 470.6}, 0)
	Suite.Findings(bench.Env{}, rs)
	fit := results.As[results.Fit](rs[3].Fit)
	if fit.Model != "amdahl" || math.Abs(*fit.Serial-0.1) > 0.001 || fit.Most != 8 || !rs[0].Fit.IsZero() {
		t.Errorf("fit %v", fit)
	}
	if e := rs[3].Metric("efficiency"); e == nil || math.Abs(e.Median-0.588) > 0.001 {
		t.Errorf("efficiency %+v", e)
	}
}

// Under a CPU quota the control is taken as the case was: it makes as many images, and does
// not count where only one of the two was stopped.
func TestControlUnderAQuota(t *testing.T) {
	r := &preprocessRunner{params: params{Threads: 2}}
	r.batch.Images = 32
	if free, stopped := r.controlled(4, 0), r.controlled(4, 3); free != 32 || stopped != 64 {
		t.Errorf("the control makes %d images, and %d where the case was stopped", free, stopped)
	}
	for _, c := range []struct {
		sample, control int64
		want            bool
	}{{0, 0, true}, {3, 2, true}, {3, 0, false}, {0, 1, false}} {
		if got := alike(c.sample, c.control); got != c.want {
			t.Errorf("stopped %d and %d times: comparable %v", c.sample, c.control, got)
		}
	}
}
