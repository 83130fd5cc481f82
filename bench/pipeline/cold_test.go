package pipeline

import (
	"slices"
	"strings"
	"testing"

	"dlbench/bench/benchtest"
	"dlbench/bench/pagecache"
	"dlbench/loader"
	"dlbench/results"
)

// Past the page cache a batch is really read each time, and what that takes is told. A
// case that cannot be says why.
func TestPipelinePastTheCache(t *testing.T) {
	env := pipelineEnv(t, "sim:gen3x16")
	env.Axes = map[string][]string{"cache": {results.CacheUsed, results.Direct}, "step": {"0s"}, "free": {results.FreeNothing, results.PartRead, results.FreeLoading, results.PartPreprocess + "+" + results.PartCopy}}
	for _, r := range benchtest.Run(t, Suite, env, 3) {
		past, free := results.Bypassed(&r), r.Params.Text("free")
		if free == results.FreeLoading { // nothing is read, so nothing is proven
			if _, known := r.Proven(); known || slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "unproven") }) {
				t.Errorf("%s: %v, %q", r.Name, r.Proof, r.Warnings)
			}
			continue
		}
		if past && (free == results.PartRead || r.Status == results.Skipped) {
			if r.Status != results.Skipped || r.Reason == "" {
				t.Errorf("%s: %s %q", r.Name, r.Status, r.Reason)
			}
			if free != results.PartRead {
				t.Logf("%s is skipped: %s", r.Name, r.Reason)
			}
			continue
		}
		if r.Status != results.OK {
			t.Fatalf("%s: %s %s", r.Name, r.Status, r.Reason)
		}
		if asked := results.As[results.PipelineProof](r.Proof).BytesAsked; past && (asked == nil || *asked <= 0) {
			t.Errorf("%s: proof %v", r.Name, r.Proof)
		}
		if _, known := r.Proven(); known != past {
			t.Errorf("%s: proof %v", r.Name, r.Proof)
		}
		read := r.Metric("read")
		if reads := free != results.PartRead; reads != (read != nil && len(read.Samples) > 0 && read.Median > 0) {
			t.Errorf("%s: read %+v", r.Name, read)
		}
		if read != nil && r.Params.Int("workers") == 1 && read.Median > r.Metric("step_time").Max {
			t.Errorf("%s: reading takes %g s of a step of %g", r.Name, read.Median, r.Metric("step_time").Max)
		}
	}
	env.Axes["disk"] = []string{"stream100"}
	for _, r := range benchtest.Run(t, Suite, env, 3) {
		if results.Bypassed(&r) && r.Params.Text("free") != results.FreeLoading && r.Status != results.Skipped {
			t.Errorf("%s: an emulated disk past the page cache is %s", r.Name, r.Status)
		}
	}
}

// What one restart could not prove is proven by no later one.
func TestDoubtOfAllRestarts(t *testing.T) {
	first := &pipelineRunner{doubt: new(string)}
	first.watch = pagecache.WatchReads(t.TempDir(), nil) // without /proc
	var res results.Result
	for range 2 {
		proof := &results.PipelineProof{}
		restart := *first
		restart.prove(&res, proof)
		if *proof.Proven || proof.Why == "" || len(res.Warnings) != 1 {
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
		for _, p := range points(env) {
			if p.Cache == results.Direct {
				n++
			}
		}
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
	if n := count(); pagecache.Controlled != (n == 1) {
		t.Errorf("%d cases past the cache", n)
	}
}
