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
				m := metric("time", random, 1+between*random.NormFloat64(), within)
				save(t, filepath.Join(dirs[i], side, fmt.Sprint(run)), minutes, readers(1, m))
			}
		}
	}
	return dirs
}

// metric is one of twelve samples around a level.
func metric(name string, random *rand.Rand, level, within float64) results.Metric {
	m := results.Metric{Name: name, Unit: results.Seconds, Better: results.Lower}
	for k := range 12 {
		m.Samples = append(m.Samples, results.Sample{Value: level * (1 + within*random.NormFloat64()), N: 1, T: float64(k)})
	}
	results.Summarize(&m, results.SummaryOptions{})
	return m
}

func readers(n int64, metrics ...results.Metric) results.Result {
	params := results.Params{{Key: "readers", Value: n}}
	return results.Result{Suite: "disk", Name: fmt.Sprintf("disk/readers=%d", n), Params: params, Status: results.OK,
		Metrics: metrics}
}

func save(t *testing.T, dir string, minutes int, cases ...results.Result) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r := &results.Report{SchemaVersion: results.SchemaVersion, Status: results.Complete, Results: cases}
	r.Started = time.Unix(int64(60*minutes), 0).UTC()
	if err := results.Save(filepath.Join(dir, "report.json"), r); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	var b strings.Builder
	if err := check(&b, comparisons(t, 8, 0.005, 0.01), []string{"time"}); err != nil {
		t.Errorf("steady runs: %v\n%s", err, b.String())
	}
	if s := b.String(); !strings.Contains(s, "| disk/readers=1 time |") || !strings.Contains(s, "of 8 (at most 5 %)") ||
		!strings.Contains(s, "one after the other") {
		t.Error(s)
	}
	if err := check(&b, comparisons(t, 8, 0.1, 0.1), []string{"time"}); err == nil {
		t.Error("a slow-down that no one can see was found")
	}
	if err := check(&b, comparisons(t, 2, 0.1, 0.1), []string{"bandwidth"}); err == nil ||
		!strings.Contains(err.Error(), "nothing measured") {
		t.Errorf("no such metric: %v", err)
	}
	if err := check(&b, []string{t.TempDir()}, []string{"time"}); err == nil ||
		!strings.Contains(err.Error(), "no runs in") {
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

// What is missing or slower than in the first version is found, and nothing else.
func TestCompareWithFirst(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *results.Result) // of the second case of the current version
		want   string
		fails  bool
	}{
		{"same", func(*results.Result) {}, "Missing in the current version: 0.", false},
		{"metric lost", func(r *results.Result) { r.Metrics = r.Metrics[:1] },
			"only in first: disk/readers=2: wait in s, better lower", true},
		{"metric new", func(r *results.Result) {
			r.Metrics = append(r.Metrics, metric("cpu", rand.New(rand.NewPCG(1, 2)), 1, 0.01))
		}, "only in current: disk/readers=2: cpu in s", false},
		{"other unit", func(r *results.Result) { r.Metrics[1].Unit = results.BytesPerSecond },
			"only in current: disk/readers=2: wait in B/s", true},
		{"case renamed", func(r *results.Result) { r.Name, r.Params[0].Value = "disk/readers=3", int64(3) },
			"only in first: disk/readers=2, ok", true},
		{"case failed", func(r *results.Result) { r.Status, r.Reason, r.Metrics = results.Failed, "why", nil },
			"only in first: disk/readers=2, ok", true},
		{"5 % slower", func(r *results.Result) { slower(r, 0, 1.05) }, "worse, FAILS", true},
		{"5 % faster", func(r *results.Result) { slower(r, 0, 1/1.05) }, "| better |", false},
		{"1.5 % slower", func(r *results.Result) { slower(r, 0, 1.015) },
			"off by more than 1 %: 0.", false},
		{"1.5 % faster, simulated", func(r *results.Result) {
			r.Assumed = []string{"link"}
			slower(r, 0, 1/1.015)
		}, "better, FAILS", true},
		{"another metric slower", func(r *results.Result) { slower(r, 1, 1.2) }, "| worse |",
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			random, dir := rand.New(rand.NewPCG(3, 4)), t.TempDir()
			for run := range 6 {
				for i, version := range []string{"first", "current"} {
					second := readers(2, metric("time", random, 1, 0.002), metric("wait", random, 1, 0.002))
					if c.change(&second); i == 0 {
						assumed := second.Assumed
						second = readers(2, metric("time", random, 1, 0.002), metric("wait", random, 1, 0.002))
						second.Assumed = assumed
					}
					save(t, filepath.Join(dir, version, fmt.Sprint(run)), 2*run+i,
						readers(1, metric("time", random, 1, 0.002)), second)
				}
			}
			var b strings.Builder
			err := compareWithFirst(&b, dir, 0.02, []string{"time"})
			if (err != nil) != c.fails || !strings.Contains(b.String(), c.want) {
				t.Errorf("%v; want %q in:\n%s", err, c.want, b.String())
			}
		})
	}
}

// slower makes the k-th metric of r slower by a factor.
func slower(r *results.Result, k int, factor float64) {
	rep := slow(&results.Report{Results: []results.Result{{Metrics: r.Metrics[k : k+1]}}}, factor-1)
	r.Metrics[k] = rep.Results[0].Metrics[0]
}
