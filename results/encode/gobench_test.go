package encode

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"dlbench/results"
)

func goBench(t *testing.T, r *results.Report, procs int) string {
	t.Helper()
	var b bytes.Buffer
	if err := GoBench(&b, r, procs, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoBenchUnevenSamples(t *testing.T) {
	res := newResult("pipeline", results.Params{{Key: "mode", Value: "serial"}})
	res.Metrics = []results.Metric{
		{Name: "stall", Unit: results.Seconds, Better: results.Lower,
			Samples: []results.Sample{{Value: 1, N: 7}, {Value: 2, N: 8}, {Value: 3}}},
		{Name: "gain", Unit: results.Ratio, Better: results.Higher},
		{Name: "time", Unit: results.Seconds, Better: results.Lower, Samples: []results.Sample{{Value: 0.5, N: 3}}},
	}
	other := newResult("pipeline", results.Params{{Key: "mode", Value: "overlapped"}})
	one := []results.Sample{{Value: 2, N: 3}}
	other.Metrics = []results.Metric{{Name: "read", Unit: results.BytesPerSecond, Samples: one},
		{Name: "time", Unit: results.Ratio, Samples: one}, {Name: "core seconds", Unit: results.Ratio, Samples: one},
		{Name: "gain", Unit: results.Ratio, Better: results.Lower,
			Samples: []results.Sample{{Value: math.NaN(), N: 3}, {Value: 4, N: 5}}}}
	r := &results.Report{Host: results.Host{OS: "linux"}, Results: []results.Result{res, other}}
	want := "# dlbench \n" +
		"Unit ns/op better=lower\nUnit stall-ns better=lower\n" + // gain is better in two ways
		"goos: linux\npkg: dlbench/bench\n\n" +
		"BenchmarkSuite/pipeline/mode=serial 3 5e+08 ns/op 1e+09 stall-ns\n" +
		"BenchmarkSuite/pipeline/mode=serial 8 2e+09 stall-ns\n" +
		"BenchmarkSuite/pipeline/mode=serial 1 3e+09 stall-ns\n" +
		"BenchmarkSuite/pipeline/mode=overlapped 3 2 time 2 read-B/s 2 core-seconds\n" +
		"BenchmarkSuite/pipeline/mode=overlapped 5 4 gain\n"
	if got := goBench(t, r, 1); got != want {
		t.Errorf("have\n%s\nwant\n%s", got, want)
	}
}

// records are the lines of text with values, as benchstat reads them.
func records(t *testing.T, text string) (all []*benchfmt.Result) {
	t.Helper()
	rd := benchfmt.NewReader(strings.NewReader(text), "report")
	for rd.Scan() {
		switch rec := rd.Result().(type) {
		case *benchfmt.Result:
			all = append(all, rec.Clone())
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		}
	}
	return all
}

// However many threads there are, an operation is one image where images a second were
// measured, and benchstat has seconds and bytes of what was measured in them.
func TestGoBenchOperations(t *testing.T) {
	r := &results.Report{}
	r.Config.Batch = 32
	for threads, rate := range map[int64]float64{1: 500, 4: 2000} {
		res := newResult("preprocess", results.Params{{Key: "threads", Value: threads}})
		metric := func(name, unit string, v float64) results.Metric {
			return results.Metric{Name: name, Unit: unit, Samples: []results.Sample{{Value: v, N: 3}}}
		}
		res.Metrics = []results.Metric{metric("throughput", results.PerSecond, rate), metric("cpu", results.Seconds, 0.002),
			metric("memory", results.Bytes, 1e6), metric("control", results.PerSecond, 10)}
		r.Results = append(r.Results, res)
	}
	for _, line := range records(t, goBench(t, r, 1)) {
		rate := 500.0
		if strings.HasSuffix(string(line.Name), "=4") {
			rate = 2000
		}
		each, _ := line.Value("sec/op")
		images, _ := line.Value("images/s")
		cpu, _ := line.Value("cpu-sec")
		memory, _ := line.Value("memory-B")
		control, _ := line.Value("control/s")
		if math.Abs(each*rate-1) > 1e-12 || images != rate || cpu != 0.002 || memory != 1e6 || control != 10 ||
			line.Iters != 96 {
			t.Errorf("%+v", line)
		}
	}
}

func TestGoBenchLeavesSimulatedCasesOut(t *testing.T) {
	r := sampleReport()
	names := func(simulated bool) (measured, paced int) {
		var b bytes.Buffer
		if err := GoBench(&b, r, 1, simulated); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "# 6 simulated cases left out: --simulated adds them\n") == simulated {
			t.Errorf("simulated %v:\n%s", simulated, b.String())
		}
		for _, line := range records(t, b.String()) {
			if line.GetConfig("assumed") != "" {
				paced++
			} else {
				measured++
			}
		}
		return measured, paced
	}
	measured, paced := names(false)
	all, added := names(true)
	if measured == 0 || measured != all || paced != 0 || added == 0 {
		t.Errorf("%d measured and %d simulated lines, with --simulated %d and %d", measured, paced, all, added)
	}
}

func TestBenchName(t *testing.T) {
	tests := []struct {
		params results.Params
		want   string
	}{
		{results.Params{{Key: "mem", Value: "pinned"}, {Key: "dtype", Value: "float32", Implied: true}},
			"pcie/mem=pinned"},
		{results.Params{{Key: "path", Value: "a/b c"}}, "pcie/path=a%2Fb%20c"},
		{results.Params{{Key: "share", Value: "50%"}}, "pcie/share=50%25"},
		{results.Params{{Key: "model", Value: "v-100"}}, "pcie/model=v%2D100"},
		{results.Params{{Key: "model", Value: "v-100"}, {Key: "n", Value: int64(2)}}, "pcie/model=v-100/n=2"},
		{results.Params{{Key: "offset", Value: int64(-5)}}, "pcie/offset=%2D5"},
		{results.Params{{Key: "rate", Value: 1e-5}}, "pcie/rate=1e%2D05"},
		{results.Params{{Key: "model", Value: "v-"}}, "pcie/model=v-"},
		{results.Params{{Key: "x", Value: "\u2003\x00\xff"}}, "pcie/x=%E2%80%83%00%FF"},
		{results.Params{{Key: "name", Value: "müller"}}, "pcie/name=m%C3%BCller"},
	}
	for _, test := range tests {
		if got := BenchName(newResult("pcie", test.params)); got != test.want {
			t.Errorf("BenchName(%v) = %q, want %q", test.params, got, test.want)
		}
	}
}

// FuzzBenchName holds that the name survives benchfmt and package testing
// whatever a parameter is, and keeps its parts.
func FuzzBenchName(f *testing.F) {
	f.Add("key", "value")
	f.Add("a/b", "x-8")
	f.Add("", " \t\x00-1")
	f.Fuzz(func(t *testing.T, key, value string) {
		res := newResult("pcie", results.Params{{Key: key, Value: value}, {Key: "last", Value: value}})
		name := BenchName(res)
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			t.Errorf("%q has spaces or does not print", name)
		}
		res.Metrics = []results.Metric{{Name: "time", Unit: results.Seconds,
			Samples: []results.Sample{{Value: 1, N: 1}}}}
		for _, procs := range []int{1, 4} {
			lines := records(t, goBench(t, &results.Report{Results: []results.Result{res}}, procs))
			if len(lines) != 1 {
				t.Fatalf("%d lines", len(lines))
			}
			_, parts := lines[0].Name.Parts()
			if want := 3 + min(procs-1, 1); len(parts) != want { // the suite and two parameters
				t.Errorf("procs %d: %q has %d parts, want %d", procs, lines[0].Name, len(parts), want)
			}
		}
	})
}
