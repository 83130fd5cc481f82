package bench

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dlbench/loader"
	"dlbench/results"
)

// Data brought into RAM is predicted from a case past the page cache: from its steps and
// what its reads took, not from what it is held against.
func TestPredictCold(t *testing.T) {
	of := func(free, cache string, seconds, read float64) results.Result {
		r := fakePipeline("sim:gen3x16", "2", online, free, "real", "0s", seconds)
		r.Params = append(r.Params, results.Param{Key: "cache", Value: cache}, results.Param{Key: "dtype", Value: "float32"}, results.Param{Key: "step-cpu", Value: int64(1)})
		if read > 0 {
			m := results.Metric{Name: "read", Unit: results.Seconds}
			for i := range 6 {
				m.Samples = append(m.Samples, results.Sample{Value: read, N: 1, T: float64(i)})
			}
			results.Summarize(&m, results.SummaryOptions{})
			r.Metrics = append(r.Metrics, m)
		}
		return r
	}
	for _, c := range []struct {
		name       string
		cold, read float64 // s a batch
		want       float64 // s a batch in RAM; 0 for no prediction
	}{
		{"reads and the rest add up", 0.060, 0.011, 0.050},
		{"what others made slower is no read", 0.070, 0.011, 0.060},
		{"reads take all that is more", 0.090, 0.041, 0.050},
		{"reads unknown", 0.060, 0, 0},
		{"unproven", 0.060, 0.011, 0},
	} {
		rep := &results.Report{Config: results.Config{Batch: 32, Shape: []int{225, 225, 3}, DType: "float32"}}
		rep.Host.CPU.Usable = 2
		rep.Results = []results.Result{of(nothing, cacheUsed, 0.050, 0.001), of(nothing, direct, c.cold, c.read)}
		if c.name == "unproven" {
			rep.Results[1].Proof = map[string]any{"proven": false}
		}
		for free, s := range map[string]float64{loading: 0.001, partRead + "+" + partCopy: 0.049, partPreprocess + "+" + partCopy: 0.001} {
			rep.Results = append(rep.Results, of(free, cacheUsed, s, 0))
		}
		m, err := newLoaderModel(rep)
		if err != nil {
			t.Fatal(err)
		}
		if m.base != &rep.Results[0] {
			t.Fatalf("the base is %s", m.base.Name)
		}
		checks := m.checks()
		i := slices.IndexFunc(checks, func(k checked) bool { return strings.Contains(k.Change, "into RAM") })
		if c.want == 0 {
			if i >= 0 {
				t.Errorf("%s: %+v", c.name, checks[i])
			}
			continue
		}
		if i < 0 {
			t.Fatalf("%s: not predicted: %+v", c.name, checks)
		}
		k := checks[i]
		if got := 32 / *k.Value; math.Abs(got/c.want-1) > 0.02 || *k.Measured != 32/0.050 || k.Kind != kindRead {
			t.Errorf("%s: %g s a batch, want %g; %+v", c.name, got, c.want, k.Prediction)
		}
	}
}

// Past the page cache a batch is really read each time, and what that takes is told. A
// case that cannot be says why.
func TestPipelinePastTheCache(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	env.Axes = map[string][]string{"cache": {cacheUsed, direct}, "step": {"0s"}, "free": {nothing, partRead, loading, partPreprocess + "+" + partCopy}}
	for _, r := range measurePipeline(t, env) {
		past, free := bypassed(&r), r.Params.Text("free")
		if free == loading { // nothing is read, so nothing is proven
			if r.Proof["proven"] != nil || slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "unproven") }) {
				t.Errorf("%s: %v, %q", r.Name, r.Proof, r.Warnings)
			}
			continue
		}
		if past && (free == partRead || r.Status == results.Skipped) {
			if r.Status != results.Skipped || r.Reason == "" {
				t.Errorf("%s: %s %q", r.Name, r.Status, r.Reason)
			}
			if free != partRead {
				t.Logf("%s is skipped: %s", r.Name, r.Reason)
			}
			continue
		}
		if r.Status != results.OK {
			t.Fatalf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
		if asked, _ := r.Proof["bytes_asked"].(int64); past && asked <= 0 {
			t.Errorf("%s: proof %v", r.Name, r.Proof)
		}
		if _, told := r.Proof["proven"]; told != past {
			t.Errorf("%s: proof %v", r.Name, r.Proof)
		}
		read := r.Metric("read")
		if reads := free != partRead; reads != (read != nil && len(read.Samples) > 0 && read.Median > 0) {
			t.Errorf("%s: read %+v", r.Name, read)
		}
		if read != nil && r.Params.Int("workers") == 1 && read.Median > r.Metric("step_time").Max {
			t.Errorf("%s: reading takes %g s of a step of %g", r.Name, read.Median, r.Metric("step_time").Max)
		}
	}
	env.Axes["disk"] = []string{"stream100"}
	for _, r := range measurePipeline(t, env) {
		if bypassed(&r) && r.Params.Text("free") != loading && r.Status != results.Skipped {
			t.Errorf("%s: an emulated disk past the page cache is %s", r.Name, r.Status)
		}
	}
}

// Each restart is predicted from its own reads.
func TestReadsIn(t *testing.T) {
	m := &results.Metric{Median: 3, Samples: []results.Sample{{Value: 1, Run: 4}, {Value: 2, Run: 4}, {Value: 9, Run: 7}, {Value: math.Inf(1), Run: 7}, {Value: -1, Run: 8}}}
	for _, c := range []struct {
		restart int
		want    []float64
	}{{0, []float64{1, 2}}, {1, []float64{9}}, {2, []float64{1, 2, 9}}, {3, []float64{1, 2, 9}}, {-1, []float64{1, 2, 9}}} {
		if got := readsIn(m, c.restart); !slices.Equal(got, c.want) {
			t.Errorf("restart %d: %v, want %v", c.restart, got, c.want)
		}
	}
}

// Reads past the page cache are proven by what this process got from devices, unless that
// is more than its own.
func TestJudgeDirect(t *testing.T) {
	for _, c := range []struct {
		asked, device int64
		why           string // part of it; "" for proven
	}{
		{1000, 1000, ""}, {1000, 1100, ""}, {1000, 600, "only 60 %"}, {1000, 0, "from memory"},
		{1000, 1600, "other data"}, {1000, unknownBytes, "cannot be read"}, {0, 500, "nothing was read"},
	} {
		ok, why := judgeDirect(cacheProof{Unverified: "not looked at", Asked: c.asked, FromDevice: c.device})
		if ok != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%d of %d bytes: %v, %q", c.device, c.asked, ok, why)
		}
	}
}

// What one restart could not prove is proven by no later one.
func TestDoubtOfAllRestarts(t *testing.T) {
	first := &pipelineRunner{doubt: new(string)}
	first.watch = watchReads(t.TempDir(), nil) // without /proc
	var res results.Result
	for range 2 {
		res.Proof = map[string]any{}
		restart := *first
		restart.prove(&res)
		if res.Proof["proven"] != false || res.Proof["why"] == nil || len(res.Warnings) != 1 {
			t.Errorf("%v, %q", res.Proof, res.Warnings)
		}
	}
}

// What is measured for predictions reads past the cache where that is possible.
func TestColdCheckPoint(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	if env.Data.Images.Store != loader.Files {
		t.Fatal("want files")
	}
	count := func() (n int) {
		checkPoints(env, "sim:gen3x16", online, "", func(pairs ...string) {
			if slices.Contains(pairs, direct) {
				n++
			}
		})
		return n
	}
	env.Data.Disk.Kind = results.DiskMemory
	if n := count(); n != 0 {
		t.Errorf("%d cases read a disk of memory past the cache", n)
	}
	env.Data.Disk.Kind = results.DiskSpinning
	if n := count(); n != 0 {
		t.Errorf("%d cases read a hard disk past the cache, which takes half a minute", n)
	}
	env.Data.Disk.Kind = results.DiskNVMe
	if n := count(); cacheControlled != (n == 1) {
		t.Errorf("%d cases past the cache", n)
	}
}
