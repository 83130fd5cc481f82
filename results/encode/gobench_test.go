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
	if err := GoBench(&b, r, procs); err != nil {
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
	want := "# dlbench \ngoos: linux\npkg: dlbench/bench\n" +
		"Unit stall-ns/op better=lower\nUnit ns/op better=lower\n" + // gain is better in two ways
		"BenchmarkSuite/pipeline/mode=serial\t3\t500000000 ns/op\t1000000000 stall-ns/op\n" +
		"BenchmarkSuite/pipeline/mode=serial\t8\t2000000000 stall-ns/op\n" +
		"BenchmarkSuite/pipeline/mode=serial\t1\t3000000000 stall-ns/op\n" +
		"BenchmarkSuite/pipeline/mode=overlapped\t3\t2 time\t2 read-B/s\t2 core-seconds\n" +
		"BenchmarkSuite/pipeline/mode=overlapped\t5\t4 gain\n"
	if got := goBench(t, r, 1); got != want {
		t.Errorf("have\n%s\nwant\n%s", got, want)
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
		{results.Params{{Key: "name", Value: "müller"}}, "pcie/name=müller"},
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
			text := goBench(t, &results.Report{Results: []results.Result{res}}, procs)
			rd := benchfmt.NewReader(strings.NewReader(text), "report")
			lines := 0
			for rd.Scan() {
				rec, ok := rd.Result().(*benchfmt.Result)
				if !ok {
					t.Fatal(rd.Result())
				}
				lines++
				_, parts := rec.Name.Parts()
				if want := 3 + min(procs-1, 1); len(parts) != want { // the suite and two parameters
					t.Errorf("procs %d: %q has %d parts, want %d", procs, rec.Name, len(parts), want)
				}
			}
			if lines != 1 {
				t.Errorf("%d lines", lines)
			}
		}
	})
}
