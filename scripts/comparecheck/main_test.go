package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dlbench/results"
)

// comparisons saves n comparisons of one case, of ten runs a side in turn, whose runs and
// samples differ by so much.
func comparisons(t *testing.T, n int, between, within float64) []string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	var dirs []string
	minutes := 0
	for i := range n {
		dirs = append(dirs, filepath.Join(dir, fmt.Sprint(i)))
		for run := range 10 {
			for _, side := range []string{"a", "b"} {
				minutes++
				m := results.Metric{Name: "time", Unit: results.Seconds, Better: results.Lower}
				level := 1 + between*random.NormFloat64()
				for k := range 12 {
					m.Add(results.Sample{Value: level * (1 + within*random.NormFloat64()), N: 1, T: float64(k)})
				}
				results.Summarize(&m, results.SummaryOptions{})
				r := &results.Report{SchemaVersion: results.SchemaVersion, Status: results.Complete, Started: time.Unix(int64(60*minutes), 0).UTC(),
					Results: []results.Result{{Suite: "disk", Name: "disk/readers=1", Params: results.Params{{Key: "readers", Value: int64(1)}}, Status: results.OK, Metrics: []results.Metric{m}}}}
				p := filepath.Join(dirs[i], side, fmt.Sprint(run))
				if err := os.MkdirAll(p, 0o777); err != nil {
					t.Fatal(err)
				}
				if err := results.Save(filepath.Join(p, "report.json"), r); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return dirs
}

func TestCheck(t *testing.T) {
	var b strings.Builder
	if err := check(&b, comparisons(t, 8, 0.005, 0.01), 0.05, "time"); err != nil {
		t.Errorf("steady runs: %v\n%s", err, b.String())
	}
	if s := b.String(); !strings.Contains(s, "| disk/readers=1 time |") || !strings.Contains(s, "of 8 (at most 5 %)") || !strings.Contains(s, "one after the other") {
		t.Error(s)
	}
	if err := check(&b, comparisons(t, 8, 0.1, 0.1), 0.05, "time"); err == nil {
		t.Error("a slow-down that no one can see was found")
	}
	if err := check(&b, comparisons(t, 2, 0.1, 0.1), 0.05, "bandwidth"); err == nil || !strings.Contains(err.Error(), "nothing measured") {
		t.Errorf("no such metric: %v", err)
	}
	if err := check(&b, []string{t.TempDir()}, 0.05, "time"); err == nil || !strings.Contains(err.Error(), "no runs in") {
		t.Errorf("an empty directory: %v", err)
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
