package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/results"
)

// reports saves n reports of one case, of five runs each, whose runs and samples
// differ by so much.
func reports(t *testing.T, n int, between, within float64) []string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	var paths []string
	for i := range n {
		m := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower}
		for run := range 5 {
			level := 1 + between*random.NormFloat64()
			for k := range 12 {
				m.Add(results.Sample{Value: level * (1 + within*random.NormFloat64()), N: 1, T: float64(run*100 + k), Run: run})
			}
		}
		results.Summarize(&m, results.SummaryOptions{})
		r := &results.Report{SchemaVersion: results.SchemaVersion, Status: results.Complete,
			Results: []results.Result{{Suite: "disk", Name: "disk/readers=1", Params: results.Params{{Key: "readers", Value: int64(1)}}, Status: results.OK, Metrics: []results.Metric{m}}}}
		p := filepath.Join(dir, fmt.Sprint(i, ".json"))
		if err := results.Save(p, r); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}

func TestCheck(t *testing.T) {
	var b strings.Builder
	if err := check(&b, reports(t, 8, 0.005, 0.01), 0.05, "time"); err != nil {
		t.Errorf("steady reports: %v\n%s", err, b.String())
	}
	if s := b.String(); !strings.Contains(s, "| disk/readers=1 time |") || !strings.Contains(s, "of 28 (at most 5 %)") {
		t.Error(s)
	}
	if err := check(&b, reports(t, 8, 0.1, 0.1), 0.05, "time"); err == nil {
		t.Error("a slow-down that no one can see was found")
	}
	if err := check(&b, reports(t, 2, 0.1, 0.1), 0.05, "bandwidth"); err == nil || !strings.Contains(err.Error(), "nothing measured") {
		t.Errorf("no such metric: %v", err)
	}
}

// What is slower is slower in each metric's own direction.
func TestSlow(t *testing.T) {
	r := &results.Report{Results: []results.Result{{Metrics: []results.Metric{
		{Name: "time", Better: results.Lower, Samples: []results.Sample{{Value: 2}}},
		{Name: "throughput", Better: results.Higher, Samples: []results.Sample{{Value: 2}}},
		{Name: "depth", Samples: []results.Sample{{Value: 2}}},
	}}}}
	got := slow(r, 0.25).Results[0].Metrics
	for i, want := range []float64{2.5, 1.6, 2} {
		if v := got[i].Samples[0].Value; v != want {
			t.Errorf("%s: %v, want %v", got[i].Name, v, want)
		}
	}
	if v := r.Results[0].Metrics[0].Samples[0].Value; v != 2 {
		t.Errorf("the report itself was changed: %v", v)
	}
}
