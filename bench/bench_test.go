package bench_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/benchtest"
	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/results"
	"dlbench/results/encode"
)

// BenchmarkSuite walks the cases of all suites under the names that `dlbench run
// --format gobench` gives them. An iteration is one sample; the figures are medians
// of the samples. DLBENCH_DEVICE takes what --device takes, separated by commas,
// DLBENCH_DATA a folder as --data, and DLBENCH_BATCH the images in a batch.
func BenchmarkSuite(b *testing.B) {
	env := benchEnv(b)
	for _, s := range suites.All {
		cases, err := s.Cases(env)
		benchtest.Must(b, err)
		for _, c := range cases {
			r := results.Result{Suite: s.Name, Name: c.Params.Name(s.Name), Params: c.Params}
			b.Run(encode.BenchName(r), func(b *testing.B) { benchCase(b, env, c) })
		}
	}
}

func benchEnv(b *testing.B) bench.Env {
	o := bench.Options{Suites: suites.All, Batch: theory.ArticleBatch, Step: bench.DefaultStep, Seed: 1,
		Data: os.Getenv("DLBENCH_DATA")}
	if v := os.Getenv("DLBENCH_BATCH"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			b.Fatalf("DLBENCH_BATCH=%s: want a number of images", v)
		}
		o.Batch.Images = n
	}
	for _, text := range strings.FieldsFunc(os.Getenv("DLBENCH_DEVICE"), func(r rune) bool { return r == ',' }) {
		s, err := theory.ParseDevice(text)
		if err != nil {
			b.Fatalf("DLBENCH_DEVICE: %v", err)
		}
		o.Devices = append(o.Devices, s)
	}
	env, err := bench.OpenEnv(b.Context(), o)
	benchtest.Must(b, err)
	b.Cleanup(func() {
		for _, d := range env.Devices {
			d.Close()
		}
	})
	if env.Missing != nil {
		fmt.Printf("assumed: links (%v)\n", env.Missing) // a configuration line of the benchmark format
	}
	return env
}

func benchCase(b *testing.B, env bench.Env, c bench.Case) {
	if c.Skip != "" {
		b.Skip(c.Skip)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore, err := bench.Pin(c.CPUs)
	benchtest.Must(b, err)
	defer restore()
	runner, err := c.Open(b.Context(), env)
	benchtest.Must(b, err)
	defer runner.Close()
	n, err := bench.Calibrate(b.Context(), runner, bench.DefaultMinTime)
	benchtest.Must(b, err)
	t := bench.NewTally(c.Metrics)
	start := time.Now()
	for b.Loop() {
		var rec bench.Recorder
		benchtest.Must(b, runner.Sample(b.Context(), n, &rec))
		t.Add(&rec, results.Sample{N: n, T: time.Since(start).Seconds()})
	}
	for _, m := range encode.BenchMetrics(t.Metrics(), env.Batch.Images) {
		unit, scale := encode.BenchUnit(m)
		b.ReportMetric(m.Median*scale, unit)
	}
}

// The names of go test -bench must be those of the report, or benchstat would not
// match the two.
func TestBenchmarkNamesAreUnique(t *testing.T) {
	env := benchtest.Env(benchtest.Sim(t, "sim:gen3x4"), benchtest.Sim(t, "sim:gen3x16"))
	env.Data = benchtest.Data(t)
	var seen []string
	for _, s := range suites.All {
		for _, c := range benchtest.Cases(t, s, env) {
			n := encode.BenchName(results.Result{Suite: s.Name, Name: c.Params.Name(s.Name), Params: c.Params})
			if slices.Contains(seen, n) || strings.ContainsAny(n, " \t") || !strings.HasPrefix(n, s.Name+"/") {
				t.Errorf("name %q: twice, or not one word", n)
			}
			seen = append(seen, n)
		}
	}
}
